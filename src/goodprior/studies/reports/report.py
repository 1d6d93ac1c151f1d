"""A study's report: our numbers, the paper's, figures, settings, versions and run times.

`gather` reads the store into a `Report`, `write` makes files of it: a self-contained HTML page, the
figures as PNG, and all rows as a tidy CSV.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from goodprior.studies.engine.store import Result, Store
from goodprior.studies.engine.study import DISTANCES, Against, Study
from goodprior.studies.engine.workers import duration
from goodprior.studies.paper import table as paper_table
from goodprior.studies.protocols.methods import LABELS
from goodprior.studies.reports.compare import agreement, beside, paired, ranks, wins

WINS = ": in how many data sets the first is better"  # ends the caption of such a table
IN_WORDS = {
    "wasserstein": "Matching by the paper's critic",
    "energy": "Matching by the energy distance (this package's default)",
}


@dataclass
class Section:
    """Tables with their captions, and figures by name."""

    title: str
    tables: list[tuple[str, pd.DataFrame]] = field(default_factory=list)
    figures: dict[str, Figure] = field(default_factory=dict)


@dataclass
class Report:
    """What there is to say about a study."""

    study: Study
    preset: str
    done: int  # jobs of the preset that have finished,
    planned: int  # and all of them
    rows: pd.DataFrame  # every result in the study's own store, whatever its settings
    sections: list[Section]
    missing: str  # the command that would run the rest, or nothing


def gather(study: Study, store: Store, preset: str | None = None) -> Report:
    """Read what has finished; without a `preset`, the paper's if there is anything of it alone."""
    results = store.results()
    if not results:
        return _nothing(study, preset or "paper")
    found = [result.settings for result in results.values()]
    wanted = (preset,) if preset else ("paper", "quick")
    known = {p: study.belonging(p, found) & results.keys() for p in wanted}
    both = set.intersection(*known.values()) if preset is None else set()
    preset = next((p for p in wanted if known[p] - both), wanted[0])
    mine = {key: results[key] for key in sorted(known[preset], key=_place(study, results))}
    rows = frame(mine)
    planned = {job.hash for job in study.jobs(study.presets[preset])}
    done, command = len(planned & mine.keys()), ""
    for distance in DISTANCES:  # of the grids by either distance, the one that is further on
        choice = study.choose(preset, distance=distance)
        grid = {job.hash for job in study.jobs(choice)}
        if len(grid & mine.keys()) > done:
            done, planned = len(grid & mine.keys()), grid
            command = f" --distance {distance}"
    command = f"goodprior study run {study.name} --preset {preset}{command}"
    sections = _sections(study, rows) if len(rows) else []
    if len(rows):
        sections.append(_provenance(rows, mine))
    missing = command if done < len(planned) else ""
    shown = frame(mine) if study.homes else frame(results)  # of others' jobs only its own
    return Report(study, preset, done, len(planned), shown, sections, missing)


def _place(study: Study, results: dict[str, Result]) -> Callable[[str], list[int]]:
    """Where a result stands in tables and figures: as the paper's grid has it, then as it came."""
    most = study.presets["paper"]
    known = {
        "dataset": most.datasets,
        "network": most.networks,
        "depth": most.depths,
        "method": (*most.methods, *study.more_methods),
    }
    came = {key: i for i, key in enumerate(results)}

    def place(key: str) -> list[int]:
        settings = results[key].settings
        found = [
            names.index(settings[name]) if settings.get(name) in names else len(names)
            for name, names in known.items()
        ]
        return [*found, came[key]]

    return place


def _nothing(study: Study, preset: str) -> Report:
    planned = len(study.jobs(study.presets[preset]))
    command = f"goodprior study run {study.name} --preset {preset}"
    return Report(study, preset, 0, planned, pd.DataFrame(), [], command)


def frame(results: dict[str, Result]) -> pd.DataFrame:
    """Results as a table: settings, then what was found, then the time it took."""
    return pd.DataFrame(
        {
            **{k: v for k, v in result.settings.items() if k != "study"},
            **result.row,
            "seconds": result.seconds,
        }
        for result in results.values()
    )


def write(report: Report, folder: Path) -> list[Path]:
    """The page, the pictures and the table of all rows; returns the files."""
    from goodprior.studies.reports.page import html_page, png

    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / "report.html", folder / "rows.csv"]
    pictures: dict[int, bytes] = {}
    for section in report.sections:
        for name, figure in section.figures.items():
            path = folder / f"{name}.png"
            pictures[id(figure)] = png(figure)
            path.write_bytes(pictures[id(figure)])
            written.append(path)
    written[0].write_text(html_page(report, pictures), encoding="utf-8")
    tidy = report.rows.drop(columns=[c for c in report.rows if _is_list(report.rows[c])])
    by = [c for c in ("dataset", "depth", "method", "sampler", "split") if c in tidy]
    if by:
        tidy = tidy.sort_values(by, kind="stable")
    tidy.to_csv(written[1], index=False)
    return written


def _is_list(column: pd.Series) -> bool:
    return bool(column.map(lambda value: isinstance(value, list)).any())


def _sections(study: Study, rows: pd.DataFrame) -> list[Section]:
    """One section for each way of matching that occurs; unmatched rows belong to each."""
    if "distance" not in rows or rows["distance"].isna().all():
        return [_section(study, "Results", rows, "")]
    found = [d for d in DISTANCES if (rows["distance"] == d).any()]
    return [
        _section(
            study,
            IN_WORDS[distance],
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


def _provenance(rows: pd.DataFrame, results: dict[str, Result]) -> Section:
    """Settings, versions and run times."""
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
