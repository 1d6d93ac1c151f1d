"""HTML pages that need no other file: Jinja2 templates in `templates/`, escaping everything."""

import base64
import io
import math
import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from matplotlib.figure import Figure

__all__ = ["cell", "heading", "inline_code", "png", "render"]


def render(template: str, **values: Any) -> str:
    """Return a page made from one of the templates.

    Parameters
    ----------
    template
        Name of a file in `templates/`.
    **values
        What the template shows. Text is escaped; tables are data frames, pictures PNG bytes.

    Examples
    --------
    >>> "<title>goodprior: &lt;b&gt;</title>" in render("page.html", name="<b>")
    True
    """
    return _TEMPLATES.get_template(template).render(**values)


def png(figure: Figure) -> bytes:
    """Return the figure as PNG; the same figure gives the same bytes."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue()


def cell(value: Any) -> str:
    """Return the text of a table's cell: four digits, nothing for what is missing, ≠ for True.

    >>> cell(0.123456), cell(12345.6), cell(float("nan")), cell(True), cell(3.0)
    ('0.1235', '12346', '', '≠', '3')
    """
    if isinstance(value, bool) or type(value).__name__ == "bool":
        return "≠" if value else ""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def heading(column: object) -> str:
    """Return a column's name as a heading.

    >>> heading("paper_spread")
    'paper spread'
    """
    return str(column).replace("_", " ")


def inline_code(text: object) -> Markup:
    """Return the text escaped, with what stands between backticks as code.

    >>> print(inline_code("a < b: `x & y`"))
    a &lt; b: <code>x &amp; y</code>
    """
    parts = re.split("`([^`]*)`", str(text))
    code = Markup("<code>{}</code>")
    return Markup("").join(
        code.format(part) if i % 2 else escape(part) for i, part in enumerate(parts)
    )


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


_TEMPLATES = Environment(
    loader=PackageLoader("goodprior.html"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters |= {"cell": cell, "heading": heading, "code": inline_code, "base64": _base64}
