"""Beliefs that have seen rows and targets (empirical Bayes), with sentences that say so."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Array, Float

from goodprior.beliefs.base import Belief
from goodprior.beliefs.context import Context, Task, default_length, number
from goodprior.beliefs.fit import fit_belief
from goodprior.beliefs.hierarchical import HierarchicalGP
from goodprior.beliefs.spec import ADJECTIVES, ParsedBelief
from goodprior.beliefs.stretched import ROWS, Stretched, fit_proportions
from goodprior.data.scaling import Scaling

MENTIONED = 6  # columns whose lengths are named
FAR = 15.0  # robust standard deviations from the median beyond which a target is an outlier


def fitted_to_rows(belief: Belief) -> ParsedBelief:
    """A belief that was fitted to the data (empirical Bayes), with a sentence that says so."""
    return ParsedBelief(
        belief, f"A Gaussian process fitted to the rows, in standard units: {belief}"
    )


def fit_to_rows(
    X: object, y: object | None, scaling: Scaling, names: Sequence[str], *, task: Task
) -> ParsedBelief:
    """The belief that explains the rows best, with a sentence that says what it has seen.

    Parameters
    ----------
    X, y
        Rows on their original scale.
    scaling, names, task
        As of `parse_belief`.

    Raises
    ------
    ValueError
        If there are no targets that are numbers.
    """
    if y is None or task != "regression":
        raise ValueError(
            'belief="fit" is fitted to targets that are numbers: give another belief to '
            + ("fit_prior, which sees no targets" if y is None else "classifiers")
        )
    fitted = fit_belief(scaling.inputs(X), _clipped(scaling.targets(y)))
    term, *trend = fitted.belief.terms
    amplitude = ", ".join(number(term.amplitude.median * std) for std in scaling.y_std)
    medians = np.array([factor.lengthscale.median for factor in term.factors])
    return ParsedBelief(
        fitted.belief,
        f"Fitted to {fitted.rows} rows, so that it has seen the targets: "
        f"{ADJECTIVES[fitted.kernel].lower()} functions that vary by about {amplitude}, over about "
        f"{_lengths_in_words(medians, scaling, names)}{', and a linear trend' if trend else ''}.",
    )


def default_for_rows(
    X: object, y: object, scaling: Scaling, names: Sequence[str], *, outputs: int
) -> ParsedBelief:
    """The default for regression: smooth, over lengths that are to each other as rows say.

    The paper's belief has one lengthscale for all columns. How much each column matters in
    comparison to the others is fitted; how smooth functions are, and how large, is not.

    Parameters
    ----------
    X, y
        Rows on their original scale.
    scaling, names, outputs
        As of `parse_belief`.
    """
    inputs, targets = scaling.inputs(X), _clipped(scaling.targets(y))
    belief = HierarchicalGP.default(inputs.shape[1], "regression", outputs)
    factors = fit_proportions(inputs, targets)
    lengths = default_length(inputs.shape[1]) / np.array(factors)
    amplitude = number(Context(scaling, names, "regression", outputs).target_std * 1.05)
    return ParsedBelief(
        Stretched(belief, factors),
        f"Smooth functions that vary by about {amplitude}, over about "
        f"{_lengths_in_words(lengths, scaling, names)}, both uncertain by a factor of three. "
        f"How much each column matters was fitted to {min(len(inputs), ROWS)} rows, "
        "so the belief has seen the targets.",
    )


def _lengths_in_words(
    lengths: Float[np.ndarray, " columns"], scaling: Scaling, names: Sequence[str]
) -> str:
    """Lengths in the columns' own units, the shortest first, and of many columns only these."""
    said = [
        f"{number(float(lengths[i] * scaling.x_std[i]))} in {names[i]}"
        for i in np.argsort(lengths, kind="stable")
    ]
    if len(said) <= MENTIONED + 1:
        return ", ".join(said)
    rest = len(said) - MENTIONED
    return f"{', '.join(said[:MENTIONED])}, and more in the other {rest} columns"


def _clipped(targets: Float[Array, "rows out"]) -> Float[np.ndarray, "rows out"]:
    """Targets, those further than `FAR` from the median moved there: one row decides nothing.

    The process that is fitted has Gaussian noise, under which such a row would be the whole signal.
    """
    found = np.asarray(targets)
    center = np.median(found, axis=0)
    spread = 1.4826 * np.median(np.abs(found - center), axis=0)
    far = np.where(spread > 0, FAR * spread, np.inf)
    return np.clip(found, center - far, center + far)
