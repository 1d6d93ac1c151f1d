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
    "rhat_max": "worst R-hat: do the chains agree? 1.00 is best, above 1.1 is bad",
    "rhat_median": "the usual R-hat",
    "ess_min": "fewest effective draws of a function value; below 100 intervals are rough",
    "ess_median": "the usual number of effective draws",
    "mcse_max": "worst Monte Carlo error of a mean, in posterior standard deviations",
}


def report_page(
    name: str,
    file: "ModelFile",
    pictures: dict[str, bytes],
    relevance: list[str],
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
    rows = [(name, value, MEANINGS.get(name, "")) for name, value in found.summary.items()]
    return pd.DataFrame(rows, columns=["figure", "value", "what it says"])


def _settings(model: Any) -> dict[str, str]:
    from goodprior.inference import Sampler
    from goodprior.pipeline import Method

    shown = (str, int, float, bool, tuple, list, dict, type(None), Sampler, Method)
    return {
        name: " ".join(str(value).split()) if isinstance(value, shown) else type(value).__name__
        for name, value in model.get_params(deep=False).items()
    }
