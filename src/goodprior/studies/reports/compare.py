"""Our numbers beside the paper's: cell by cell, as ranks, and pair by pair."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from goodprior.studies.engine.study import Against
from goodprior.studies.paper import table as paper_table
from goodprior.studies.protocols.method_names import LABELS

CELLS = ("dataset", "network", "rows", "depth")  # what tells cells apart, beside the method
DISAGREES = 1.0  # combined spreads: about three standard errors for ten splits on either side


def beside(rows: pd.DataFrame, against: Against, keys: Sequence[str]) -> pd.DataFrame:
    """A row per cell: our mean and spread over splits, the paper's, and how far they are apart.

    `difference` is ours minus the paper's; `units` is the same in combined spreads,
    `sqrt(ours^2 + paper^2)`, with the paper's spread for ours where we have one split only, and
    none for the paper where its table has none. Where the paper prints a spread of zero, `units` is
    missing and `differs` goes by its printed digits.
    """
    ours = rows[[*keys, against.metric]].rename(columns={against.metric: "value"})
    ours = ours.assign(
        method=ours["method"].map(lambda m: LABELS.get(str(m), m)),
        value=ours["value"] * against.scale,
    )
    cells = ours.groupby(list(keys), sort=False)["value"].agg(
        n="count", ours="mean", spread=lambda values: values.std(ddof=1)
    )
    table = cells.reset_index().assign(paper=np.nan, paper_spread=np.nan)
    if against.table:
        theirs = paper_table(against.table)
        theirs = theirs.rename(columns={"mean": "paper", "spread": "paper_spread"})
        shared = [key for key in keys if key in theirs.columns]
        table = cells.reset_index().merge(
            theirs[[*shared, "paper", "paper_spread"]], on=shared, how="left"
        )
    table["difference"] = table["ours"] - table["paper"]
    spread = table["spread"].fillna(table["paper_spread"])
    combined = np.sqrt(spread**2 + table["paper_spread"].fillna(0) ** 2)
    printed = table["paper_spread"] != 0
    table["units"] = (table["difference"] / combined).where(printed)
    digit = 10.0**-against.decimals
    apart = np.where(printed, table["units"].abs() > DISAGREES, table["difference"].abs() > digit)
    table["differs"] = apart & table["paper"].notna()
    return table


def agreement(cells: pd.DataFrame, rows: pd.DataFrame) -> str:
    """In how many cells ours agree, with the matched priors apart, and where nothing is known."""
    known = cells["paper"].notna()
    judged = cells[known & (cells["units"].notna() | (cells["paper_spread"] == 0))]
    words = f"{int((~judged['differs']).sum())} of {len(judged)} cells agree"
    if "distance" in rows and rows["distance"].notna().any():
        names = {LABELS.get(str(m), m) for m in rows.loc[rows["distance"].notna(), "method"]}
        matched = judged[judged["method"].isin(names)]
        words += f", of those with a matched prior {int((~matched['differs']).sum())}"
        words += f" of {len(matched)}"
    if len(judged) < known.sum():
        words += f"; {int(known.sum()) - len(judged)} have no spread to judge by"
    return words


def ranks(rows: pd.DataFrame, against: Against, keys: Sequence[str]) -> pd.DataFrame:
    """Average rank of each method over cells, by means over the splits that all of them have.

    `ours` and `paper` are ranks among the methods that the paper has, over the same `cells`. Where
    we have more methods, or the paper no numbers, `ours_among_all` is over `cells_of_all`.
    """
    table = beside(rows, against, keys)
    labels = list(dict.fromkeys(table["method"]))
    known = list(dict.fromkeys(table.loc[table["paper"].notna(), "method"]))
    found = pd.DataFrame(index=pd.Index(labels, name="method"))

    def average(wide: pd.DataFrame) -> pd.Series:
        return wide.rank(axis=1, ascending=not against.higher_is_better).mean()

    if len(known) > 1:
        theirs = table.pivot_table(index=_cells(table), columns="method", values="paper")
        theirs = theirs[known].dropna()
        ours = _on_common_splits(rows, against, table, known)
        cells = ours.index.intersection(theirs.index)
        found["ours"], found["paper"] = average(ours.loc[cells]), average(theirs.loc[cells])
        found["cells"] = pd.Series(len(cells), known)
    if len(known) < len(labels):
        ours = _on_common_splits(rows, against, table, labels)
        found["ours_among_all"], found["cells_of_all"] = average(ours), len(ours)
    return found


def _on_common_splits(
    rows: pd.DataFrame, against: Against, table: pd.DataFrame, methods: list[str]
) -> pd.DataFrame:
    """Means by cell and method over the splits that all these methods have, whole cells only."""
    labelled = rows.assign(method=rows["method"].map(lambda m: LABELS.get(str(m), m)))
    labelled = labelled[labelled["method"].isin(methods)]
    by = _cells(table)
    wide = labelled.pivot_table(index=[*by, "split"], columns="method", values=against.metric)
    return wide.dropna().groupby(level=by).mean()


def _cells(table: pd.DataFrame) -> list[str]:
    return [key for key in CELLS if key in table.columns]


def paired(rows: pd.DataFrame, against: Against, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """For each pair of methods and cell: the mean difference over common splits.

    `difference` is the first method's value minus the second's, with its standard error; for a
    metric that is better low, a negative one says that the first is better. `paper` is the
    difference of the paper's means.
    """
    theirs = paper_table(against.table) if against.table else None
    found = []
    for names, part in rows.groupby(_cells(rows), sort=False):
        cell = dict(zip(_cells(rows), names, strict=True))
        wide = part.pivot_table(index="split", columns="method", values=against.metric)
        for first, second in pairs:
            if first not in wide or second not in wide:
                continue
            each = (wide[first] - wide[second]).dropna() * against.scale
            if each.empty:
                continue
            means = pd.Series(dtype=float)
            if theirs is not None:
                known = [theirs[key] == value for key, value in cell.items() if key in theirs]
                means = theirs[np.logical_and.reduce(known)].set_index("method")["mean"]
            a, b = means.get(LABELS[first]), means.get(LABELS[second])
            found.append(
                {
                    "pair": f"{LABELS[first]} minus {LABELS[second]}",
                    **cell,
                    "n": len(each),
                    "difference": each.mean(),
                    "standard_error": each.std(ddof=1) / len(each) ** 0.5,
                    "paper": np.nan if a is None or b is None else a - b,
                }
            )
    return pd.DataFrame(found)


def wins(table: pd.DataFrame, higher_is_better: bool = False) -> pd.DataFrame:
    """In how many cells the first of each pair is better: ours, beyond two errors, the paper's.

    Cells of the same depth are counted together.

    >>> t = pd.DataFrame({"pair": ["a"] * 2, "depth": 2, "n": [5, 10], "difference": [-1.0, -1.0],
    ...                   "standard_error": [0.1, 0.8], "paper": [-1.0, 1.0]})
    >>> wins(t).values.tolist()
    [['a', 2, '5 to 10', 2, 2, 1, 0, 1]]
    """
    sign = -1.0 if higher_is_better else 1.0
    rows = []
    by = ["pair", *(["depth"] if "depth" in table else [])]
    for names, part in table.groupby(by, sort=False):
        better = sign * part["difference"]
        clear = 2 * part["standard_error"]
        rows.append(
            {
                **dict(zip(("pair", "hidden layers"), names, strict=False)),
                "splits": _from_to(part["n"]),
                "data sets": len(part),
                "ours: first is better": int((better < 0).sum()),
                "by two standard errors": _count(better + clear),
                "worse by two": _count(clear - better),
                "paper: first is better": _count(sign * part["paper"]),
            }
        )
    return pd.DataFrame(rows)


def _from_to(counts: pd.Series) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}"


def _count(differences: pd.Series) -> int | None:
    """How many are below zero; None where nothing is known."""
    return int((differences < 0).sum()) if differences.notna().any() else None
