"""The sections of a study's report: tables and figures for each distance, and provenance."""

from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from goodprior.studies.engine.clock import duration
from goodprior.studies.engine.store import Result
from goodprior.studies.engine.study import DISTANCES, Against, Study
from goodprior.studies.paper import table as paper_table
from goodprior.studies.protocols.method_names import LABELS
from goodprior.studies.reports.compare import agreement, beside, paired, ranks, wins

WINS = ": in how many data sets the first is better"  # ends the caption of such a table
TITLES = {
    "wasserstein": "Matching by the paper's critic",
    "energy": "Matching by the energy distance (this package's default)",
}


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
    found = [d for d in DISTANCES if (rows["distance"] == d).any()]
    return [
        _section(
            study,
            TITLES[distance],
            rows[rows["distance"].isna() | (rows["distance"] == distance)],
            f"-{distance}" if len(found) > 1 else "",
        )
        for distance in found
    ]


def _section(study: Study, title: str, rows: pd.DataFrame, suffix: str) -> Section:
    section = Section(title)
    for against in study.against:
        section.tables += _tables(study, rows, against)
    columns = [c for c in study.columns if c in rows]
    keys = [k for k in study.keys if k in rows]
    means = rows.groupby(keys, sort=False, dropna=False)[columns].mean(numeric_only=True)
    count = rows.groupby(keys, sort=False, dropna=False).size().rename("n")
    table = pd.concat([count, means], axis=1).reset_index()
    if "method" in table:
        table["method"] = table["method"].map(lambda m: LABELS.get(str(m), m))
    if study.table is not None:
        section.tables.append((study.title, study.table(rows)))
    if columns:
        section.tables.append(("Means over splits, all metrics", table))
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
    found = [(f"{against.name}, {caption}", cells)]
    if "sampler" not in study.keys and cells["method"].nunique() > 1:
        average = ranks(rows, against, study.keys).dropna(how="all").reset_index()
        found.append((f"{against.name}: average ranks over data sets and depths", average))
    if study.pairs:
        pairs = paired(rows, against, study.pairs)
        if len(pairs):
            better = "higher" if against.higher_is_better else "lower"
            found.append((f"{against.name}, paired over splits ({better} is better)", pairs))
            count = wins(pairs, against.higher_is_better)
            found.append((f"{against.name}{WINS}", count))
    return found


def provenance(rows: pd.DataFrame, results: dict[str, Result]) -> Section:
    """Return the section with settings, versions and run times."""
    settings = pd.DataFrame([dict(result.settings) for result in results.values()])
    listed: list[dict[str, Any]] = []
    for name in settings.columns.drop("study", errors="ignore"):
        values = list(dict.fromkeys(settings[name].dropna()))
        listed.append({"setting": name, "values": ", ".join(map(str, values))})
    versions: dict[str, int] = {}
    for result in results.values():
        words = ", ".join(f"{k} {v}" for k, v in result.versions.items())
        versions[words] = versions.get(words, 0) + 1
    by = [c for c in ("dataset", "depth", "method", "sampler") if c in rows]
    groups = rows.groupby(by or ["seed"], sort=False, dropna=False)["seconds"]
    section = Section("Settings, versions and run times")
    section.tables = [
        ("Settings", pd.DataFrame(listed)),
        ("Versions", pd.DataFrame({"versions": versions.keys(), "jobs": versions.values()})),
    ]
    times = groups.agg(["count", "mean", "sum"]).reset_index()
    total = duration(float(rows["seconds"].sum()))
    section.tables.append((f"Seconds of a worker: {total} in all", times))
    return section
