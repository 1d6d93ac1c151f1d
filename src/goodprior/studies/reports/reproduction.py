"""One Markdown page on all studies: what was run, and how it compares. Written by code only.

Explanations that only people can give stand in `results/<study>/notes.md` and are taken over.
"""

from pathlib import Path

import pandas as pd

from goodprior import html
from goodprior.studies.catalogue import MODULES, study
from goodprior.studies.engine.store import Store
from goodprior.studies.reports.report import Report, gather, introduction
from goodprior.studies.reports.sections import WINS

HEAD = """# Reproduction

What of the paper has been run again with this package, cell by cell. This page is written by
`goodprior study reproduction` from `results/`; numbers in its tables are never typed, the remarks
above them are. `goodprior study report STUDY` writes the report of one study, with all metrics,
settings, versions and run times, to `results/<study>/report.html`.
"""


def page(results: Path) -> str:
    """Return the page for a folder with one store per study."""
    studies = {name: study(name) for name in MODULES}
    reports = {
        name: gather(one, Store(results / name, one.reuses)) for name, one in studies.items()
    }
    parts = [_part(report, results) for report in reports.values()]
    return "\n".join([HEAD, _overview(reports), _overall(reports), *parts])


def _overview(reports: dict[str, Report]) -> str:
    names = ("study", "the paper's", "preset", "jobs finished", "of them with a matched prior")
    lines = [f"| {' | '.join(names)} |", "| --- " * len(names) + "|"]
    for name, report in reports.items():
        preset = report.preset if len(report.rows) else "not run"
        anchor = f"[{name}](#{name})"
        done = f"{report.done} of {report.planned}"
        cells = (anchor, report.study.shows, preset, done, _matched(report.rows))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _matched(rows: pd.DataFrame) -> str:
    """How many jobs matched a prior, by each distance."""
    if "distance" not in rows:
        return ""
    counts = rows["distance"].value_counts()
    names = {"wasserstein": "critic"}
    return ", ".join(f"{count} by {names.get(str(d), d)}" for d, count in counts.items())


def _overall(reports: dict[str, Report]) -> str:
    """In how many data sets the matched priors do better: one table over all that was run."""
    found = [
        table.assign(study=name, metric=caption.removesuffix(WINS), matching=section.title)
        for name, report in reports.items()
        for section in report.sections
        for caption, table in section.tables
        if caption.endswith(WINS)
    ]
    if not found:
        return "No pair of methods has been run on common splits yet.\n"
    table = pd.concat(found, ignore_index=True)
    first = ["study", "matching", "metric"]
    table = table[[*first, *table.columns.drop(first)]]
    words = (
        "In how many data sets the first of a pair of methods is better, by the mean of paired "
        "differences over splits; beyond two standard errors of that mean; and in the paper's "
        "means, over the same data sets:\n"
    )
    return f"{words}\n{markdown_table(table)}\n"


def _part(report: Report, results: Path) -> str:
    name = report.study.name
    lines = [f"## {name}\n", f"{report.study.title}: the paper's {report.study.shows}.\n"]
    lines += (
        [f"{line}\n" for line in introduction(report)]
        if len(report.rows)
        else [f"Not run. To run it: `{report.missing}`\n"]
    )
    notes = results / name / "notes.md"
    if notes.exists():
        lines.append(notes.read_text(encoding="utf-8").strip() + "\n")
    for section in report.sections[:-1]:  # without settings and versions, which the report has
        lines.append(f"### {section.title}\n")
        for caption, table in section.tables:
            lines += [f"{caption}\n", markdown_table(table) + "\n"]
    return "\n".join(lines)


def markdown_table(table: pd.DataFrame) -> str:
    """Return the table in Markdown.

    >>> print(markdown_table(pd.DataFrame({"method": ["FG"], "ours": [2.51234]})))
    | method | ours |
    | --- | --- |
    | FG | 2.512 |
    """
    names = [html.heading(column) for column in table.columns]
    lines = [names, ["---"] * len(names)]
    lines += [[html.cell(value) for value in row] for row in table.itertuples(index=False)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
