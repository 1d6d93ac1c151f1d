"""The order of the rooms: data flows downward, and so do imports."""

import ast
from pathlib import Path

import pytest

import goodprior

SOURCE = Path(goodprior.__file__).parent
ORDER = [
    "checks",
    "fast_normal",
    "distributions",
    "devices",
    "progress",
    "networks",
    "data",
    "beliefs",
    "priors",
    "matching",
    "inference",
    "evaluation",
    "baselines",
    "storage",
    "pipeline",
    "plots",
    "estimators",
    "demos",
    "studies",
    "commands",
    "cli",
]
FILES = [path for path in sorted(SOURCE.rglob("*.py")) if path.name != "__main__.py"]


def _room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(source: str) -> set[str]:
    """The rooms of goodprior that a file imports from, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "goodprior":
            names = [f"goodprior.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [node.module or ""]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("goodprior.")}
    return found


def test_every_room_has_its_place():
    rooms = {_room(path) for path in FILES} - {"__init__"}
    assert rooms <= set(ORDER), f"say where {rooms - set(ORDER)} belongs"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_from_rooms_above_it(path):
    room = _room(path)
    if room == "__init__":  # the front door names all rooms, and imports them when they are used
        return
    above = {*ORDER[: ORDER.index(room)], room}
    assert imported_rooms(path.read_text()) <= above


def test_the_reader_of_imports_sees_all_ways_to_import():
    source = """
import goodprior.networks.mlp
from goodprior import plots, checks as c
from goodprior.data.scaling import Scaling
import numpy

def later():
    from goodprior.cli import app
"""
    assert imported_rooms(source) == {"networks", "plots", "checks", "data", "cli"}
