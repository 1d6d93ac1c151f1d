"""What pages say is so: their Python runs, their commands parse, their links lead somewhere."""

import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

import goodprior
from goodprior.cli import app
from goodprior.evaluation import Diagnostics
from goodprior.inference import SamplerReport

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *sorted(path for path in DOCS.rglob("*.md") if "gallery" not in path.parts),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
]
QUICK = ("install", "beliefs")  # pages whose Python takes less than four seconds
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def blocks(page: Path, language: str) -> list[str]:
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [text for name, text in found if name == language]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def _pages_with_python():
    for page in PAGES:
        if blocks(page, "python"):
            marks = [] if page.stem in QUICK else [pytest.mark.slow]
            yield pytest.param(page, marks=marks, id=name(page))


@pytest.mark.parametrize("page", [*_pages_with_python()])
@pytest.mark.usefixtures("as_users_run_it")
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for i, text in enumerate(blocks(page, "python")):
        exec(compile(text, f"{name(page)}, block {i + 1}", "exec"), names)


def _commands():
    for page in PAGES:
        for text in [*blocks(page, "bash"), *blocks(page, "text"), *blocks(page, "console")]:
            for line in text.replace("\\\n", " ").splitlines():
                words = shlex.split(line.removeprefix("$ "), comments=True)
                if words and words[0] == "goodprior":
                    yield pytest.param(words[1:], id=f"{name(page)}: {' '.join(words)[:60]}")


@pytest.mark.parametrize("words", [*_commands()])
def test_the_commands_of_a_page_parse(words, tmp_path, monkeypatch):
    """With files of the names that they mention; nothing is run."""
    monkeypatch.chdir(tmp_path)
    for word in words:
        if Path(word).suffix in {".csv", ".gz", ".safetensors", ".json"}:
            Path(word).touch()
    command: Any = typer.main.get_command(app)
    rest = list(words)
    while hasattr(command, "commands"):
        command = command.commands[rest.pop(0)]
    command.make_context("goodprior", rest)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_to_files_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        path = target.partition("#")[0]
        if path and not re.match(r"https?:|mailto:", path):
            beside = page.parent / path
            example = ROOT / "examples" / "gallery" / f"{Path(path).name}.py"
            assert beside.exists() or "api" in path or example.exists(), f"{page}: {target}"


def _warnings():
    """All that diagnostics can say, of reports in which everything is wrong."""
    bad = {"temperature_50": 0.3, "kinetic_temperature": 72.0, "divergences": 3}
    many, few = np.array([1.2, 1.0]), np.array([40.0, 500.0])
    for chains, error, half in ((4, 0.0034, None), (1, 1e-6, None), (4, 0.0034, 1.2)):
        errors = {"energy_error": error, "energy_error_asked": 5e-4}
        report = SamplerReport("any", 10, 1.0, 0.1, **bad, **errors)
        yield from Diagnostics(
            rhat=many,
            ess=few,
            ess_tail=few,
            mcse=many,
            is_noise=np.array([False, True]),
            sampler=report,
            chains=chains,
            rhat_half=half,
        ).warnings


@pytest.mark.parametrize("text", [*_warnings()])
def test_every_warning_of_the_diagnostics_is_explained(text):
    """With other numbers, perhaps."""
    page = (DOCS / "guide" / "diagnostics.md").read_text(encoding="utf-8")
    assert _without_numbers(text) in _without_numbers(page)


def _without_numbers(text: str) -> str:
    return re.sub(r"\d[\d.]*(e-?\d+)?", "#", text)


def test_the_gallery_has_its_examples():
    examples = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))
    assert len(examples) >= 12
    for example in examples:
        assert re.match(r'"""\n.+\n=+\n', example.read_text(encoding="utf-8")), example


def test_every_public_name_is_in_the_reference(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    names = import_module("api_pages").public_names()
    listed = {entry for entries in names.values() for entry in entries}
    assert {f"goodprior.{one}" for one in goodprior.__all__} - listed == {"goodprior.__version__"}


def test_a_link_that_leads_nowhere_is_found(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    broken_links = import_module("check_links").broken_links
    (tmp_path / "a.html").write_text('<p id="x"><a href="b.html#y">b</a><a href="#x">here</a></p>')
    (tmp_path / "b.html").write_text('<a href="https://elsewhere.org">e</a><img src="c.png">')
    assert broken_links(tmp_path) == ["a.html -> b.html#y", "b.html -> c.png"]
    (tmp_path / "b.html").write_text('<p id="y">here</p>')
    assert broken_links(tmp_path) == []
