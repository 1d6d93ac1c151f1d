"""The recommendation in words: which model predicts best, and how sure that is."""

from typing import TYPE_CHECKING, Any

import numpy as np

from goodprior.evaluation.diagnostics import MAX_RHAT

if TYPE_CHECKING:
    from goodprior.comparison.result import ModelComparison

CLOSE = 0.02  # a coverage so near the level is not remarked upon, whatever its standard error
NAMES = {"regression": "NLL", "classification": "log loss"}
FOOTING = (
    "Intervals are Student's over folds, widened because folds share training rows, and each is of "
    "95 % by itself."
)


def recommend(comparison: "ModelComparison") -> str:
    """The recommendation, a line for each thing to know."""
    lines = [*_best(comparison), *_problems(comparison), *_references(comparison)]
    lines += _coverage(comparison)
    if comparison.stopped is not None:
        lines.append(f"The comparison ended early because {comparison.stopped}.")
    return "\n".join(lines)


def _best(comparison: "ModelComparison") -> list[str]:
    trusted, score = comparison.trusted, NAMES[comparison.task]
    if not trusted:
        return [
            "Nothing is recommended: no setting converged in all folds that it was fitted to, so "
            "the order of the table is provisional."
        ]
    table: Any = comparison.table
    best = comparison.best
    assert best is not None
    lowest = f"{score} {table.loc[best, 'nll']:.3g} per row"
    if len(trusted) == 1:
        return [f"Only {best} can be judged ({lowest}), so there is nothing to choose from."]
    differences = [d for d in comparison.differences if d.second in trusted]
    close = [d for d in differences if not d.decided]
    worse = [d for d in differences if d.decided]
    if close:
        names = " and ".join([best, *(d.second for d in close)])
        but = "intervals of the difference cover 0"
        if len(comparison.shared_folds) < 2:
            but = "one fold cannot say whether that is chance"
        lines = [f"Undecided between {names}: {best} has the lowest {lowest}, but {but}."]
        lines += [f"  {d.second}: {d}" for d in close]
        quickest = min([best, *(d.second for d in close)], key=lambda n: table.loc[n, "seconds"])
        lines.append(
            "  Take the one that you believe in, or the quickest, "
            f"{quickest} ({table.loc[quickest, 'seconds']:.0f} s a fit)."
        )
    else:
        lines = [f"Take {best}: {lowest}, the lowest, and no interval of a difference covers 0."]
    lines += [f"  {d.second} is worse: {d}" for d in worse]
    return [*lines, f"  {FOOTING}"]


def _problems(comparison: "ModelComparison") -> list[str]:
    """A line for each setting that is not to be trusted."""
    lines, scores = [], comparison.scores
    for name in comparison.names:
        rows = scores[scores["model"] == name]
        if not len(rows):
            lines.append(f"{name} was not reached.")
            continue
        failed = rows[rows["problem"].notna()]
        if len(failed):
            lines.append(
                f"{name} failed in {len(failed)} of {len(rows)} folds and is left out: "
                f"{failed['problem'].iloc[0]}"
            )
        if name in comparison.not_converged:
            worst = rows["rhat"].astype(float).max()
            found = f"worst R-hat {worst:.2f}" if np.isfinite(worst) else "R-hat is undefined"
            lines.append(
                f"{name} is not recommended: its chains did not converge ({found}, expected at "
                f"most {MAX_RHAT:g}), so its figures are provisional; sample longer."
            )
    return lines


def _references(comparison: "ModelComparison") -> list[str]:
    score, best = NAMES[comparison.task], comparison.best
    if best is None:
        return []
    lines = []
    for name in comparison.references:
        difference = comparison.difference(best, name)
        if difference.folds == 0:
            continue
        verdict = "perhaps as good as"
        if difference.decided:
            verdict = "worse than" if difference.mean > 0 else "better than"
        lines.append(f"Reference {name}, {verdict} {best}: {score} {difference}")
    return lines


def _coverage(comparison: "ModelComparison") -> list[str]:
    best = comparison.best
    table: Any = comparison.table
    if best is None or "coverage_95" not in table:
        return []
    share = float(table.loc[best, "coverage_95"])
    error = (0.95 * 0.05 / max(comparison.rows, 1)) ** 0.5
    if abs(share - 0.95) <= max(CLOSE, 2 * error):
        return []
    how = "narrow" if share < 0.95 else "wide"
    return [
        f"The 95 % intervals of {best} held {100 * share:.0f} % of new rows: they are too {how}."
    ]
