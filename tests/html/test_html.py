"""Pages: whatever stands in names, settings and captions, only the templates make HTML."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from goodprior import html
from goodprior.commands.model_file import ModelFile
from goodprior.commands.report import report_page
from goodprior.data.table.encode import Columns
from goodprior.studies.catalogue import study
from goodprior.studies.engine.study import Study
from goodprior.studies.reports import report as study_report
from goodprior.studies.reports.sections import Section

HOSTILE = "<script>alert('x')</script>"
QUOTED = '" onload="alert(1)'
ESCAPED = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"


def _check(page, times):
    assert page.count(ESCAPED) == times
    assert "<script" not in page
    assert not re.search(r'<[^>]*"\s+onload=', page)
    assert not re.search(r"https?://|<link", page)


def test_a_model_report_escapes_columns_settings_and_warnings():
    frame = pd.DataFrame({HOSTILE: [1.0, 2.0], "colour": [HOSTILE, "red"]})
    settings = {"hidden": (5,), "network": HOSTILE, "prior": "fg"}
    model = SimpleNamespace(
        TASK="regression",
        method="sghmc",
        method_name="sghmc",
        prior="fg",
        prior_=None,
        belief_=SimpleNamespace(sentence=HOSTILE),
        posterior_=SimpleNamespace(chains=2, draws_per_chain=3),
        diagnostics_=SimpleNamespace(
            summary={HOSTILE: 1.0, "rhat_max": 1.5}, warnings=[HOSTILE], max_rhat=1.05, min_ess=400
        ),
        get_params=lambda deep: settings,
    )
    file = ModelFile(model, Columns.fit(frame), [HOSTILE], 2)
    pictures = {"posterior": b"PNG", "prior": b"PNG"}
    page = report_page(QUOTED, file, pictures, [HOSTILE])
    # Columns name the column and its category; then target, warning, relevance,
    # belief, figure and setting.
    _check(page.replace(ESCAPED.capitalize(), ESCAPED), times=2 + 6)
    assert page.count('<img alt="') == 2
    assert "<b>Warning:</b>" in page
    assert "worst R-hat" in page


def test_a_study_report_escapes_captions_columns_and_cells(tmp_path, monkeypatch):
    table = pd.DataFrame({HOSTILE: [HOSTILE, QUOTED], "differs": [True, False]})
    section = Section(HOSTILE, tables=[(f"`{HOSTILE}`", table)])
    said = {"title": HOSTILE, "remarks": f"{HOSTILE} `a & b`"}
    monkeypatch.setattr(Study, "words", lambda self, about: said.get(about, ""))
    rows = pd.DataFrame({"a": [1.0]})
    report = study_report.Report(study("banana"), "quick", 1, 2, rows, [section], HOSTILE, {})
    study_report.write(report, tmp_path)
    page = (tmp_path / "report.html").read_text()
    # Title, command of the introduction, remarks, section, caption, heading and cell.
    _check(page, times=7)
    assert f"<caption><code>{ESCAPED}</code></caption>" in page
    assert "<code>a &amp; b</code>" in page
    assert page.count('<tr class="differs">') == 1


def test_the_name_of_a_picture_cannot_leave_its_attribute():
    figures = {QUOTED: None}
    section = SimpleNamespace(title="", figures=figures, tables=[])
    values = {"name": "", "title": "", "shows": "", "introduction": []}
    pictures = {QUOTED: b"PNG"}
    page = html.render("study_report.html", **values, sections=[section], pictures=pictures)
    _check(page, times=0)
    assert '<img alt="&#34; onload=&#34;alert(1)" src="data:image/png;base64,UE5H">' in page


def test_what_a_template_needs_must_be_given():
    with pytest.raises(Exception, match="'name' is undefined"):
        html.render("page.html")


def test_the_same_figure_gives_the_same_bytes():
    from goodprior import plots

    def draw():
        figure = plots.new_figure(1, 1)
        figure.subplots().plot(np.arange(3))
        return html.png(figure)

    assert draw() == draw()
