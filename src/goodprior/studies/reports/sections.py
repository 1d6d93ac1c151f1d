"""The sections of a study's report: tables and figures for each way of matching, and provenance."""

from dataclasses import dataclass, field

import pandas as pd
from matplotlib.figure import Figure

from goodprior.studies.engine.clock import duration
from goodprior.studies.engine.store import Result
from goodprior.studies.engine.study import DISTANCES, Against, Study
from goodprior.studies.paper import table as paper_table
from goodprior.studies.reports.compare import (
    LEVEL,
    agreement,
    beside,
    labelled,
    paired,
    ranks,
    wins,
)

TITLES = {
    "wasserstein": "Matching by the paper's critic",
    "energy": "Matching by the energy distance (this package's default)",
}
PLACE = ("dataset", "split", "method", "depth", "seed", "study", "network", "rows", "distance")


@dataclass
class Section:
    """Tables with their captions, and figures by name."""

    title: str
    tables: list[tuple[str, pd.DataFrame]] = field(default_factory=list)
    figures: dict[str, Figure] = field(default_factory=dict)


def sections(study: Study, rows: pd.DataFrame) -> list[Section]:
    """Return a section for each way of matching that occurs; unmatched rows belong to each."""
    if "distance" not in rows or rows["distance"].isna().all():
        return [_section(study, "Results", rows, "")]
    units = rows.get("pixels", pd.Series(None, rows.index, dtype=object))
    units = units.fillna("standardised" if "network" in rows else "")
    matched = rows["distance"].notna()
    found = [
        (distance, pixels)
        for distance in DISTANCES
        for pixels in dict.fromkeys(units[rows["distance"] == distance])
    ]
    return [
        _section(
            study,
            TITLES[distance] + (f", to a belief about {pixels} pixels" if pixels else ""),
            rows[~matched | ((rows["distance"] == distance) & (units == pixels))],
            f"-{distance}{f'-{pixels}' if pixels else ''}" if len(found) > 1 else "",
        )
        for distance, pixels in found
    ]


def _section(study: Study, title: str, rows: pd.DataFrame, suffix: str) -> Section:
    section = Section(title)
    for against in study.against:
        section.tables += _tables(study, rows, against)
    columns = [c for c in study.columns if c in rows]
    groups = rows.groupby([k for k in study.keys if k in rows], sort=False, dropna=False)
    table = pd.concat([groups.size().rename("n"), groups[columns].mean(numeric_only=True)], axis=1)
    table = table.reset_index()
    if study.table is not None:
        section.tables.append((study.words("title"), study.table(rows)))
    if columns:
        means = labelled(table) if "method" in table else table
        section.tables.append(("Means over splits, all metrics", means))
    section.figures = {f"{k}{suffix}": v for k, v in study.figures(rows).items()}
    return section


def _tables(study: Study, rows: pd.DataFrame, against: Against) -> list[tuple[str, pd.DataFrame]]:
    if against.metric not in rows:
        return []
    rows = rows[rows[against.metric].notna()]
    theirs = paper_table(against.table) if against.table else pd.DataFrame()
    if "dataset" in theirs:
        rows = rows[rows["dataset"].isin(set(theirs["dataset"]))]
    if rows.empty:
        return []
    cells = beside(rows, against, study.keys)
    words = f"ours beside the paper's: {agreement(cells, rows)}"
    caption = words if against.table else "ours (the paper: figure)"
    found = [(f"{against.name}, {caption}", _shown(cells, against))]
    if "sampler" not in study.keys and cells["method"].nunique() > 1:
        average = ranks(rows, against, study.keys).dropna(how="all").reset_index()
        found.append((f"{against.name}: average ranks over data sets and depths", average))
    pairs = paired(rows, against, study.pairs)
    if len(pairs):
        better = "higher" if against.higher_is_better else "lower"
        chance = f"of {len(pairs)} intervals {(1 - LEVEL) * len(pairs):.1f} miss by chance"
        words = f"{against.name}, paired over splits ({better} is better; {chance})"
        found.append((words, _shown(pairs, against)))
        words = f"{against.name}: in how many data sets the first is better"
        found.append((words, wins(pairs, against.higher_is_better)))
    return found


def _shown(table: pd.DataFrame, against: Against) -> pd.DataFrame:
    """The table with one digit more than the paper's, and words for chains."""
    numbers = ("ours", "spread", "paper", "paper_spread", "difference", "low", "high")
    rounded = table.round(dict.fromkeys(numbers, against.decimals + 1))
    chains = table["converged"].map({True: "", False: "not converged"})
    return (
        rounded.assign(converged=chains)
        .rename(columns={"converged": "chains"})
        .drop(columns="p", errors="ignore")
    )


def provenance(rows: pd.DataFrame, results: dict[str, Result]) -> Section:
    """Return the section with settings, versions, machines and run times."""
    settings = pd.DataFrame([dict(result.settings) for result in results.values()])
    protocol = [c for c in settings if c not in PLACE and settings[c].notna().any()]
    whose = [c for c in ("dataset", "network", "method") if c in settings]
    listed = settings.groupby(protocol, sort=False, dropna=False)[whose].agg(
        lambda names: ", ".join(map(str, dict.fromkeys(names)))
    ) if protocol and whose else settings.drop_duplicates()  # fmt: skip
    made = pd.DataFrame(
        {
            "versions": ", ".join(f"{k} {v}" for k, v in result.versions.items()),
            "commit": str(result.provenance.get("commit") or "not recorded")[:10],
            "CPU": result.provenance.get("cpu", "not recorded"),
            "threads": result.provenance.get("threads"),
            "data": str(result.provenance.get("data") or "")[:10],
            "day": result.provenance.get("date", "")[:10],
        }
        for result in results.values()
    )
    by = [c for c in ("dataset", "depth", "method", "sampler") if c in rows] or ["seed"]
    times = rows.groupby(by, sort=False, dropna=False)["seconds"].agg(["count", "mean", "sum"])
    total = duration(float(rows["seconds"].sum()))
    tables = [
        ("Settings, and whose they are", listed.reset_index(drop=not (protocol and whose))),
        ("Made with", made.value_counts(dropna=False).rename("jobs").reset_index()),
        (f"Seconds of a worker: {total} in all", times.reset_index()),
    ]
    return Section("Settings, versions and run times", tables)
