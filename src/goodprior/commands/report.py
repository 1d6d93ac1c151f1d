"""The report on a model file: one HTML page that needs nothing else, or one picture."""

import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib import image

from goodprior import html
from goodprior.commands.model_summary import model_warnings, one_sentence
from goodprior.evaluation import Calibration

if TYPE_CHECKING:
    from goodprior.commands.model_file import ModelFile

MEANINGS = {
    "rhat_max": "worst R-hat: do the chains agree? 1.00 is best, above {rhat:g} is too high",
    "rhat_median": "the R-hat of the median value",
    "rhat_functions": "worst R-hat of function values alone",
    "rhat_noise": "worst R-hat of noise levels alone: harmless where only this one is high",
    "ess_min": "fewest effective draws of a value; below {ess:g} intervals are rough",
    "ess_median": "effective draws of the median value",
    "ess_tail_min": "fewest effective draws in the tails, which intervals need",
    "mcse_max": "worst Monte Carlo error of a mean, in posterior deviations; fine below 0.1",
    "steps": "steps of each chain, burn-in included",
    "temperature": "of the posterior that was asked for; 1 is Bayes",
    "step_size": "of the sampler, averaged over chains",
    "gradients": "gradient evaluations after burn-in, of all chains: the cost",
    "kinetic_temperature": "highest mean squared momentum: 1 is right, above 2 the step is long, "
    "above 10 draws are not to be trusted",
    "temperature_5": "sampled temperature that 5 % of the weights are below: too cold well below "
    "the one asked for",
    "temperature_50": "sampled temperature of the median weight; should be the one asked for",
    "temperature_95": "sampled temperature that 5 % of the weights are above: too hot well above "
    "the one asked for",
    "clamped": "share of weights whose minibatch noise is more than the sampler's own; 0 is best",
    "acceptance": "mean acceptance: 0.6 to 0.95 for NUTS; for MCLMC the share of steps that were "
    "made",
    "divergences": "transitions that went astray; 0 is best",
    "energy_error": "change of the energy in a step, per dimension; as asked for is right",
    "energy_error_asked": "the change of the energy that the step was chosen for",
    "burn_in": "steps before the first draw",
    "thinning": "steps between two draws",
    "batch_size": "rows that each step sees",
}


def report_page(
    name: str,
    file: "ModelFile",
    pictures: dict[str, bytes],
    relevance: list[str],
    unsure: str | None = None,
    calibration: Calibration | None = None,
) -> str:
    """Return the page: what the model is, its pictures, columns, diagnostics and settings.

    Parameters
    ----------
    name
        The title.
    file
        The model.
    pictures
        PNG of the `posterior` and, where there are any, of the `prior` and the `calibration`.
    relevance
        A line for each column.
    unsure
        What leave-one-out says against the model, if anything.
    calibration
        What simulations have come to, if any were made.
    """
    settings = sorted(_settings(file.model).items())
    return html.render(
        "model_report.html",
        name=name,
        summary=one_sentence(file).capitalize(),
        warnings=model_warnings(file.model),
        task=file.model.TASK,
        pictures=pictures,
        relevance=relevance,
        unsure=unsure,
        belief=file.model.belief_.sentence,
        columns="" if file.columns is None else file.columns.describe(),
        diagnostics=_diagnostics(file.model),
        found=calibration,
        picture=pictures.get("calibration"),
        settings=pd.DataFrame(settings, columns=["setting", "value"]),
    )


def stack_pictures(pictures: list[bytes]) -> bytes:
    """Return several PNG pictures as one, below each other."""
    found = [image.imread(io.BytesIO(picture)) for picture in pictures]
    width = max(picture.shape[1] for picture in found)
    widened = [
        np.pad(picture, ((0, 0), (0, width - picture.shape[1]), (0, 0)), constant_values=1.0)
        for picture in found
    ]
    stream = io.BytesIO()
    image.imsave(stream, np.concatenate(widened), format="png")
    return stream.getvalue()


def _diagnostics(model: Any) -> pd.DataFrame | None:
    found = getattr(model, "diagnostics_", None)
    if found is None:
        return None
    limits = {"rhat": found.max_rhat, "ess": found.min_ess}
    rows = [
        (name, value, MEANINGS.get(name, "").format(**limits))
        for name, value in found.summary.items()
    ]
    return pd.DataFrame(rows, columns=["figure", "value", "what it says"])


def _settings(model: Any) -> dict[str, str]:
    from goodprior.inference import Sampler
    from goodprior.pipeline import Method

    shown = (str, int, float, bool, tuple, list, dict, type(None), Sampler, Method)
    return {
        name: " ".join(str(value).split()) if isinstance(value, shown) else type(value).__name__
        for name, value in model.get_params(deep=False).items()
    }
