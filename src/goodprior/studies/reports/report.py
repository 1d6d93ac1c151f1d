"""A study's report: our numbers, the paper's, figures, settings, versions and run times.

`gather` reads the store into a `Report`, `write` makes files of it: a self-contained HTML page, the
figures as PNG, and all rows as a tidy CSV.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from goodprior import html
from goodprior.studies.engine.store import Result, Store
from goodprior.studies.engine.study import DISTANCES, Study
from goodprior.studies.reports.sections import Section, provenance, sections


@dataclass
class Report:
    """What a study's report shows."""

    study: Study
    preset: str
    done: int  # jobs of the preset that have finished,
    planned: int  # and all of them
    rows: pd.DataFrame  # every result in the study's store, whatever its settings
    sections: list[Section]
    missing: str  # the command that would run the rest, or nothing


def gather(study: Study, store: Store, preset: str | None = None) -> Report:
    """Return the report of what has finished.

    Parameters
    ----------
    study
        The study.
    store
        Its results, and those that it reuses.
    preset
        `"paper"` or `"quick"`; by default the paper's if anything of it alone has finished.

    Returns
    -------
    Report
        Without sections where nothing has finished.
    """
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
    shown_sections = [*sections(study, rows), provenance(rows, mine)] if len(rows) else []
    missing = command if done < len(planned) else ""
    # Of the jobs of other studies only those that this one reports.
    shown = frame(mine) if study.reuses else frame(results)
    return Report(study, preset, done, len(planned), shown, shown_sections, missing)


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


def introduction(report: Report) -> list[str]:
    """Return paragraphs on what was run and cut, how to read the tables, and what is missing."""
    study = report.study
    lines = [
        f"Preset {report.preset}: {report.done} of {report.planned} jobs have finished."
        + (f" To run the rest: `{report.missing}`" if report.missing else "")
    ]
    if report.preset == "quick":
        lines.append(f"The quick preset is not the paper's protocol. It cuts: {study.cuts}.")
    if study.against:
        lines.append(
            "Spreads are standard deviations over splits. Units are differences in combined "
            "spreads, sqrt(ours² + paper²); ≠ marks cells more than one unit apart, or, where the "
            "paper prints a spread of zero, apart in its printed digits."
        )
    return [*lines, study.remarks] if study.remarks else lines


def write(report: Report, folder: Path) -> list[Path]:
    """Write the page, the pictures and the table of all rows; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = {name: f for section in report.sections for name, f in section.figures.items()}
    pictures = {name: html.png(figure) for name, figure in figures.items()}
    for name, picture in pictures.items():
        (folder / f"{name}.png").write_bytes(picture)
    page = html.render(
        "study_report.html",
        name=report.study.name,
        title=report.study.title,
        shows=report.study.shows,
        introduction=introduction(report),
        sections=report.sections,
        pictures=pictures,
    )
    (folder / "report.html").write_text(page, encoding="utf-8")
    tidy = report.rows.drop(columns=[c for c in report.rows if _is_list(report.rows[c])])
    by = [c for c in ("dataset", "depth", "method", "sampler", "split") if c in tidy]
    if by:
        tidy = tidy.sort_values(by, kind="stable")
    tidy.to_csv(folder / "rows.csv", index=False)
    return [folder / name for name in ("report.html", "rows.csv", *(f"{n}.png" for n in pictures))]


def _is_list(column: pd.Series) -> bool:
    return bool(column.map(lambda value: isinstance(value, list)).any())
