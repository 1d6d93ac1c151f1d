"""The pages on the reproduction: one to see in a minute, and one for each study. Written by code.

What only people can say stands in `results/`: verdicts in `claims.toml`, deviations from the paper
in `deviations.md`, and explanations in each study's `notes.md`.
"""

from pathlib import Path

import pandas as pd

from goodprior import html
from goodprior.studies.catalogue import MODULES, study
from goodprior.studies.engine.store import Result, Store
from goodprior.studies.engine.study import Study
from goodprior.studies.experiments import map as maximum
from goodprior.studies.protocols import tables
from goodprior.studies.reports import claims
from goodprior.studies.reports.compare import MAX_RHAT, converged
from goodprior.studies.reports.printed import printed_cells
from goodprior.studies.reports.report import Report, divide, frame, gather, introduction

HEAD = """# Reproduction

Written by `goodprior study reproduction` from `results/`: numbers are computed, verdicts and
reasons are typed. A claim *holds* if its direction was seen beyond chance in converged runs of the
paper's protocol, *in part* if in some of its cells or by another way of matching; it is *not seen*
if such runs speak against it, and *undecided* otherwise.
"""
# Figures that share a study: their data sets, and the methods that are theirs alone.
PARTS = {
    "map": {
        "figure 17": (tables.CLASSIFICATION, maximum.METHODS[:3]),
        "figure 19": (tables.REGRESSION, maximum.METHODS[:3]),
    },
    "convergence": {
        "figure 22": (tables.REGRESSION, ()),
        "figure 23": (tables.CLASSIFICATION, ()),
    },
}


def write_pages(results: Path, folder: Path) -> list[Path]:
    """Write `index.md` and a page for each study; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"index": index(results)}
    for name in MODULES:
        one = study(name)
        pages[name] = study_page(gather(one, Store(results / name, one.reuses)))
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return [folder / f"{name}.md" for name in pages]


def index(results: Path) -> str:
    """Return the page to see in a minute: six sentences, claims, coverage and deviations."""
    deviations = results / "deviations.md"
    parts = [
        HEAD,
        "\n".join(f"{i}. {sentence}" for i, sentence in enumerate(sentences(results), 1)) + "\n",
        "## The paper's claims\n",
        markdown_table(claims.table(results)) + "\n",
        "## What of the paper has been run\n",
        "Cells are combinations of data set, network and method; a cell is whole with all of the "
        "paper's splits. Jobs by the critic are the paper's own protocol (or match nothing).\n",
        markdown_table(coverage(results)) + "\n",
        deviations.read_text(encoding="utf-8") if deviations.exists() else "",
    ]
    return "\n".join(parts)


def sentences(results: Path) -> list[str]:
    """Return the six things to know first."""
    stored: dict[str, Result] = {}
    for name in MODULES:
        stored |= Store(results / name).results()
    current, old, _ = divide(stored)
    rows, before = frame(current), frame(old)
    ways = rows.get("distance", pd.Series(dtype=object)).value_counts()
    typed = pd.Series([claim.verdict for claim in claims.read_claims(results)], dtype=object)
    verdicts = ", ".join(f"{n} {verdict}" for verdict, n in typed.value_counts().items())
    made = [r.provenance for r in current.values() if r.provenance]
    printed = printed_cells(results)[["cells", "whole", "begun"]].sum()
    cpus = ", ".join(sorted({p["cpu"] for p in made})) or "not recorded"
    return [
        f"Of the {len(typed)} claims below: {verdicts or 'none is listed'}.",
        f"{len(current)} rows count, {int(ways.get('wasserstein', 0))} of them with a prior "
        f"matched by the paper's critic and {int(ways.get('energy', 0))} by the energy distance; "
        f"{len(old)} older rows are superseded: kept, marked, and used only where a claim says so.",
        f"Of the {printed['cells']} numbers in the paper's tables, {printed['begun']} have ours "
        f"beside them by the paper's protocol, {printed['whole']} of these on all splits.",
        f"R-hat is above {MAX_RHAT} (or unknown) in {_restless(rows)} of the rows with chains that "
        f"count, and in {_restless(before)} of the superseded ones; such cells are marked and "
        "decide nothing.",
        f"Rows that count were made on: {cpus} ({len(current) - len(made)} without a record of "
        "commit, machine and data).",
        "Intervals are Student's, of 95 %, over common splits or over data sets, one by one: of "
        "twenty that should contain the truth one does not.",
    ]


def _restless(rows: pd.DataFrame) -> str:
    if "burn_in" not in rows:
        return "0 of 0"
    chains = rows[rows["burn_in"].notna()]
    return f"{int((~converged(chains)).sum())} of {len(chains)}"


def coverage(results: Path) -> pd.DataFrame:
    """Return for each table and figure of the paper how much of it has been run."""
    found = []
    for name in MODULES:
        one = study(name)
        current, old, _ = divide(Store(results / name, one.reuses).results())
        own = len(current) + len(old) if one.run else None
        for shows, (datasets, methods) in PARTS.get(name, {one.words("shows"): ((), ())}).items():
            counts = _counts(one, datasets, methods, set(current), set(old))
            counts |= {"all stored rows, with the quick preset's": own}
            found.append({"the paper's": shows, "study": f"[{name}]({name}.md)", **counts})
    return pd.DataFrame(found).astype(object)


def _counts(
    one: Study,
    datasets: tuple[str, ...],
    methods: tuple[str, ...],
    current: set[str],
    old: set[str],
) -> dict[str, str | int | None]:
    """Cells and jobs of the paper's preset, by its distance and by the energy distance."""
    cells: dict[tuple[object, ...], list[bool]] = {}
    jobs = [one.jobs(one.choose("paper", distance=d)) for d in ("wasserstein", "energy")]
    critic = energy = superseded = 0
    for job, other in zip(*jobs, strict=True):
        settings = job.settings
        if datasets and settings["dataset"] not in datasets:
            continue
        if methods and settings["method"] not in methods:
            continue
        done = job.hash in current
        cell = tuple((k, str(v)) for k, v in settings.items() if k not in ("split", "seed"))
        cells.setdefault(cell, []).append(done)
        critic += done
        energy += not done and other.hash in current
        superseded += not done and bool({job.hash, other.hash} & old)
    whole, touched = (sum(map(how, cells.values())) for how in (all, any))
    return {
        "cells whole / begun / all": f"{whole} / {touched} / {len(cells)}",
        "jobs by the paper's protocol": f"{critic} of {sum(map(len, cells.values()))}",
        "by the energy distance": energy,
        "superseded": superseded,
    }


def study_page(report: Report) -> str:
    """Return the page of one study: what was run, its notes, and all tables."""
    lines = [
        f"# {report.study.name}\n",
        f"{report.study.words('title')}: the paper's {report.study.words('shows')}.\n",
        *(f"{line}\n" for line in introduction(report)),
        report.notes + "\n",
    ]
    for section in report.sections:
        lines.append(f"## {section.title}\n")
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
