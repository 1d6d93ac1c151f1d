"""Options of `goodprior fit` on noise, network and sampler, as the estimators take them."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from goodprior.commands.options import MethodName
    from goodprior.commands.training_table import TrainingTable

# For a first look. What it cuts is printed when it is used.
QUICK = {"chains": 4, "draws": 10}


def quick_settings(method: "MethodName") -> dict[str, Any]:
    """Return the settings of a first look, of those that the method takes notice of."""
    from goodprior.pipeline import parse_method

    uses = parse_method(method.value).uses
    return {name: value for name, value in QUICK.items() if name == "hidden" or name in uses}


def quick_in_words(method: "MethodName") -> str:
    """Return what `--quick` cuts."""
    from goodprior.estimators import BNNRegressor
    from goodprior.pipeline import parse_method

    full = parse_method(method.value)
    hidden = BNNRegressor().hidden or "chosen for the belief"
    usual = {"hidden": hidden, "chains": full.chains, "draws": full.draws}
    return ", ".join(
        f"{name} {value} instead of {usual[name]}"
        for name, value in quick_settings(method).items()
        if value != usual[name]
    )


def model_settings(
    likelihood: str,
    noise: float | None,
    hidden: str | None,
    activation: str | None,
    chains: int | None,
    draws: int | None,
) -> dict[str, Any]:
    """Return those settings that were given.

    >>> model_settings("gaussian", None, "50,20", None, None, None)
    {'likelihood': 'gaussian', 'hidden': (50, 20)}
    """
    if noise is not None and not 0 < noise < math.inf:
        raise typer.BadParameter("must be a number above zero", param_hint="--noise")
    given = {
        "likelihood": None if likelihood == "auto" else likelihood,
        "noise": noise,
        "hidden": None if hidden is None else _widths(hidden),
        "activation": activation,
        "chains": chains,
        "draws": draws,
    }
    return {name: value for name, value in given.items() if value is not None}


def _widths(text: str) -> tuple[int, ...]:
    try:
        found = tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        found = ()
    if not found or min(found) < 1:
        raise typer.BadParameter(
            f"must be widths of layers such as 50,50; got {text!r}", param_hint="--hidden"
        )
    return found


def with_units(
    settings: dict[str, Any], step_size: float | None, table: "TrainingTable"
) -> dict[str, Any]:
    """Return the settings with a noise and a step size as they are for this table."""
    found = {name: value for name, value in settings.items() if name != "noise"}
    return (
        found
        | _standardised_noise(settings.get("noise"), table)
        | _with_step_size(settings["method"], step_size, table)
    )


def _standardised_noise(noise: float | None, table: "TrainingTable") -> dict[str, Any]:
    """Return a noise in the target's units as the variance of standardised targets."""
    import numpy as np

    if noise is None:
        return {}
    if table.task != "regression" or len(table.names) > 1:
        raise ValueError("a noise is for one target that is a number: leave it out")
    return {"noise_variance": float((noise / np.std(table.targets)) ** 2)}


def _with_step_size(method: str, step_size: float | None, table: "TrainingTable") -> dict[str, Any]:
    """Return the method with this step size, if one is given."""
    if step_size is None:
        return {}
    if not 0 < step_size < math.inf:
        raise typer.BadParameter("must be a number above zero", param_hint="--step-size")
    if method != "sghmc":
        raise typer.BadParameter(
            f"is for --method sghmc; {method} finds its own step size or has none",
            param_hint="--step-size",
        )
    from goodprior.pipeline import Sampled
    from goodprior.pipeline.methods.sampled import default_sghmc

    sampler = default_sghmc(len(table.inputs))[0]
    return {"method": Sampled.by(replace(sampler, step_size=step_size))}
