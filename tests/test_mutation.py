"""The faults of `benchmarks.mutation`: they change what is computed, and nothing else."""

import ast

import pytest
from benchmarks.mutation.__main__ import MODULES, ROOT, drawn
from benchmarks.mutation.sites import mutated, mutations
from benchmarks.mutation.worker import pairs

SOURCE = '''
"""Text with a + b."""
LIMIT = 2 * 3

class Scale:
    size: float = 1.0

    def __call__(self, x: "a + b", by: float = 2.0) -> "float":
        """More text: 1 + 1."""
        if x < 0:
            raise ValueError(f"{x + 1} is below zero")
        return by * x + self.size
'''


def test_faults_are_put_into_what_computes_and_nowhere_else():
    found = {(m.line, m.before, m.after) for m in mutations(SOURCE)}
    assert {line for line, _, _ in found} == {3, 10, 12}
    assert {(3, "2", "3"), (3, "2 * 3", "2 / 3"), (10, "x < 0", "x >= 0")} <= found
    assert (12, "by * x + self.size", "by * x - self.size") in found
    assert (12, "by * x", "by") in found
    assert {after for line, before, after in found if line == 10} >= {"not x < 0"}


def test_one_fault_changes_one_place():
    for fault in mutations(SOURCE):
        changed = mutated(SOURCE, fault)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(SOURCE))
        lines = zip(SOURCE.splitlines(), changed.splitlines(), strict=True)
        assert [i for i, (a, b) in enumerate(lines, 1) if a != b] == [fault.line]


@pytest.mark.parametrize("module", MODULES)
def test_faults_of_the_core_are_the_same_for_the_same_seed_and_can_be_compiled(module):
    source = (ROOT / "src" / "goodprior" / module).read_text()
    faults = drawn(source, 10, seed=0)
    assert faults == drawn(source, 10, seed=0)
    assert len({fault.kind for fault in faults}) == 10
    for fault in faults:
        compile(mutated(source, fault), module, "exec")
    assert all((ROOT / "tests" / name).exists() for name in MODULES[module])


def test_a_fault_inside_a_function_can_be_put_in_without_importing_anew():
    def code(source):
        return compile(source, "made up", "exec")

    ((before, after),) = pairs(code(SOURCE), code(SOURCE.replace("by * x", "by / x")))
    assert before.co_qualname == after.co_qualname == "Scale.__call__"
    assert before.co_code != after.co_code
    assert pairs(code(SOURCE), code(SOURCE.replace("2 * 3", "2 / 3"))) is None
