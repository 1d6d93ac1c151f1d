"""Ours and the peers in one run: `make bench`.

Prints a table of ratios and writes `results/benchmark.csv` and `results/benchmark.png`. With
`--against PATH` (the `src` of another checkout) it times only a step and a whole fit, of that tree
and of this one in turn, and writes `results/before_after.csv`.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import goodprior as gp
from benchmarks import scaling, speed
from goodprior import plots
from goodprior.data import data_folder, load
from goodprior.devices import use_all_cores
from goodprior.matching import Comparison

HIDDEN = (100, 100)


def table() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, gp.Scaling]:
    """Boston's first split where it is at hand, made-up rows of the same size elsewhere."""
    if data_folder() is not None:
        X, y, X_test, y_test = load("boston").split(0)
    else:
        rng = np.random.default_rng(0)
        X_all = rng.normal(size=(506, 13))
        y_all = np.sin(X_all[:, :3]).sum(axis=1) + 0.3 * rng.normal(size=506)
        X, y, X_test, y_test = X_all[:455], y_all[:455], X_all[455:], y_all[455:]
    return X, y, X_test, y_test, gp.Scaling.fit(X, y)


def gemm_gflops() -> float:
    """What this machine can do: single-precision products of 1,000 x 1,000 matrices."""
    a = jnp.ones((1000, 1000))
    product = jax.jit(lambda a: a @ a)
    product(a).block_until_ready()
    return 2 / min(_seconds(lambda: product(a).block_until_ready()) for _ in range(20))


def _seconds(work) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def matching(X: np.ndarray, scaling: gp.Scaling, seeds: int) -> list[dict]:
    """Our matching, compile time included and excluded, and how good it is."""
    belief = gp.HierarchicalGP.default(X.shape[1])
    points = gp.rows_and_box(scaling.inputs(X))
    prior = gp.GaussianPrior(gp.MLP(X.shape[1], HIDDEN, 1, key=jax.random.key(0)))
    rows = []
    published = gp.MatchSchedule.published
    for name, distance, schedule, runs in (
        ("energy", gp.Energy(), None, seeds),
        ("warm critic", gp.Wasserstein(critic_steps=40), published(stop_at_plateau=True), seeds),
        ("critic as published, 5 steps", gp.Wasserstein(restart=True), published(steps=5), 2),
    ):
        times, found = [], []
        for seed in range(runs):
            key = jax.random.key(seed)
            started = time.perf_counter()
            how = {"distance": distance, "schedule": schedule, "held_out": 0}
            matched = gp.match(prior, belief, points, key=key, **how)
            times.append(time.perf_counter() - started)
            keys = jax.random.split(jax.random.fold_in(key, 1), 3)
            found += [gp.compare(matched.prior, belief, points, key=k) for k in keys]
        quality = Comparison(*np.mean(found, axis=0))
        rows.append(
            {
                "what": f"match, {name}",
                "first": times[0],
                "seconds": float(np.median(times[1:])),
                "steps": len(matched.history.distance),
                **quality._asdict(),
                "energy_se": _error_over_seeds([f.energy_distance for f in found], runs),
            }
        )
    return rows


def _error_over_seeds(values: list[float], seeds: int) -> float:
    """The standard error of the mean over seeds, from as many values for each."""
    return float(np.std(np.reshape(values, (seeds, -1)).mean(axis=1), ddof=1) / seeds**0.5)


def whole_fit(
    X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, scaling: gp.Scaling
) -> dict:
    """Matching, four chains of 62,000 steps, prediction, all compilation included."""
    started = time.perf_counter()
    prior = gp.GaussianPrior(gp.MLP(X.shape[1], HIDDEN, 1, key=jax.random.key(9)))
    belief, points = gp.HierarchicalGP.default(X.shape[1]), gp.rows_and_box(scaling.inputs(X))
    prior, _ = gp.match(prior, belief, points, key=jax.random.key(1), held_out=0)
    posterior = gp.sample_posterior(
        prior, gp.Gaussian(0.1), X, y, scaling=scaling, key=jax.random.key(2)
    )
    prediction = posterior.predict(X_test)
    seconds = time.perf_counter() - started
    found = gp.diagnose(posterior).summary
    return {
        "seconds": seconds,
        **gp.regression_metrics(prediction, y_test),
        **{k: found[k] for k in ("rhat_max", "ess_min", "ess_median")},
        "ess_per_second": found["ess_median"] / seconds,
    }


def nuts_fit(
    X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, scaling: gp.Scaling
) -> dict:
    """BlackJAX's NUTS on the same posterior: 4 chains, 200 + 200 transitions as in the paper."""
    prior = gp.GaussianPrior(gp.MLP(X.shape[1], HIDDEN, 1, key=jax.random.key(9)))
    started = time.perf_counter()
    posterior = gp.sample_posterior(
        prior, gp.Gaussian(0.1), X, y, scaling=scaling, draws=20, key=jax.random.key(2),
        sampler=gp.NUTS(burn_in=200, thinning=10),
    )  # fmt: skip
    seconds = time.perf_counter() - started
    found = gp.diagnose(posterior).summary
    return {
        "seconds": seconds,
        **gp.regression_metrics(posterior.predict(X_test), y_test),
        **{k: found[k] for k in ("rhat_max", "ess_min", "ess_median", "divergences")},
        "ess_per_second": found["ess_median"] / seconds,
    }


def torch_peer(
    python: Path, X: np.ndarray, y: np.ndarray, match_steps: int, seeds: int
) -> dict | None:
    """The plain PyTorch loop, in its own environment; None where that is not installed."""
    if not python.exists():
        print(f"no peers at {python}: `make bench` installs them")
        return None
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        np.savez(file.name, X=X.astype(np.float32), y=y[:, 0].astype(np.float32))
        command = [python, "-m", "benchmarks.peers.measure", file.name]
        done = subprocess.run(
            [*map(str, command), "--match-steps", str(match_steps), "--seeds", str(seeds)],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    if done.returncode:
        return None
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Everything, most telling first."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=Path, default=Path(".venv-peers/bin/python"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--torch-match-steps", type=int, default=200)
    parser.add_argument("--skip", nargs="*", default=[], help="torch, ours, nuts, scaling")
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--against", type=Path, help="src of another checkout: time both in turn")
    args = parser.parse_args()
    use_all_cores()
    X, y, X_test, y_test, scale = table()
    args.out.mkdir(exist_ok=True)
    if args.against:
        trees = {"before": args.against, "after": Path(gp.__file__).parents[1]}
        frame = speed.compare(trees, X, y, args.seeds)
        frame.to_csv(args.out / "before_after.csv", index=False)
        print(frame.drop(columns="run").groupby("tree", sort=False).median())
        return
    rows: list[dict] = []

    def note(what: str, who: str, seconds: float, **more: object) -> None:
        rows.append({"what": what, "who": who, "seconds": seconds, **more})
        print(f"{what:34} {who:12} {seconds:12.6g} s  {more}", flush=True)

    if "torch" not in args.skip:
        _note_torch(args, X, y, scale, note)
    if "ours" not in args.skip:
        note("product of 1,000 x 1,000", "machine", 2 / gemm_gflops(), gflops=gemm_gflops())
        for row in matching(X, scale, args.seeds):
            note(row.pop("what"), "goodprior", row.pop("seconds"), **row)
        found = speed.step_seconds(X, y)
        note("one step of four chains", "goodprior", found["step"], devices=jax.device_count())
        fit = whole_fit(X, y, X_test, y_test, scale)
        note("whole fit", "goodprior", fit.pop("seconds"), **fit)
    if "nuts" not in args.skip:
        fit = nuts_fit(X, y, X_test, y_test, scale)
        note("NUTS, 200 + 200 transitions", "blackjax", fit.pop("seconds"), **fit)
    frame = pd.DataFrame(rows)
    if args.skip and (args.out / "benchmark.csv").exists():
        frame = pd.concat([pd.read_csv(args.out / "benchmark.csv"), frame])
        frame = frame.drop_duplicates(["what", "who"], keep="last")
    frame.to_csv(args.out / "benchmark.csv", index=False)
    if "torch" in set(frame["who"]):
        found = ratios(frame)
        print(found.to_string(index=False))
        picture(found).savefig(args.out / "benchmark.png")
    if "scaling" not in args.skip:
        scaling.run(args.out)


def _note_torch(args: argparse.Namespace, X: np.ndarray, y: np.ndarray, scale, note) -> None:
    peer = torch_peer(
        args.peers, np.asarray(scale.inputs(X)), np.asarray(scale.targets(y)),
        args.torch_match_steps, args.seeds,
    )  # fmt: skip
    if peer is None:
        return
    outer, step = peer["outer_ms"] / 1000, peer["chain_ms"] / 1000
    module, burn_in = peer["module_chain_ms"] / 1000, peer["chain_burn_in_ms"] / 1000
    note(
        "matching, 200 steps", "torch", 200 * outer, steps=args.torch_match_steps,
        energy_distance=float(np.mean(peer["energy"])),
        energy_se=_error_over_seeds(peer["energy"], len(peer["energy"])),
    )  # fmt: skip
    note("one step of four chains", "torch", 4 * module)
    note("one step of four chains", "torch, flat", 4 * step)
    note("whole fit", "torch", 200 * outer + 4 * 62_000 * module)
    note("whole fit", "torch, flat", 200 * outer + 4 * (60_000 * step + 2_000 * burn_in))


PAIRS = (  # what of torch's is beside what of ours
    ("matching, 200 steps", "torch", "match, energy"),
    ("matching, 200 steps", "torch", "match, warm critic"),
    ("one step of four chains", "torch", "one step of four chains"),
    ("one step of four chains", "torch, flat", "one step of four chains"),
    ("whole fit", "torch", "whole fit"),
    ("whole fit", "torch, flat", "whole fit"),
)


def ratios(frame: pd.DataFrame) -> pd.DataFrame:
    """How many times faster we are."""
    at = frame.set_index(["what", "who"])["seconds"]
    lines = [
        {"what": ours, "peer": who, "peer s": at[what, who], "goodprior s": at[ours, "goodprior"]}
        for what, who, ours in PAIRS
    ]
    table = pd.DataFrame(lines)
    table["times faster"] = (table["peer s"] / table["goodprior s"]).round(1)
    return table


def picture(found: pd.DataFrame) -> Figure:
    """The ratios as bars."""
    figure = plots.new_figure(2, 2)
    axes = figure.subplots()
    names = found["what"] + "\n(beside " + found["peer"] + ")"
    bars = axes.barh(names, found["times faster"], color=plots.COLOURS["GPi-G"])
    axes.bar_label(bars, fmt="%.0fx", padding=3)
    axes.invert_yaxis()
    axes.set(xlabel="times faster than the plain PyTorch loop", xscale="log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlim(1, 3 * found["times faster"].max())
    return figure


if __name__ == "__main__":
    main()
