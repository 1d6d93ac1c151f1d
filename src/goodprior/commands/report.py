"""The report on a model file: one HTML page that needs nothing else, or one picture."""

import html
import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib import image as images

from goodprior.commands.show import concerns, what_it_is
from goodprior.studies.reports.page import html_table, image, safe, whole_page

if TYPE_CHECKING:
    from goodprior.commands.model_file import ModelFile

MEANINGS = {
    "rhat_max": "worst R-hat: do the chains agree? 1.00 is best, above 1.1 is bad",
    "rhat_median": "the usual R-hat",
    "ess_min": "fewest effective draws of a function value; below 100 intervals are rough",
    "ess_median": "the usual number of effective draws",
    "mcse_max": "worst Monte Carlo error of a mean, in posterior standard deviations",
}


def report_page(name: str, file: "ModelFile", pictures: dict[str, bytes]) -> str:
    """What the model is, its pictures, what was understood, diagnostics and settings."""
    model = file.model
    columns = "" if file.columns is None else file.columns.describe()
    parts = [
        f"<h1>{safe(name)}</h1>",
        f"<p>{safe(what_it_is(file).capitalize())}.</p>",
        *(f"<p><b>Warning:</b> {safe(text)}.</p>" for text in concerns(model)),
        "<h2>What is predicted</h2>",
        f"<p>{_how_to_read(model)}</p>",
        image("posterior along the columns", pictures["posterior"]),
        "<h2>What was believed before</h2>",
        f"<p>{safe(model.belief_.sentence)}</p>",
        *_prior(pictures.get("prior")),
        "<h2>Columns</h2>",
        f"<pre>{html.escape(columns) or 'numbers without names'}</pre>",
        "<h2>Can the draws be trusted?</h2>",
        _diagnostics(model),
        "<h2>Settings</h2>",
        html_table("", _two("setting", {k: str(v) for k, v in sorted(_settings(model).items())})),
    ]
    return whole_page(name, parts)


def _prior(picture: bytes | None) -> list[str]:
    if picture is None:
        return []
    return [
        "<p>Above: functions of the belief. Below: functions of the network before it saw any "
        "data; they should look alike, unless the prior is fg or fh, which know nothing of the "
        "belief.</p>",
        image("prior along the columns", picture),
    ]


def stacked(pictures: list[bytes]) -> bytes:
    """Several PNG pictures as one, below each other."""
    found = [images.imread(io.BytesIO(picture)) for picture in pictures]
    width = max(picture.shape[1] for picture in found)
    widened = [
        np.pad(picture, ((0, 0), (0, width - picture.shape[1]), (0, 0)), constant_values=1.0)
        for picture in found
    ]
    stream = io.BytesIO()
    images.imsave(stream, np.concatenate(widened), format="png")
    return stream.getvalue()


def _how_to_read(model: Any) -> str:
    others = "along each column, the others at their means"
    if model.TASK == "classification":
        return f"The probability of the classes {others}."
    return (
        f"The mean {others}; the dark band holds the function, the light one an observation, "
        "with 95 %. Dots are rows of the table, at their own values of the other columns."
    )


def _diagnostics(model: Any) -> str:
    found = getattr(model, "diagnostics_", None)
    if found is None:
        return "<p>There is nothing to diagnose.</p>"
    good = "" if concerns(model) else "<p>Nothing speaks against it.</p>"
    table = _two("figure", found.summary)
    table["what it says"] = [MEANINGS.get(str(name), "") for name in found.summary]
    return good + html_table("On the functions' values at some training rows", table)


def _settings(model: Any) -> dict[str, Any]:
    plain = (str, int, float, bool, tuple, list, dict, type(None))
    return {
        name: value if isinstance(value, plain) else type(value).__name__
        for name, value in model.get_params(deep=False).items()
    }


def _two(first: str, values: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame({first: list(values), "value": list(values.values())})
