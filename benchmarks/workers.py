"""One worker against several on a study of independent jobs.

    python -m benchmarks.workers                    # 8 splits of boston, FG, one worker and two
    python -m benchmarks.workers --jobs 2 --steps 100    # does it run?

Each run starts its workers anew, so their start is part of the time: some seconds each, which
count for much beside jobs as short as the quick preset's. A first run, which is not timed, leaves
its compiled programs in the cache.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence

from goodprior.studies.catalogue import study
from goodprior.studies.engine.local import Local
from goodprior.studies.engine.run import run_jobs
from goodprior.studies.engine.store import Job, Store


def independent_jobs(jobs: int, steps: int) -> list[Job]:
    """FG on splits of boston, with chains of so many steps."""
    one = study("uci-regression")
    found = one.jobs(one.choose("quick", datasets=("boston",), methods=("fg",), splits=jobs))
    short = {"burn_in": steps // 2, "draws": 4, "thinning": max(50, steps // 8)}
    return [Job({**job.settings, **short}) for job in found]


def seconds(jobs: Sequence[Job], workers: int) -> float:
    """How long so many workers take for all jobs, from an empty store."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        run = "goodprior.studies.catalogue:run_job"
        outcome = run_jobs(run, jobs, Store(folder), Local(workers))
        if outcome.failures:
            raise RuntimeError(outcome.failures[0].traceback)
        return time.perf_counter() - started


def main() -> None:
    """Time one worker and several in turn, and print the ratio of their best times."""
    parser = argparse.ArgumentParser(description="One worker against several.")
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=62_000, help="of each chain: the paper's")
    args = parser.parse_args()
    jobs = independent_jobs(args.jobs, args.steps)
    seconds(jobs[:1], 1)
    best = {1: float("inf"), args.workers: float("inf")}
    for _ in range(args.repeats):
        for workers in best:
            best[workers] = min(best[workers], seconds(jobs, workers))
    for workers, spent in best.items():
        print(f"{args.jobs} jobs, {workers} workers: {spent:.1f} s")
    print(f"{best[1] / best[args.workers]:.2f} times as fast with {args.workers} workers")


if __name__ == "__main__":
    main()
