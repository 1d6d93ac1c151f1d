"""Put faults into the core, one at a time, and see which of them the quick tests notice.

`python -m benchmarks.mutation` draws faults for each module of `MODULES` and runs that module's
tests on a copy of `src` with one fault in it, until one fails. `results/mutation.csv` grows by a
row for each; those that are in it are not run again, so it can be stopped at any time. After tests
have been written, `--again survived` runs the survivors once more.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from benchmarks.mutation.sites import Mutation, mutated, mutations

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "results" / "mutation.csv"
COLUMNS = ["module", "line", "column", "kind", "mutation", "outcome", "by", "seconds", "reason"]

# The quick tests that belong to each module, those that take least time first.
MODULES = {
    "inference/samplers/sghmc.py": (
        "inference/samplers/test_sghmc.py",
        "inference/samplers/test_contract.py",
        "inference/test_tempering.py",
        "inference/test_gibbs.py",
    ),
    "inference/samplers/mclmc.py": (
        "inference/samplers/test_mclmc.py",
        "inference/samplers/test_contract.py",
    ),
    "priors/hierarchical.py": (
        "priors/test_hierarchical.py",
        "priors/test_contract.py",
        "inference/test_gibbs.py",
    ),
    "priors/flow.py": ("priors/test_flow.py", "priors/test_contract.py"),
    "matching/critic.py": ("matching/test_critic.py", "matching/test_match.py"),
    "matching/distances.py": ("matching/test_distances.py", "matching/test_match.py"),
    "inference/likelihoods.py": (
        "inference/test_likelihoods.py",
        "inference/test_predictive.py",
        "evaluation/test_metrics.py",
    ),
    "inference/collapsed.py": ("inference/test_collapsed.py",),
    "evaluation/metrics.py": ("evaluation/test_metrics.py",),
    "baselines/evidence.py": (
        "baselines/test_evidence.py",
        "baselines/test_laplace.py",
        "baselines/test_curvature.py",
    ),
}


def drawn(source: str, count: int, seed: int) -> list[Mutation]:
    """Faults of a source drawn at random, each kind in turn so that none is left out."""
    generator = random.Random(seed)
    by_kind: dict[str, list[Mutation]] = {}
    for mutation in mutations(source):
        by_kind.setdefault(mutation.kind, []).append(mutation)
    for several in by_kind.values():
        generator.shuffle(several)
    chosen: list[Mutation] = []
    while len(chosen) < count and any(by_kind.values()):
        for several in by_kind.values():
            if several and len(chosen) < count:
                chosen.append(several.pop())
    return sorted(chosen)


class Runner:
    """A copy of sources and tests in a folder, and a worker that runs tests in it."""

    def __init__(self, tree: Path, compiled: Path, timeout: int, files: int):
        self.tree, self.timeout, self.files = tree, timeout, files
        for part in ("src", "tests"):
            skip = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / part, tree / part, ignore=skip)
        shutil.copy(ROOT / "pyproject.toml", tree)
        compiled.mkdir(exist_ok=True)
        self.environment = os.environ | {
            "PYTHONPATH": os.pathsep.join((str(tree / "src"), str(tree))),
            "GOODPRIOR_TEST_CACHE": str(compiled.absolute()),
        }

    def outcomes(self, module: str, faults: list[Mutation]) -> Iterator[tuple[Mutation, str]]:
        """Each fault with the first test that notices it, empty if none does."""
        path = self.tree / "src" / "goodprior" / module
        source = path.read_text()
        todo = {i: mutated(source, fault) for i, fault in enumerate(faults)}
        while todo:
            running = None
            for said in self._worker(module, list(todo.items())):
                if said.get("wrong"):
                    raise SystemExit(f"{module}: {said['wrong']} fails without any fault")
                running = said.get("begin", running)
                if said.get("outside"):
                    path.write_text(todo[running])
                    said = list(self._worker(module, [(running, None)]))[-1]
                    path.write_text(source)
                    said = said if "by" in said else {"number": running, "by": "timeout"}
                if "by" in said:
                    running = None
                    del todo[said["number"]]
                    yield faults[said["number"]], said["by"]
            if running is not None:  # the worker has died of it
                del todo[running]
                yield faults[running], "timeout or crash"

    def _worker(self, module: str, sources: list) -> Iterator[dict]:
        asked = {
            "path": str(self.tree / "src" / "goodprior" / module),
            "tests": [f"tests/{name}" for name in MODULES[module][: self.files]],
            "sources": sources,
            "timeout": self.timeout,
        }
        (self.tree / "asked.json").write_text(json.dumps(asked))
        command = [sys.executable, str(Path(__file__).with_name("worker.py")), "asked.json"]
        with subprocess.Popen(
            command, cwd=self.tree, env=self.environment, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("{"):
                    yield json.loads(line)


def note(path: Path, module: str, fault: Mutation, by: str, seconds: float) -> None:
    """Write a row of the table, in the place of the one that this fault had."""
    table = read_table(path)
    row = [module, fault.line, fault.column, fault.kind, str(fault)]
    same = (table[COLUMNS[:5]] == row).all(axis=1)
    row += ["killed" if by else "survived", by, round(seconds, 1), ""]
    table = pd.concat([table[~same], pd.DataFrame([row], columns=COLUMNS)])
    table.sort_values(["module", "line", "column"]).to_csv(path, index=False)


def read_table(path: Path) -> pd.DataFrame:
    if not path.exists():
        return pd.DataFrame(columns=COLUMNS)
    return pd.read_csv(path, keep_default_na=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", nargs="*", default=list(MODULES))
    parser.add_argument("--each", type=int, default=14, help="faults for each module")
    parser.add_argument("--most", type=int, default=10_000, help="stop after so many faults")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", choices=["survived", "killed"], help="run these once more")
    parser.add_argument("--timeout", type=int, default=150, help="processor seconds for a fault")
    parser.add_argument("--compiled", type=Path, help="folder that keeps compiled programs")
    parser.add_argument("--files", type=int, default=9, help="test files of each module, at most")
    parser.add_argument("--table", type=Path, default=TABLE)
    asked = parser.parse_args()
    left = asked.most
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        runner = Runner(tree, asked.compiled or tree / "compiled", asked.timeout, asked.files)
        for module in asked.modules:
            table = read_table(asked.table)
            rows = table[table.module == module]
            kept = rows if asked.again is None else rows[rows.outcome != asked.again]
            known = set(zip(kept.line, kept.column, kept.mutation, strict=True))
            source = (ROOT / "src" / "goodprior" / module).read_text()
            chosen = drawn(source, asked.each, asked.seed)
            todo = [m for m in chosen if (m.line, m.column, str(m)) not in known][:left]
            left -= len(todo)
            started = time.monotonic()
            for fault, by in runner.outcomes(module, todo):
                note(asked.table, module, fault, by, time.monotonic() - started)
                started = time.monotonic()
                print(f"{module}:{fault.line}: {fault}: {by or 'SURVIVED'}", flush=True)


if __name__ == "__main__":
    main()
