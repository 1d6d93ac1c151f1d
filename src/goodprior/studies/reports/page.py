"""A report as one HTML page that needs nothing else, and tables in HTML and Markdown."""

import base64
import html
import io
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from goodprior.studies.reports.report import Report

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em;
       color: #1a1a1a; background: #fff; }
table { border-collapse: collapse; margin: .3em 0 1.5em; font-size: 13px; }
caption { text-align: left; font-weight: 600; padding: .4em 0; }
th, td { padding: .15em .7em; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
tr.differs td { background: #fdf0dc; }
img { max-width: 100%; }
.wide { overflow-x: auto; }
"""


def png(figure: Figure) -> bytes:
    """The figure's PNG; the same figure gives the same bytes."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue()


def html_page(report: "Report", pictures: dict[int, bytes]) -> str:
    """The whole page; `pictures` are the figures' PNG by their identity."""
    study = report.study
    parts = [f"<h1>{safe(study.title)}</h1>", f"<p>The paper's {safe(study.shows)}.</p>"]
    parts += [f"<p>{safe(line)}</p>" for line in introduction(report)]
    for section in report.sections:
        parts.append(f"<h2>{safe(section.title)}</h2>")
        for name, figure in section.figures.items():
            parts.append(image(name, pictures[id(figure)]))
        parts += [html_table(caption, table) for caption, table in section.tables]
    return whole_page(study.name, parts)


def whole_page(name: str, parts: Sequence[str]) -> str:
    """A page with its style, from parts that are HTML already."""
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>goodprior: {safe(name)}</title><style>{STYLE}</style></head>\n"
        f"<body>\n{body}\n</body></html>\n"
    )


def image(name: str, data: bytes) -> str:
    """A PNG inside the page."""
    packed = base64.b64encode(data).decode()
    return f'<img alt="{safe(name)}" src="data:image/png;base64,{packed}">'


def introduction(report: "Report") -> list[str]:
    """What was run, what was cut, how to read the tables and what is still to run."""
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


def html_table(caption: str, table: pd.DataFrame) -> str:
    """A table with its caption; rows that differ from the paper are shaded."""
    head = "".join(f"<th>{safe(_name(c))}</th>" for c in table.columns)
    lines = []
    for values in table.itertuples(index=False):
        row = dict(zip(table.columns, values, strict=True))
        mark = ' class="differs"' if row.get("differs") is True else ""
        cells = "".join(f"<td>{safe(text(value))}</td>" for value in values)
        lines.append(f"<tr{mark}>{cells}</tr>")
    rows = "\n".join(lines)
    return (
        f'<div class="wide"><table><caption>{safe(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def markdown_table(table: pd.DataFrame) -> str:
    """The same in Markdown.

    >>> print(markdown_table(pd.DataFrame({"method": ["FG"], "ours": [2.51234]})))
    | method | ours |
    | --- | --- |
    | FG | 2.512 |
    """
    names = [_name(column) for column in table.columns]
    lines = [names, ["---"] * len(names)]
    lines += [[text(value) for value in row] for row in table.itertuples(index=False)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def text(value: Any) -> str:
    """A cell: four digits, nothing for what is missing, a mark for True.

    >>> text(0.123456), text(12345.6), text(float("nan")), text(True), text(3.0)
    ('0.1235', '12346', '', '≠', '3')
    """
    if isinstance(value, bool) or type(value).__name__ == "bool":
        return "≠" if value else ""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def _name(column: object) -> str:
    return str(column).replace("_", " ")


def safe(words: str) -> str:
    """Escaped, with what stands between backticks as code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", html.escape(words))
