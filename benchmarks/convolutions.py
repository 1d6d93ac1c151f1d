"""Gradients of the convolutional networks beside PyTorch's, four chains beside one, and matching.

export GLIBC_TUNABLES=glibc.malloc.hugetlb=1
types=LIBRARY_FUSION_TYPE_REDUCE,LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT
export XLA_FLAGS=--xla_cpu_experimental_ynn_fusion_type=$types
python -m benchmarks.convolutions

Both have huge pages for their memory that way, and use as many threads as there are processors that
they may use. The second setting is for a single gradient: XLA's newer convolution is faster, but
often in one thread, which is best where each core has chains of its own, as they have by
`use_all_cores` (`4 spread chains`, measured without the setting). PyTorch and we are measured in
turn, round after round, so that a machine that is busy for a while shows; on one processor
(`taskset -c 0`) the time on it, `cpu`, can be compared even then. Writes `results/convolutions.csv`
as it goes.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np
import pandas as pd

import goodprior as gp
from goodprior.inference.batches import InMemory
from goodprior.inference.chains import Chains
from goodprior.inference.density import Density
from goodprior.networks import IMAGE_NETWORKS

BATCH = {"lenet5": 128, "preresnet20": 128, "vgg16": 32}
STEPS = 10
ROUNDS = 3
WHAT = ["gradient", "chains", "matching"]


def milliseconds(work: Callable[[], object], times: int = 12) -> dict[str, float]:
    """Median and best of several runs, and the best time on processors; the first ones left out."""
    found, busy = [], []
    for _ in range(times):
        started, worked = time.perf_counter(), time.process_time()
        work()
        found.append(1000 * (time.perf_counter() - started))
        busy.append(1000 * (time.process_time() - worked))
    return {"median": statistics.median(found[2:]), "best": min(found[2:]), "cpu": min(busy[2:])}


def density_and_data(name: str, rows: int) -> tuple[Density, InMemory]:
    """A network with random images and labels."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(rows, 32, 32, 3)), rng.integers(0, 10, rows)
    prior = gp.GaussianPrior(IMAGE_NETWORKS[name](key=jax.random.key(0)))
    likelihood = gp.Categorical(10)
    data = InMemory(jax.numpy.asarray(X, "float32"), likelihood.targets(y))
    return Density(prior, likelihood, rows), data


def gradient(name: str) -> dict[str, float]:
    """Milliseconds for the gradient of the log density from one minibatch."""
    density, data = density_and_data(name, BATCH[name])
    latent = density.prior.sample(jax.random.key(1))
    grad = jax.jit(jax.grad(density))
    return milliseconds(lambda: jax.block_until_ready(grad(latent, data.X, data.y)))


def chains(name: str, count: int) -> dict[str, float]:
    """Milliseconds for a step of so many chains."""
    density, data = density_and_data(name, 4 * BATCH[name])
    latents = jax.vmap(density.prior.sample)(jax.random.split(jax.random.key(1), count))
    run = Chains(density, gp.SGHMC(batch_size=BATCH[name]), data, latents, jax.random.key(0))
    found = milliseconds(lambda: run.advance(STEPS, warming_up=False), times=5)
    return {key: value / STEPS for key, value in found.items()}


def matching(name: str) -> dict[str, float]:
    """Ten steps at the paper's size, in this process: seconds with compilation, most memory."""
    X = np.random.default_rng(0).normal(size=(64, 32, 32, 3))
    prior = gp.GaussianPrior(IMAGE_NETWORKS[name](key=jax.random.key(0)))
    belief, points = gp.HierarchicalGP.images(), gp.Rows(X, 32)
    started = time.perf_counter()
    gp.match(
        prior, belief, points, distance="wasserstein", held_out=0,
        schedule=gp.MatchSchedule.published(steps=10), key=jax.random.key(1),
    )  # fmt: skip
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "gibibytes": most_memory()}


def most_memory() -> float:
    """Of this program, in GiB; `getrusage` can mean the one that started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 2**20


def apart(what: str, name: str) -> dict[str, float]:
    """`--match` or `--spread` in a process of its own, with the convolution that XLA prefers."""
    command = [sys.executable, "-m", "benchmarks.convolutions", what, name]
    usual = {key: value for key, value in os.environ.items() if key != "XLA_FLAGS"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=usual)
    return json.loads(done.stdout.splitlines()[-1])


def torch_peer(python: Path) -> dict[str, dict[str, float]]:
    """The same gradients in PyTorch."""
    command = [python, "-m", "benchmarks.peers.convolutions_torch", *BATCH.values()]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=Path, default=Path(".venv-peers/bin/python"))
    parser.add_argument("--networks", nargs="*", default=list(BATCH))
    parser.add_argument("--what", nargs="*", choices=WHAT, default=WHAT)
    parser.add_argument("--out", type=Path, default=Path("results/convolutions.csv"))
    parser.add_argument("--match", help="only match this network, here and now")
    parser.add_argument("--spread", help="only four chains of this network over all cores")
    args = parser.parse_args()
    if args.match:
        print(json.dumps(matching(args.match)))
        return
    if args.spread:
        gp.use_all_cores()
        print(json.dumps(chains(args.spread, 4)))
        return
    args.out.parent.mkdir(exist_ok=True)
    rows = []
    kept = pd.read_csv(args.out) if args.out.exists() else pd.DataFrame({"network": [], "what": []})
    anew = kept["what"].astype(str).str.endswith(tuple(args.what))
    kept = kept[~(anew & kept["network"].isin(args.networks))]

    def note(name: str, what: str, who: str, found: dict[str, float]) -> None:
        rows.append({"network": name, "what": what, "who": who, **found})
        pd.concat([pd.DataFrame(rows), kept]).to_csv(args.out, index=False, float_format="%.4g")
        numbers = " ".join(f"{key} {value:.2f}" for key, value in found.items())
        print(f"{name:12} {what:12} {who:10} {numbers}", flush=True)

    if "gradient" in args.what:
        for _ in range(ROUNDS):
            peer = torch_peer(args.peers)
            for name in args.networks:
                note(name, "gradient", "torch", peer[name])
                note(name, "gradient", "goodprior", gradient(name))
    for name in args.networks:
        if "chains" in args.what and name != "vgg16":
            for count in (1, 4):
                note(name, f"{count} chains", "goodprior", chains(name, count))
            note(name, "4 spread chains", "goodprior", apart("--spread", name))
    for column in ("median", "best", "cpu") if rows else ():
        say_ratios(pd.DataFrame(rows).groupby(["network", "what", "who"])[column].median(), column)
    for name in args.networks:
        if "matching" in args.what:
            note(name, "matching", "goodprior", apart("--match", name))


def say_ratios(best: pd.Series, column: str) -> None:
    """Ours over PyTorch's, and four chains over one."""
    print(f"by the {column} time, the median of all rounds:")
    for name in best.index.unique("network"):
        if (name, "gradient", "torch") in best:
            ratio = best[name, "gradient", "goodprior"] / best[name, "gradient", "torch"]
            print(f"{name}: our gradient takes {ratio:.2f} times as long as PyTorch's")
        if (name, "4 chains", "goodprior") in best:
            ratio = best[name, "4 chains", "goodprior"] / best[name, "1 chains", "goodprior"]
            spread = (
                best[name, "4 spread chains", "goodprior"] / best[name, "1 chains", "goodprior"]
            )
            print(f"{name}: four chains take {ratio:.2f} times as long as one, spread {spread:.2f}")


if __name__ == "__main__":
    main()
