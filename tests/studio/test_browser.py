"""The page in a real browser: from a table to a belief that `goodprior fit` takes."""

import json
import math
import shutil
import time
from contextlib import closing
from typing import Any

import pytest
from typer.testing import CliRunner

from goodprior import cli
from goodprior.beliefs.file import belief_from_json
from tests.studio.serving import serving
from tests.studio.tables import BAD, HOSTILE, patients

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine"),
]
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 800}


@pytest.fixture(scope="module")
def browser():
    play = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with play.sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield made
        made.close()


class Visit:
    """A page of a studio, and what one does on it."""

    def __init__(self, browser, table, viewport):
        self.serving = serving(table)
        server = self.serving.__enter__()
        self.context = browser.new_context(viewport=viewport, accept_downloads=True)
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: self.errors.append("a dialog"))
        self.page.goto(server.address)

    def close(self):
        self.context.close()
        self.serving.__exit__(None, None, None)

    def wait(self, expression, seconds=60.0):
        """Poll: the page's policy forbids the evaluation of text within it."""
        end = time.monotonic() + seconds
        while not self.page.evaluate(f"() => Boolean({expression})"):
            assert time.monotonic() < end, f"{expression}: {self.page.inner_text('body')[:500]}"
            time.sleep(0.05)

    def settle(self):
        """Until all pictures are drawn."""
        time.sleep(0.1)
        self.wait(
            "window.studio?.prior && ['draws', 'network', 'surface'].every("
            "(name) => !studio.channels[name].busy)"
        )

    def picture(self, canvas):
        return self.page.evaluate(f"() => document.getElementById('{canvas}').toDataURL()")

    def slide(self, key, presses, arrow="ArrowLeft"):
        self.page.locator(f"[data-key='{key}']").focus()
        for _ in range(presses):
            self.page.keyboard.press(arrow)
        self.settle()

    def settings(self):
        return self.page.evaluate("() => studio.settings")

    def sketch(self, height):
        """Draw a curve with the pointer; `height` goes from 0 to 1 as its argument does."""
        self.wait("document.getElementById('verdict').innerText.includes('belief')")
        pad = self.page.locator("#pad")
        pad.scroll_into_view_if_needed()
        box = pad.bounding_box()
        left, width = box["x"] + 60, box["width"] - 90
        self.page.mouse.move(left, box["y"] + (1 - height(0)) * box["height"])
        self.page.mouse.down()
        for i in range(1, 41):
            at = box["y"] + (1 - height(i / 40)) * box["height"]
            self.page.mouse.move(left + width * i / 40, at)
        self.page.mouse.up()

    def text(self, selector):
        return self.page.inner_text(selector)


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "patients.csv"
    patients().to_csv(path, index=False)
    return path


@pytest.fixture
def visit(browser, csv, request):
    made = Visit(browser, csv, getattr(request, "param", WIDE))
    made.settle()
    yield made
    made.close()
    assert made.errors == []


def test_from_a_table_to_a_belief_file_that_fit_takes(visit, csv, tmp_path, monkeypatch):
    page = visit.page
    before = {name: visit.picture(name) for name in ("belief", "matched", "standard")}
    visit.slide("length:age", 40)
    after = {name: visit.picture(name) for name in ("belief", "matched", "standard")}
    assert before["belief"] != after["belief"]
    assert before["matched"] != after["matched"]
    visit.slide("length:dose", 10, "ArrowRight")
    visit.slide("amplitude", 10, "ArrowRight")
    page.get_by_label("rather rough").check()
    page.get_by_label("Whose belief").fill("Ann")
    with page.expect_download() as download:
        page.locator("#save").click()
    assert download.value.suggested_filename == "Ann.json"
    saved = tmp_path / "Ann.json"
    download.value.save_as(saved)
    stored, settings = belief_from_json(saved.read_bytes()), visit.settings()
    assert stored.name == "Ann"
    spec: Any = stored.spec
    assert spec["kernel"] == "matern32"
    assert spec["lengthscale"]["age"] == settings["lengthscale"]["age"][0] < 15
    assert stored.sentence == visit.text("#sentence")
    monkeypatch.chdir(tmp_path)
    command = f"fit {csv} --target pressure --drop id --impute --method map --belief-file Ann.json"
    result = CliRunner().invoke(cli.app, command.split())
    assert result.exit_code == 0, result.output
    assert stored.sentence in " ".join(result.output.split())
    assert (tmp_path / "model.safetensors").exists()


def test_sketched_curves_move_the_sliders(visit):
    before = visit.settings()
    visit.sketch(lambda u: 0.5 + 0.15 * math.sin(20 * u))
    visit.page.get_by_label("could not be true").check()
    visit.sketch(lambda u: 0.5 + 0.3 * math.sin(80 * u))
    visit.wait("document.querySelectorAll('#judgements li').length == 2")
    visit.page.locator("#fit-sketch").click()
    visit.wait(f"studio.settings.lengthscale.age[0] != {before['lengthscale']['age'][0]}")
    visit.settle()
    assert visit.settings()["lengthscale"]["age"][0] < before["lengthscale"]["age"][0]
    visit.wait("document.getElementById('judgements').innerText.includes('own draws.')")
    assert "Could not be true: improbable, " in visit.text("#judgements")


def test_everything_on_the_pad_can_be_done_with_the_keyboard(visit):
    visit.page.locator("#pad").focus()
    for key in [" ", *["ArrowRight", "ArrowUp"] * 10, *["ArrowRight", "ArrowDown"] * 10, " "]:
        visit.page.keyboard.press(key)
    visit.wait("document.querySelectorAll('#judgements li').length == 1")
    visit.page.locator("#belief").focus()
    visit.page.keyboard.press("ArrowRight")
    before = visit.settings()
    visit.page.get_by_role("button", name="More like this").press("Enter")
    visit.wait(f"studio.settings.amplitude[0] != {before['amplitude'][0]}")


def test_two_columns_are_shown_as_contours(visit):
    before = visit.picture("belief")
    visit.page.get_by_label("Second column").select_option("dose")
    visit.settle()
    visit.wait("studio.surface")
    time.sleep(0.2)
    assert visit.picture("belief") != before
    assert "lines of equal pressure" in visit.text("#caption")


def test_people_are_mixed_and_a_hostile_file_is_refused(visit):
    def file(name, content):
        return {"name": name, "mimeType": "application/json", "buffer": content.encode()}

    ann = {"goodprior": "belief", "version": 1, "name": HOSTILE, "belief": {"amplitude": 3}}
    page = visit.page
    page.get_by_role("tab", name="Several people").click()
    page.locator("#add-mine").click()
    visit.wait("document.querySelectorAll('#people-list li').length == 1")
    page.locator("#open").set_input_files([file("ann.json", json.dumps(ann))])
    visit.wait("document.querySelectorAll('#people-pictures canvas').length == 3")
    assert HOSTILE in visit.text("#people-list")
    page.locator("#open").set_input_files([file("bad.json", "[" * 9999)])
    visit.wait("!document.getElementById('error').hidden")
    assert visit.text("#error") == "bad.json: its brackets are nested more than 8 deep"
    page.locator("#use-mixture").click()
    visit.wait("studio.belief.sentence.startsWith('By chance')")
    visit.settle()
    page.get_by_role("tab", name="Take it with you").click()
    visit.wait("document.getElementById('out-python').innerText.includes('mixture')")


def test_the_data_are_used_only_after_the_switch(visit):
    page = visit.page
    page.get_by_role("tab", name="Check against data").click()
    assert visit.text("#check-words") == ""
    page.get_by_label("Use the data").check()
    visit.wait("document.querySelectorAll('#check-words li').length > 2")
    assert page.get_by_text("The data are now being used").is_visible()
    assert "Log evidence per row" in visit.text("#check-words")


@pytest.mark.parametrize("visit", [NARROW], indirect=True)
def test_a_narrow_screen_holds_the_page_and_keeps_the_picture_beside_the_sliders(visit):
    for tab in visit.page.get_by_role("tab").all():
        tab.click()
        assert visit.page.evaluate("() => document.documentElement.scrollWidth") <= 390
    visit.slide("length:dose", 3)
    box = visit.page.locator("#belief").bounding_box()
    assert 0 <= box["y"] < 700


def test_every_control_has_a_name(visit):
    unnamed = visit.page.evaluate(
        """() => [...document.querySelectorAll("input, select, button, canvas")].filter((one) =>
          !one.labels?.length && !one.getAttribute("aria-label") && !one.textContent.trim()
        ).map((one) => one.outerHTML)"""
    )
    assert unnamed == []


@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_is_a_message_in_the_page_and_nothing_is_executed(name, browser, tmp_path):
    content, words = BAD[name]
    path = tmp_path / "bad.csv"
    path.write_text(content)
    with closing(Visit(browser, path, NARROW)) as visit:
        visit.wait("!document.getElementById('error').hidden")
        assert words in visit.text("#error")
        assert visit.page.title() == "goodprior studio"
        visit.page.get_by_role("button", name="Show functions").click()  # one can go on without it
        visit.settle()
        assert visit.errors == []


def test_names_and_cells_with_markup_are_shown_as_they_are(browser, tmp_path):
    path = tmp_path / "hostile.csv"
    frame = patients().rename(columns={"age": HOSTILE, "sex": "<img src=x onerror=alert(1)>"})
    frame.replace({"f": HOSTILE}).to_csv(path, index=False)
    with closing(Visit(browser, path, WIDE)) as visit:
        visit.settle()
        assert HOSTILE in visit.text("#columns")
        visit.page.get_by_role("tab", name="Take it with you").click()
        visit.wait("document.getElementById('out-sentence').innerText")
        assert visit.page.title() == "goodprior studio"
        assert visit.errors == []
