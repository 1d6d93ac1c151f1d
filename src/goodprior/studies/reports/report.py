"""A study's report: our numbers, the paper's, figures, settings, versions and run times.

`gather` reads the store into a `Report`, `write` makes files of it: a self-contained HTML page, the
figures as PNG, and all rows as a tidy CSV.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from goodprior import html
from goodprior.studies.engine.store import Job, Result, Store
from goodprior.studies.engine.study import DISTANCES, Study
from goodprior.studies.protocols.superseded import renewed
from goodprior.studies.protocols.superseded import superseded as superseded_because
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
    superseded: dict[str, int]  # reasons why stored rows no longer count, and how many
    notes: str = ""


def gather(
    study: Study, store: Store, preset: str | None = None, *, superseded: bool = False
) -> Report:
    """Return the report of what has finished.

    Parameters
    ----------
    study
        The study.
    store
        Its results, and those that it reuses.
    preset
        `"paper"` or `"quick"`; by default the paper's if anything of it alone has finished.
    superseded
        Whether rows that no longer count are reported as if they did.

    Returns
    -------
    Report
        Without sections where nothing has finished.
    """
    chosen = select(study, store, preset, superseded=superseded)
    preset, mine, results = chosen.preset, chosen.mine, chosen.results
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
    shown = rows if study.reuses else frame(results).assign(preset=chosen.presets())
    notes = store.folder / "notes.md"
    return Report(
        *(study, preset, done, len(planned), shown, shown_sections, missing, chosen.reasons),
        notes=notes.read_text(encoding="utf-8").strip() if notes.exists() else "",
    )


class Selection(NamedTuple):
    """The results of one preset, `mine`, among all that are there.

    `known` are the hashes of each preset, `reasons` why stored rows no longer count.
    """

    preset: str
    mine: dict[str, Result]
    results: dict[str, Result]
    known: dict[str, list[str]]
    reasons: dict[str, int]

    def presets(self) -> list[str]:
        """Which preset each result is of."""
        named = {key: p for p in ("quick", "paper") for key in self.known[p]}
        return [named.get(key, "other") for key in self.results]


def select(
    study: Study, store: Store, preset: str | None = None, *, superseded: bool = False
) -> Selection:
    """Return the results of a preset, in the order of its grid; for the arguments see `gather`."""
    current, old, reasons = divide(store.results())
    results = {**old, **current} if superseded else current
    found = [result.settings for result in results.values()]
    known = {
        p: [key for key in study.belonging(p, found) if key in results] for p in ("paper", "quick")
    }
    both = set(known["paper"]) & set(known["quick"])
    preset = preset or next((p for p in known if set(known[p]) - both), "paper")
    mine = {key: results[key] for key in known[preset]}
    return Selection(preset, mine, results, known, reasons)


def divide(
    results: dict[str, Result],
) -> tuple[dict[str, Result], dict[str, Result], dict[str, int]]:
    """Return the results that count, those that no longer do, and why, with how many.

    The latter are by the hash that their job would have now.
    """
    current: dict[str, Result] = {}
    old: dict[str, Result] = {}
    reasons: dict[str, int] = {}
    for key, result in results.items():
        if reason := superseded_because(result.settings):
            old[Job(renewed(result.settings)).hash] = result
            reasons[reason] = reasons.get(reason, 0) + 1
        else:
            current[key] = result
    return current, old, reasons


def frame(results: dict[str, Result]) -> pd.DataFrame:
    """Results as a table: settings, then what was found, then the time it took."""
    return pd.DataFrame(
        {
            **{k: v for k, v in result.settings.items() if k != "study"},
            **result.row,
            "seconds": result.seconds,
            "superseded": superseded_because(result.settings) is not None,
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
        lines.append(
            f"The quick preset is not the paper's protocol. It cuts: {study.words('cuts')}."
        )
    for reason, count in report.superseded.items():
        lines.append(
            f"{count} stored rows are superseded and counted nowhere: {reason}. "
            f"`goodprior study report {study.name} --superseded` shows them."
        )
    if study.against:
        lines.append(
            "Spreads are standard deviations over splits. Low to high is Welch's 95 % interval for "
            "ours minus the paper's, with the paper's splits taken for others than ours; ≠ marks "
            "cells where it does not contain zero (or where digits differ, with a printed spread "
            "of zero). R-hat is the worst of a cell's jobs, ESS the least, the temperature that of "
            "the median weight of the median job. Cells with an R-hat above 1.1 (of one chain: an "
            "ESS below 100) have not converged, and count neither for nor against agreement."
        )
    return [*lines, *filter(None, [study.words("remarks")])]


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
        title=report.study.words("title"),
        shows=report.study.words("shows"),
        introduction=[*introduction(report), *re.split(r"\n\n|\n(?=- )", report.notes)],
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
