"""How fast the studio answers, measured in a browser: `python -m benchmarks.studio [TABLE.csv]`.

Times go from a slider's event to the picture that is drawn. The same requests are also timed in the
server alone, by the clock and by the processor's time, which other programs do not change.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

BROWSER = "/usr/bin/chromium"
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
MOVES = 50


def example_table(path: Path) -> Path:
    """A table of two columns that matter and one that does not."""
    rng = np.random.default_rng(0)
    age, dose, weight = rng.uniform(20, 80, 200), rng.uniform(0, 4, 200), rng.normal(70, 10, 200)
    y = 120 + 8 * np.sin(age / 12) - 4 * dose + rng.normal(0, 3, 200)
    frame = pd.DataFrame({"age": age, "dose": dose, "weight": weight, "pressure": y})
    frame.round(2).to_csv(path, index=False)
    return path


def wait_for(page: Any, expression: str, seconds: float = 120.0) -> None:
    """Poll, since the page's policy forbids the evaluation of text within it."""
    end = time.monotonic() + seconds
    while not page.evaluate(f"() => Boolean({expression})"):
        if time.monotonic() > end:
            raise TimeoutError(expression)
        time.sleep(0.01)


def times_of(page: Any, channel: str) -> list[float]:
    """Milliseconds from event to picture, of all requests of a channel since the last reading."""
    return page.evaluate(f"() => studio.channels.{channel}.times.splice(0)")


def measure_moves(page: Any, key: str, channel: str) -> dict[str, float]:
    """The median over single moves of a slider, each after the one before was drawn."""
    slider = page.locator(f"[data-key='{key}']")
    slider.focus()
    times_of(page, channel)
    for i in range(MOVES):
        page.keyboard.press("ArrowLeft" if i % 20 < 10 else "ArrowRight")
        idle = "!studio.channels.draws.busy && !studio.channels.network.busy"
        wait_for(page, f"{idle} && studio.channels.{channel}.times.length > {i}")
    found = times_of(page, channel)
    return {"median_ms": statistics.median(found), "worst_ms": max(found), "moves": len(found)}


def measure_drag(page: Any, key: str) -> dict[str, float]:
    """Requests and the wait after the last event of a drag of 200 events within 2 seconds."""
    times_of(page, "draws")
    started = page.evaluate(
        """async (key) => {
          const slider = document.querySelector(`[data-key='${key}']`);
          for (let i = 0; i < 200; i++) {
            slider.value = 100 + (i % 100);
            slider.dispatchEvent(new Event("input"));
            await new Promise((done) => setTimeout(done, 10));
          }
          return performance.now();
        }""",
        key,
    )
    wait_for(page, "!studio.channels.draws.busy && !studio.channels.network.busy")
    after = page.evaluate("() => performance.now()") - started
    return {"events": 200, "pictures": len(times_of(page, "draws")), "idle_after_ms": after}


def measure_browser(table: Path) -> dict[str, Any]:
    """All figures that are measured in the browser."""
    from playwright.sync_api import sync_playwright

    found: dict[str, Any] = {}
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        started = time.perf_counter()
        command = [sys.executable, "-m", "goodprior", "studio", str(table), "--no-browser"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                address = process.stdout.readline().split(": ", 1)[1].strip()
                page.goto(address)
                found["page_s"] = time.perf_counter() - started
                wait_for(page, "window.studio?.belief")
                found["first_belief_s"] = time.perf_counter() - started
                wait_for(page, "studio.prior")
                found["first_network_s"] = times_of(page, "network")[0] / 1000
                wait_for(page, "studio.channels.report.times.length")
                found["belief"] = measure_moves(page, "length:age", "draws")
                found["network"] = measure_moves(page, "length:dose", "network")
                found["drag"] = measure_drag(page, "length:age")
                page.locator("[data-key='length-factor:age']").press("End")
                found["uncertain_belief"] = measure_moves(page, "length:age", "draws")
                times_of(page, "network")
                page.locator("#network").select_option("mlp")
                wait_for(page, "studio.channels.network.times.length")
                found["first_mlp_s"] = times_of(page, "network")[0] / 1000
                found["mlp"] = measure_moves(page, "length:dose", "network")
            finally:
                process.send_signal(signal.SIGINT)
                browser.close()
    return found


def measure_server(table: Path) -> dict[str, float]:
    """Median milliseconds of the same requests without browser and network."""
    from goodprior.studio.server import plain
    from goodprior.studio.studio import Studio

    studio = Studio(table)
    info = studio.answer("space", {})
    settings = info["settings"]
    request = {"space": info["space"], "settings": settings, "column": "age"}
    found = {}
    for name, endpoint, more in (
        ("belief", "draws", {}),
        ("network", "network", {}),
        ("mlp", "network", {"network": "mlp"}),
        ("surface", "surface", {"second": "dose"}),
    ):
        times = []
        for i in range(MOVES + 1):
            settings["lengthscale"]["age"][0] = 10.0 + i
            started = np.array([time.perf_counter(), time.process_time()])
            json.dumps(plain(studio.answer(endpoint, {**request, **more})))
            times.append(np.array([time.perf_counter(), time.process_time()]) - started)
        for kind, each in zip(("clock", "processor"), 1000 * np.array(times).T, strict=True):
            found[f"{name}_first_{kind}_ms"] = each[0]
            found[f"{name}_median_{kind}_ms"] = np.median(each[1:])
    return found


def server_times(table: Path) -> dict[str, float]:
    """The same in a process that is set up as the command's."""
    command = [sys.executable, "-m", "benchmarks.studio", str(table), "--server"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    """Measure, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", nargs="?", type=Path)
    parser.add_argument("--server", action="store_true", help="without the browser")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = given.table or example_table(Path(folder, "patients.csv"))
        if given.server:
            found: dict[str, Any] = measure_server(table)
        else:
            found = {"server": server_times(table), "browser": measure_browser(table)}
    print(json.dumps(found, indent=2, default=float))


if __name__ == "__main__":
    main()
