import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from goodprior import cli
from goodprior.commands import demo as command
from goodprior.demos import regression_1d as demo


def _command(*arguments, **settings):
    return subprocess.run(
        [sys.executable, "-m", "goodprior", *arguments], capture_output=True, text=True, **settings
    )


def test_help_answers_without_loading_jax():
    program = (
        "import sys\n"
        "from goodprior.cli import app\n"
        "app(['--help'], standalone_mode=False)\n"
        "heavy = {'jax', 'equinox', 'matplotlib', 'sklearn', 'pandas', 'numpy'}\n"
        "print('loaded', sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "demo" in done.stdout
    assert done.stdout.splitlines()[-1] == "loaded []"


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"]])
def test_python_dash_m_is_the_command(arguments):
    done = _command(*arguments)
    assert done.returncode == 0, done.stderr
    assert "Usage" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["demo", "--no-such-option"],
        ["demo", "--distance", "kl"],
        ["demo", "--seed", "one"],
        ["demo", "--out", "no/such/folder/picture.png"],
        ["paint"],
    ],
)
def test_what_it_does_not_know_is_an_error_of_use(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli.app, arguments)
    assert done.exit_code == 2
    assert not list(tmp_path.iterdir())


def test_the_demo_writes_its_picture_and_prints_its_table(tmp_path, monkeypatch):
    asked = {}

    def run(methods, *, distance, seed):
        asked.update(methods=methods, distance=distance, seed=seed)
        points = np.zeros(2)
        row = {"prior": "GP (exact)", "rmse": 0.1234}
        band = np.zeros((2, 2))
        return "data", [demo.Panel("GP", np.zeros((3, 2)), points, points, band, None, row)]

    monkeypatch.setattr(demo, "run", run)
    drawn = SimpleNamespace(savefig=lambda path: path.write_text("picture"))
    monkeypatch.setattr(demo, "picture", lambda data, panels: drawn)
    monkeypatch.setattr(command, "prepare", lambda: None)
    picture = tmp_path / "picture.png"
    arguments = ["demo", "--out", str(picture), "--seed", "3", "--distance", "wasserstein"]
    done = CliRunner().invoke(cli.app, [*arguments, "--prior", "fg"])
    assert done.exit_code == 0, done.output
    assert asked == {"methods": ("fg",), "distance": "wasserstein", "seed": 3}
    assert picture.read_text() == "picture"
    assert "GP (exact)" in done.stdout
    assert "0.123" in done.stdout
    assert f"picture: {picture}" in done.stdout
