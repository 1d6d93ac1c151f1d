"""Our numbers beside the paper's: cell by cell, as ranks, and pair by pair.

Intervals have 95 % and are Student's. A cell of which a chain has not converged is marked, and
counts neither for nor against anything.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from goodprior.studies.engine.study import Against
from goodprior.studies.paper import table as paper_table
from goodprior.studies.protocols.method_names import LABELS

CELLS = ("dataset", "network", "rows", "depth")  # what tells cells apart, beside the method
LEVEL = 0.95
MAX_RHAT, MIN_ESS = 1.1, 100.0  # of chains that have converged; ESS where there is one chain only
# Of all rows of a cell: the worst R-hat and effective sample size, and the middle temperature.
CHAINS = {"rhat": ("rhat_max", "max"), "ess": ("ess_min", "min"),
          "temperature": ("temperature_50", "median")}  # fmt: skip


def converged(rows: pd.DataFrame) -> pd.Series:
    """Whether the chains of each row have converged; rows without chains have nothing to.

    >>> converged(pd.DataFrame({"burn_in": [9, 9, None], "rhat_max": [1.3, 1.0, None]})).tolist()
    [False, True, True]
    """
    rhat, ess, burn_in = (
        rows.get(name, pd.Series(np.nan, rows.index)).astype(float)
        for name in ("rhat_max", "ess_min", "burn_in")
    )
    alone = rhat.isna() & (ess >= MIN_ESS)
    return (burn_in.isna() & rhat.isna()) | (rhat <= MAX_RHAT) | alone


def labelled(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the paper's names of methods."""
    return rows.assign(method=rows["method"].map(lambda m: LABELS.get(str(m), m)))


def beside(rows: pd.DataFrame, against: Against, keys: Sequence[str]) -> pd.DataFrame:
    """A row per cell: our mean and spread over splits, the paper's, and how far they are apart.

    `difference` is ours minus the paper's, `low` to `high` Welch's interval for it, as if splits
    were others than the paper's; there is none with one split, or where the paper prints no spread.
    `differs` says that it does not contain zero (that printed digits differ, where the paper prints
    a spread of zero). Chains come with R-hat, effective sample size and temperature.
    """
    rows = labelled(rows)
    rows = rows.assign(value=rows[against.metric] * against.scale, converged=converged(rows))
    chains = {name: how for name, how in CHAINS.items() if how[0] in rows}
    groups = rows.groupby(list(keys), sort=False)
    table = groups.agg(
        n=("value", "count"),
        ours=("value", "mean"),
        spread=("value", "std"),
        **chains,
        converged=("converged", "all"),
    ).reset_index()
    table = table.assign(paper=np.nan, paper_spread=np.nan)
    if against.table:
        theirs = paper_table(against.table)
        theirs = theirs.rename(columns={"mean": "paper", "spread": "paper_spread"})
        shared = [key for key in keys if key in theirs.columns]
        table = table.drop(columns=["paper", "paper_spread"]).merge(
            theirs[[*shared, "paper", "paper_spread"]], on=shared, how="left"
        )
    table["difference"] = table["ours"] - table["paper"]
    runs = [against.paper_runs(d) for d in table.get("dataset", pd.Series("", table.index))]
    half, table["p"] = _welch(table, np.array(runs, float))
    table["low"], table["high"] = table["difference"] - half, table["difference"] + half
    by_digits = (table["paper_spread"] == 0) & (table["difference"].abs() > 10.0**-against.decimals)
    apart = np.where(table["paper_spread"] == 0, by_digits, table["difference"].abs() > half)
    table["differs"] = apart & table["converged"] & table["paper"].notna()
    last = [*chains, "converged", "differs", "p"]
    return table[[*table.columns.drop(last), *last]]


def _welch(table: pd.DataFrame, runs: np.ndarray) -> tuple[pd.Series, pd.Series]:
    """Half of Welch's interval for the difference of two means, and its p value."""
    n = table["n"].where(table["n"] > 1)
    ours, theirs = table["spread"] ** 2 / n, table["paper_spread"] ** 2 / runs
    ours = ours.where(table["paper_spread"] > 0)
    error = np.sqrt(ours + theirs)
    freedom = error**4 / (ours**2 / (n - 1) + theirs**2 / (runs - 1))
    half = stats.t.ppf(0.5 + LEVEL / 2, freedom) * error
    return half, pd.Series(2 * stats.t.sf(table["difference"].abs() / error, freedom), table.index)


def t_interval(values: pd.Series) -> tuple[float, float]:
    """Student's interval for the mean of values; nothing for fewer than two.

    >>> [round(end, 2) for end in t_interval(pd.Series([1.0, 2.0, 3.0]))]
    [-0.48, 4.48]
    """
    if len(values) < 2:
        return np.nan, np.nan
    error = float(values.std(ddof=1)) / len(values) ** 0.5
    half = float(stats.t.ppf(0.5 + LEVEL / 2, len(values) - 1)) * error
    return float(values.mean()) - half, float(values.mean()) + half


def agreement(cells: pd.DataFrame, rows: pd.DataFrame) -> str:
    """How many cells agree, with the matched priors apart, and how many say nothing."""
    known = cells[cells["paper"].notna()]
    judged = known[known["converged"] & (known["p"].notna() | (known["paper_spread"] == 0))]
    words = f"{int((~judged['differs']).sum())} of {len(judged)} converged cells agree"
    if len(judged):
        words += f" ({round((1 - LEVEL) * len(judged), 1):g} would not by chance alone"
        words += f"; {len(judged) - _holm(judged['p'])} agree by Holm's correction)"
    if "distance" in rows and rows["distance"].notna().any():
        names = {LABELS.get(str(m), m) for m in rows.loc[rows["distance"].notna(), "method"]}
        matched = judged[judged["method"].isin(names)]
        words += f", of those with a matched prior {int((~matched['differs']).sum())}"
        words += f" of {len(matched)}"
    restless = int((~known["converged"]).sum())
    words += f"; {restless} have not converged" if restless else ""
    rest = len(known) - restless - len(judged)
    return words + (f"; {rest} have no spread to judge by" if rest else "")


def _holm(p: pd.Series) -> int:
    """How many hypotheses Holm's procedure rejects."""
    ordered = np.sort(p.dropna())
    passed = ordered <= (1 - LEVEL) / (len(ordered) - np.arange(len(ordered)))
    return int(np.cumprod(passed).sum())


def ranks(rows: pd.DataFrame, against: Against, keys: Sequence[str]) -> pd.DataFrame:
    """Average rank of each method over cells, by means over the splits that all of them have.

    `ours` and `paper` are ranks among the methods that the paper has, over the same `cells`. Where
    we have more methods, or the paper no numbers, `ours_among_all` is over `cells_of_all`.
    """
    table = beside(rows, against, keys)
    labels = list(dict.fromkeys(table["method"]))
    known = list(dict.fromkeys(table.loc[table["paper"].notna(), "method"]))
    found = pd.DataFrame(index=pd.Index(labels, name="method"))
    by = [key for key in CELLS if key in table.columns]

    def average(wide: pd.DataFrame) -> pd.Series:
        return wide.rank(axis=1, ascending=not against.higher_is_better).mean()

    def on_common_splits(methods: list[str]) -> pd.DataFrame:
        some = labelled(rows).query("method in @methods")
        wide = some.pivot_table(index=[*by, "split"], columns="method", values=against.metric)
        return wide.dropna().groupby(level=by).mean()

    if len(known) > 1:
        theirs = table.pivot_table(index=by, columns="method", values="paper")[known].dropna()
        ours = on_common_splits(known)
        cells = ours.index.intersection(theirs.index)
        found["ours"], found["paper"] = average(ours.loc[cells]), average(theirs.loc[cells])
        found["cells"] = pd.Series(len(cells), known)
    if len(known) < len(labels):
        ours = on_common_splits(labels)
        found["ours_among_all"], found["cells_of_all"] = average(ours), len(ours)
    return found


def paired(
    rows: pd.DataFrame, against: Against, pairs: Sequence[tuple[str, str]], by: str = "method"
) -> pd.DataFrame:
    """For each pair of methods and cell: the mean difference over common splits.

    `difference` is the first method's value minus the second's, `low` to `high` its interval over
    splits; for a metric that is better low, a negative one says that the first is better. `paper`
    is the difference of the paper's means. `converged` says whether all chains behind it have.
    """
    cells = [key for key in (*CELLS, "method") if key in rows and key != by]
    rows = rows.assign(converged=converged(rows))
    found: list[dict[str, Any]] = []
    for names, part in rows.groupby(cells or (lambda _: 0), sort=False):
        cell = dict(zip(cells, names if cells else (), strict=True))
        wide = part.pivot_table(index="split", columns=by, values=against.metric)
        for first, second in pairs:
            if first not in wide or second not in wide:
                continue
            each = (wide[first] - wide[second]).dropna() * against.scale
            if each.empty:
                continue
            used = part[part["split"].isin(each.index) & part[by].isin((first, second))]
            low, high = t_interval(each)
            labels = [LABELS.get(name, name) for name in (first, second)]
            found.append(
                {
                    "pair": " minus ".join(labels),
                    **cell,
                    "n": len(each),
                    "difference": each.mean(),
                    "low": low,
                    "high": high,
                    "paper": _papers_difference(against, cell, by, labels),
                    "rhat": used["rhat_max"].max() if "rhat_max" in used else np.nan,
                    "converged": bool(used["converged"].all()),
                }
            )
    return pd.DataFrame(found)


def _papers_difference(against: Against, cell: dict[str, Any], by: str, labels: list[str]) -> float:
    if not against.table:
        return np.nan
    theirs = paper_table(against.table)
    for key, value in cell.items():
        if key in theirs:
            theirs = theirs[theirs[key] == LABELS.get(value, value)]
    means = theirs.groupby(by)["mean"].first() if by in theirs else pd.Series(dtype=float)
    return float(means.get(labels[0], np.nan)) - float(means.get(labels[1], np.nan))


def wins(table: pd.DataFrame, higher_is_better: bool = False) -> pd.DataFrame:
    """In how many converged cells the first of each pair is better: ours, clearly, the paper's.

    Clearly is by an interval without zero. Cells of the same depth are counted together.

    >>> t = pd.DataFrame({"pair": ["a"] * 2, "depth": 2, "n": [5, 10], "difference": [-1.0, -1.0],
    ...                   "low": [-1.1, -2.0], "high": [-0.9, 0.1], "paper": [-1.0, 1.0],
    ...                   "converged": True})
    >>> wins(t).values.tolist()
    [['a', 2, '5 to 10', 2, 0, 2, 1, 0, 1]]
    """
    found = []
    by = ["pair", *(["depth"] if "depth" in table else [])]
    for names, every in table.groupby(by, sort=False):
        part = every[every["converged"]]
        low, high = ("high", "low") if higher_is_better else ("low", "high")
        sign = -1.0 if higher_is_better else 1.0
        found.append(
            {
                **dict(zip(("pair", "hidden layers"), names, strict=False)),
                "splits": from_to(every["n"]),
                "data sets": len(every),
                "not converged": len(every) - len(part),
                "ours: first is better": int((sign * part["difference"] < 0).sum()),
                "clearly": _count(sign * part[high]),
                "clearly worse": _count(-sign * part[low]),
                "paper: first is better": _count(sign * part["paper"]),
            }
        )
    return pd.DataFrame(found)


def from_to(counts: pd.Series) -> str:
    """The least and the largest, or the one that all are."""
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}"


def _count(differences: pd.Series) -> int | None:
    """How many are below zero; None where nothing is known."""
    return int((differences < 0).sum()) if differences.notna().any() else None
