"""What is said about the package in several places is the same everywhere."""

import re
import tomllib
from importlib import resources
from pathlib import Path

import goodprior

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONDA_NAMES = {"matplotlib": "matplotlib-base"}


def test_types_are_announced():
    assert resources.files("goodprior").joinpath("py.typed").is_file()
    assert "Typing :: Typed" in PROJECT["classifiers"]


def test_the_citation_and_the_changelog_have_this_version():
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {goodprior.__version__}\n" in citation
    released = re.findall(r"^## (\d\S+)", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert released[0] == goodprior.__version__


def test_the_changelog_keeps_its_form():
    lines = (ROOT / "CHANGELOG.md").read_text().splitlines()
    kinds = {line for line in lines if line.startswith("### ")}
    known = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
    assert kinds <= {f"### {kind}" for kind in known}
    assert "## Unreleased" in lines


def test_the_conda_recipe_has_this_version_and_these_dependencies():
    recipe = ROOT / "packaging" / "conda" / "recipe.yaml"

    text = recipe.read_text()
    assert f'version: "{goodprior.__version__}"' in text
    section = text.split("  run:\n")[1].split("\n\n")[0]
    found = dict(re.findall(r"- (\S+) (>=\S+)", section))
    needed = dict(re.findall(r"([\w-]+)(>=\S+)", "\n".join(PROJECT["dependencies"])))
    expected = {CONDA_NAMES.get(name, name): least for name, least in needed.items()}
    assert found == {"python": PROJECT["requires-python"], **expected}


def test_classifiers_name_the_oldest_python():
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {oldest}" in PROJECT["classifiers"]
