"""The columns that `goodprior predict` puts behind rows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodprior.inference.predictive import thresholds

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


@dataclass(frozen=True)
class Asked:
    """What is to be predicted of numbers.

    Parameters
    ----------
    level
        Of the interval from `low` to `high`.
    quantiles
        Levels of further quantiles.
    events
        Ends of intervals whose probability is asked for: (above, below), None where there is none.
    targets
        Names of those that are wanted (none: all).

    Examples
    --------
    >>> Asked(quantiles=(0.05, 0.5), events=((140.0, None), (90.0, 140.0))).names
    ['quantile_0.05', 'quantile_0.5', 'probability_above_140', 'probability_90_to_140']
    """

    level: float = 0.95
    quantiles: tuple[float, ...] = ()
    events: tuple[tuple[float | None, float | None], ...] = ()
    targets: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the columns beside mean, std, low and high."""
        quantiles = [f"quantile_{level:g}" for level in self.quantiles]
        return [*quantiles, *(_event_name(*event) for event in self.events)]


def parse_asked(
    level: float,
    quantiles: str | None,
    above: list[float] | None,
    below: list[float] | None,
    between: list[str] | None,
    targets: list[str] | None = None,
) -> Asked:
    """What the options ask for.

    Raises
    ------
    ValueError
        That names the option which is wrong.

    Examples
    --------
    >>> parse_asked(0.9, "0.1, 0.9", [140.0], None, ["90,140"]).events
    ((140.0, None), (90.0, 140.0))
    """
    if not 0 < level < 1:
        raise ValueError(f"--level must lie between 0 and 1, such as 0.95; got {level:g}")
    levels = _numbers("--quantiles", quantiles, "0.05,0.5,0.95") if quantiles is not None else []
    if outside := [found for found in levels if not 0 < found < 1]:
        raise ValueError(f"--quantiles must lie between 0 and 1; got {outside[0]:g}")
    events: list[tuple[float | None, float | None]] = [(value, None) for value in above or []]
    events += [(None, value) for value in below or []]
    for text in between or []:
        ends = _numbers("--between", text, "90,140")
        if len(ends) != 2 or not ends[0] < ends[1]:
            raise ValueError(f"--between takes two numbers that go up, such as 90,140; got {text}")
        events.append((ends[0], ends[1]))
    for event in events:
        thresholds(*event)
    wanted = (word.strip() for text in targets or [] for word in text.split(","))
    return Asked(
        level,
        tuple(dict.fromkeys(levels)),
        tuple(dict.fromkeys(events)),
        tuple(dict.fromkeys(wanted)),
    )


def _numbers(option: str, text: str, example: str) -> list[float]:
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} takes numbers, such as {example}; got {text!r}") from None


def _event_name(above: float | None, below: float | None) -> str:
    if above is not None and below is not None:
        return f"probability_{above:.12g}_to_{below:.12g}"
    return f"probability_above_{above:.12g}" if below is None else f"probability_below_{below:.12g}"


def predictions(
    model: Any,
    inputs: "pd.DataFrame",
    targets: list[str],
    asked: Asked,
    noise: "np.ndarray | None" = None,
) -> "dict[str, np.ndarray]":
    """Return the new columns. With several targets their names come first: `y_mean`, `y_std`, …

    Parameters
    ----------
    model
        A fitted estimator.
    inputs
        Its inputs.
    targets
        Names of its targets.
    asked
        What is to be predicted of numbers.
    noise
        Standard deviations of the rows' noise, where it is known.
    """
    import numpy as np

    if model.TASK == "classification":
        probabilities = model.predict_proba(inputs)
        found = {"class": model.classes_[probabilities.argmax(axis=1)]}
        for name, column in zip(model.classes_, probabilities.T, strict=True):
            found[f"probability_{name}"] = column
        return found
    known = {} if noise is None else {"noise_std": noise}
    prediction = model.predict_distribution(inputs, **known)  # all columns are of this mixture
    low, high = prediction.interval(asked.level)
    parts = {"mean": prediction.mean, "std": prediction.std, "low": low, "high": high}
    if asked.quantiles:
        found = prediction.quantiles(list(asked.quantiles))
        parts |= dict(zip(asked.names, found, strict=False))
    for event in asked.events:
        parts[_event_name(*event)] = prediction.probability(above=event[0], below=event[1])
    columns = {name: np.asarray(values, np.float64) for name, values in parts.items()}
    count = columns["mean"].shape[1]
    if count == 1:
        return {name: values[:, 0] for name, values in columns.items()}
    names = targets or [f"target{i}" for i in range(count)]
    return {
        f"{name}_{part}": values[:, i]
        for i, name in enumerate(names)
        if not asked.targets or name in asked.targets
        for part, values in columns.items()
    }


def refuse_unfit(model: Any, targets: list[str], asked: Asked) -> None:
    """Raise a `ValueError` if the model does not predict what is asked for."""
    if model.TASK == "classification" and asked.names:
        raise ValueError(
            "--quantiles, --above, --below and --between are for numbers, and the model predicts "
            f"classes: {', '.join(map(str, model.classes_))}"
        )
    if unknown := [name for name in asked.targets if name not in targets]:
        known = ", ".join(targets) or "no names of targets"
        raise ValueError(f"--target: the model has {known}; got {unknown[0]!r}")
    if asked.events and len(asked.targets or targets) > 1:
        raise ValueError(
            f"--above, --below and --between are about one target: say by --target which of "
            f"{', '.join(targets)} is meant"
        )
