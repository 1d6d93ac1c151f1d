"""Calibration of a fitted estimator: its own prior, likelihood, method and units."""

from dataclasses import replace
from typing import Any

import jax

from goodprior import checks, devices
from goodprior.evaluation import Calibration
from goodprior.inference import KnownNoise
from goodprior.pipeline import Hooks, ObservationModel, Problem, Target, calibrate
from goodprior.pipeline.deadline import Deadline


def calibrate_estimator(
    model: Any,
    X: Any,
    y: Any,
    *,
    simulations: int,
    rows: int,
    points: int,
    budget: float | None = None,
) -> Calibration:
    """What `BNNRegressor.calibrate` returns; y None: simulations are from the prior.

    Parameters
    ----------
    model
        A fitted estimator, also one that was read from a file.
    X, y, simulations, rows, points, budget
        As there.
    """
    if not model._is_sampled:
        raise ValueError(
            "calibration ranks the truth among draws of a sampler, and method "
            f"{model.method_name} has none: fit with method auto, mclmc, sghmc or nuts"
        )
    if model.temperature != 1:
        raise ValueError(
            f"temperature is {model.temperature:g}, and draws of a tempered posterior are not "
            "meant to be calibrated: fit with temperature=1"
        )
    if isinstance(model.posterior_.likelihood, KnownNoise):
        raise ValueError(
            "calibration simulates noise as the model has learned it, and this model was given the "
            "noise of each row: fit without noise_std"
        )
    if budget is not None:
        checks.positive("budget", budget)
    X = model._check_new(X)
    targets = None if y is None else model._known_targets(y)
    if targets is not None and len(targets) != len(X):
        raise ValueError(f"X and y must have as many rows: {len(X)} and {len(targets)}")
    posterior = model.posterior_
    problem = Problem(
        X,
        targets,
        ObservationModel(posterior.likelihood, 1),  # its prior has the noise that is learned
        model.belief_.belief,
        scaling=model.scaling_,
        prior=posterior.prior,
    )
    devices.prepare()
    with Deadline(budget, say=bool(model.verbose)) as end:
        found = calibrate(
            problem,
            model.method,
            key=jax.random.key(model._seed()),
            simulations=simulations,
            rows=rows,
            points=points,
            around=None if targets is None else posterior,
            chains=model.chains,
            draws=model.draws,
            target=Target(float(model.rhat), float(model.ess)),
            hooks=Hooks(bool(model.verbose), deadline=end),
        )
    return replace(found, about=_about(model, len(X), rows, targets is not None))


def _about(model: Any, given: int, rows: int, around: bool) -> str:
    prior = model.prior if isinstance(model.prior, str) else type(model.prior).__name__
    used = f"{min(given, rows)} of {given} rows" if given > rows else f"{given} rows"
    truth = "draws of the fitted posterior" if around else f"draws of the prior {prior}"
    return f"{truth}, targets simulated at {used}, {model.method_name}"
