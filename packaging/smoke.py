"""Install a wheel into an empty environment, and use it from a folder with nothing else in it.

    python packaging/smoke.py dist/goodprior-0.2.0-py3-none-any.whl

The environment has the Python that runs this.
"""

import math
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

LARGEST = 1_000_000  # bytes of a wheel
PROGRAM = """
import numpy as np
import goodprior
from goodprior import SGHMC, BNNRegressor

X = np.linspace(-2, 2, 20)[:, None]
sampler = SGHMC(burn_in=20, thinning=5, batch_size=None)
model = BNNRegressor(hidden=(5,), method=sampler, chains=2, draws=4, random_state=0)
mean, std = model.fit(X, np.sin(X[:, 0])).predict(X, return_std=True)
assert mean.shape == (20,) and (std > 0).all()
print("goodprior", goodprior.__version__)
"""


def main(wheel: Path) -> None:
    """Run every command; the first that fails ends it."""
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size:,} bytes, Python {sys.version.split()[0]}", flush=True)
    if size > LARGEST:
        sys.exit(f"the wheel must have at most {LARGEST:,} bytes")
    with tempfile.TemporaryDirectory(prefix="goodprior-smoke-") as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        work = folder / "work"
        work.mkdir()
        (work / "data.csv").write_text(_table())
        for command in _commands(folder / "env" / "bin", wheel):
            start = time.perf_counter()
            done = subprocess.run(command, cwd=work, capture_output=True, text=True)
            seconds = time.perf_counter() - start
            print(f"  {seconds:6.1f} s  {Path(command[0]).name} {_short(command[1:])}", flush=True)
            if done.returncode:
                sys.exit(done.stdout + done.stderr)


def _commands(bin: Path, wheel: Path) -> list[list[str]]:
    python, goodprior = [str(bin / "python")], [str(bin / "goodprior")]
    return [
        [*python, "-m", "pip", "install", "--quiet", str(wheel)],
        [*python, "-m", "pip", "check"],
        [*python, "-W", "error", "-c", "import goodprior; print(goodprior.__version__)"],
        [*python, "-c", PROGRAM],
        [*goodprior, "demo", "--help"],
        [*goodprior, "demo", "--prior", "fg", "--out", "demo.png"],
        [*goodprior, "fit", "data.csv", "--target", "y", "--quick", "--out", "m.safetensors"],
        [*goodprior, "predict", "m.safetensors", "data.csv", "--out", "predictions.csv"],
        [*goodprior, "show", "m.safetensors", "data.csv", "--out", "report.html"],
    ]


def _table() -> str:
    rows = [(0.1 * i, "ab"[i % 2]) for i in range(40)]
    return "x,kind,y\n" + "".join(f"{x:.1f},{kind},{math.sin(x):.3f}\n" for x, kind in rows)


def _short(words: list[str]) -> str:
    return " ".join(word if "\n" not in word else "PROGRAM" for word in words)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
