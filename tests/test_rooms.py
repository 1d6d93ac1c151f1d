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
    "html",
    "estimators",
    "comparison",
    "demos",
    "studies",
    "studio",
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


def _module(path: Path) -> str:
    parts = ("goodprior", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


MODULES = {_module(path): path for path in FILES}


def imported_modules(source: str, modules: set[str]) -> set[str]:
    """The modules among these that a file imports when it runs: not under TYPE_CHECKING."""
    found = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.orelse:
                visit(child)
            return
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in modules else node.module or "")
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(source))
    return found & modules


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Groups of nodes that can all be reached from each other."""
    reached = {node: _reachable(node, graph) for node in graph}
    found: list[set[str]] = []
    for node in graph:
        group = {other for other in reached[node] if node in reached[other]}
        if group and group not in found:
            found.append(group)
    return found


def _reachable(node: str, graph: dict[str, set[str]]) -> set[str]:
    seen, waiting = set(), [*graph[node]]
    while waiting:
        other = waiting.pop()
        if other not in seen:
            seen.add(other)
            waiting += graph[other]
    return seen


def test_no_file_imports_itself_by_way_of_others():
    names = set(MODULES) - {"goodprior"}  # the front door names all rooms
    graph = {name: imported_modules(MODULES[name].read_text(), names) - {name} for name in names}
    found = cycles(graph)
    assert found == []


def test_cycles_are_found_through_lazy_imports_but_not_those_of_types():
    source = """
from typing import TYPE_CHECKING
from goodprior import a
if TYPE_CHECKING:
    from goodprior.b import B

def later():
    import goodprior.c
    from goodprior.d import e
"""
    modules = {"goodprior.a", "goodprior.b", "goodprior.c", "goodprior.d", "goodprior.d.e"}
    found = imported_modules(source, modules)
    assert found == {"goodprior.a", "goodprior.c", "goodprior.d.e"}
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set[str](), "e": {"e"}}
    assert cycles(graph) == [{"b", "c"}, {"e"}]
