"""Measure the plain PyTorch loop; prints one line of JSON. Runs in the peers' own environment.

python -m benchmarks.peers.measure table.npz --match-steps 200
"""

import argparse
import json
import sys
import time

import numpy as np
import torch

from benchmarks.peers import module_torch, plain_torch


def main() -> None:
    """Time matching and sampling on the table; with enough steps also say how good the match is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", help="npz with standardised X, y, X_test and y_test")
    parser.add_argument("--match-steps", type=int, default=5)
    parser.add_argument("--chain-steps", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    with np.load(options.table) as table:
        X, y = torch.tensor(table["X"]), torch.tensor(table["y"])
    result = {}
    for threads in (1, 2):
        timed = plain_torch.match(X, outer_steps=4, seed=0, num_threads=threads)
        result[f"outer_ms_{threads}"] = 1000 * float(np.median(timed["seconds"][1:]))
    best = 1 + int(result["outer_ms_2"] < result["outer_ms_1"])
    seconds, result["energy"] = [], []
    for seed in range(options.seeds):
        matched = plain_torch.match(X, outer_steps=options.match_steps, seed=seed, num_threads=best)
        seconds.append(float(np.mean(matched["seconds"])))
        found = [
            float(plain_torch.held_out_energy_distance(matched["scales"], X, seed=100 + s))
            for s in range(3)
        ]
        result["energy"].append(float(np.mean(found)))
        print(f"torch, seed {seed}: {seconds[-1]:.3g} s a step", file=sys.stderr, flush=True)
    result["outer_ms"] = 1000 * float(np.median(seconds))
    for name, burn_in, after in (("chain_burn_in_ms", 2000, 1), ("chain_ms", 1, 2000)):
        best = float("inf")
        for threads in (1, 2):
            started = time.perf_counter()
            plain_torch.sample(
                X, y, matched["scales"], chains=1, burn_in=burn_in, draws=1, thinning=after,
                num_threads=threads,
            )  # fmt: skip
            best = min(best, 1000 * (time.perf_counter() - started) / (burn_in + after))
        result[name] = best
    torch.set_num_threads(1)
    started = time.perf_counter()
    module_torch.run_chain(X, y, options.chain_steps)
    result["module_chain_ms"] = 1000 * (time.perf_counter() - started) / options.chain_steps
    print(json.dumps(result))


if __name__ == "__main__":
    main()
