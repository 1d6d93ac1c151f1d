"""`Fit now`: a fit in a thread of its own, of which the page asks how far it is."""

import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from goodprior.estimators import BNNRegressor, save
from goodprior.progress import listening
from goodprior.studio.space import Space

BUDGET = 60.0  # seconds of sampling, at most
POINTS = 81


def estimator(space: Space, spec: Any, noise: float | None, **settings: Any) -> BNNRegressor:
    """The estimator that a belief in the page stands for."""
    if noise is not None:
        settings["noise_variance"] = float((noise / space.scaling.y_std[0]) ** 2)
    return BNNRegressor(belief=spec, random_state=0, **settings)


def inputs_of(space: Space) -> pd.DataFrame:
    """The rows as `fit` takes them."""
    return pd.DataFrame(space.X, columns=list(space.names))


def prior_file(space: Space, spec: Any, noise: float | None) -> bytes:
    """The matched prior as the bytes of a model file."""
    model = estimator(space, spec, noise)
    mean, std = float(space.scaling.y_mean[0]), float(space.scaling.y_std[0])
    model.fit_prior(inputs_of(space), target_mean=mean, target_std=std)
    return _file(model.prior_)


def _file(thing: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.safetensors")
        save(thing, path)
        return path.read_bytes()


class Fitting:
    """One fit; a new one begins when the one before has ended."""

    def __init__(self) -> None:
        self.thread: threading.Thread | None = None
        self.model: BNNRegressor | None = None
        self.space: Space | None = None
        self.state: dict[str, Any] = {"state": "none"}

    def start(self, space: Space, spec: Any, noise: float | None, method: str = "auto") -> None:
        """Begin a fit, unless one is running."""
        if space.y is None:
            raise ValueError("there is no table to fit to: start with `goodprior studio data.csv`")
        if self.thread is not None and self.thread.is_alive():
            raise ValueError("a fit is running: wait until it has ended")
        self.model, self.space = None, space
        self.state = {"state": "running", "task": "starting", "done": 0, "total": 1, "words": ""}
        model = estimator(space, spec, noise, method=method, budget=BUDGET)
        self.thread = threading.Thread(target=self._run, args=(model, space), daemon=True)
        self.thread.start()

    def _run(self, model: BNNRegressor, space: Space) -> None:
        started = time.monotonic()

        def update(task: str, done: int, total: int, message: str) -> None:
            self.state = {
                "state": "running",
                "task": task,
                "done": done,
                "total": total,
                "words": message,
                "seconds": time.monotonic() - started,
            }

        try:
            with listening(update), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(inputs_of(space), space.y)
        except (ValueError, FloatingPointError, RuntimeError) as error:
            self.state = {"state": "failed", "error": str(error)}
            return
        found = model.diagnostics_
        self.model = model
        self.state = {
            "state": "done",
            "seconds": time.monotonic() - started,
            "match": str(model.match_report_),
            "warnings": [] if found is None else list(found.warnings),
            "rhat": None if found is None else float(found.summary["rhat_max"]),
        }

    def picture(self, column: str, row: int | None) -> dict[str, Any]:
        """Mean and 95 % intervals along a column, with the rows."""
        if self.model is None or self.space is None or self.space.y is None:
            raise ValueError("there is no fit yet")
        space, y, known = self.space, self.space.y, self.space.column(column)
        number = space.number(column)
        rows = np.tile(space.base_row(row), (POINTS, 1))
        rows[:, number] = values = np.linspace(known.low, known.high, POINTS)
        table = pd.DataFrame(rows, columns=list(space.names))
        low, high = self.model.predict_interval(table, of="function")
        lower, upper = self.model.predict_interval(table)
        some = np.random.default_rng(0).permutation(len(space.X))[:500]
        return {
            "x": values,
            "mean": self.model.predict(table),
            "band": [low, high],
            "noise_band": [lower, upper],
            "dots": np.column_stack([space.X[some, number], y[some]]),
        }

    def file(self) -> bytes:
        """The fitted model as the bytes of a model file."""
        if self.model is None:
            raise ValueError("there is no fit yet")
        return _file(self.model)
