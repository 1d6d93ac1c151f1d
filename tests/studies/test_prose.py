"""Numbers that people have typed into notes, claims and deviations are those of the rows."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from goodprior.studies import paper
from goodprior.studies.catalogue import study
from goodprior.studies.engine.store import Store
from goodprior.studies.protocols import tables
from goodprior.studies.reports import claims
from goodprior.studies.reports.report import frame

RESULTS = Path(__file__).parents[2] / "results"
NOTES = sorted(RESULTS.glob("*/notes.md"))
NUMBER = re.compile(r"(?<![\w.,-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|\.\d| %)")
DATASETS = (*tables.REGRESSION, *tables.CLASSIFICATION)
CELLS = ("dataset", "network", "depth", "method", "sampler", "distance", "rows", "superseded")
# What no row has: steps, rates, sizes and levels of the protocols and of the paper.
PROTOCOL = {
    "cifar10": {"50"},  # steps of four jobs that only show that they run
    "class-priors": {"255"},
    "convergence": {"64"},
    "hmc": {"200"},
    "regression-1d": {"0.02"},
    "small-data": {"255", "6,000"},
    "uci-classification": {"35,000"},
    "uci-regression": {"0.01"},
    "joint-vs-separate": {"0.01", "200"},
}


def _numbers(value):
    """All numbers in a row, in its lists as well, and how long those are."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [len(value), *(number for entry in value for number in _numbers(entry))]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


@cache
def _stored(name):
    return Store(RESULTS / name, study(name).reuses).results()


def _known(name, text):
    """The numbers of the study's rows on the data sets that the text names, or of all.

    With their means over splits, their counts, the steps of their chains, and the paper's numbers.
    """
    named = _datasets(text)
    stored = _stored(name)
    about = {k: r for k, r in stored.items() if r.settings.get("dataset") in named}
    results, every = about or stored, frame(stored)
    numbers = [n for r in results.values() for n in _numbers([dict(r.settings), dict(r.row)])]
    numbers += [len(every), (every["superseded"]).sum(), (~every["superseded"]).sum()]
    rows = frame(results)
    if len(rows):
        groups = rows.groupby([c for c in CELLS if c in rows], dropna=False)
        numbers += groups.mean(numeric_only=True).to_numpy().ravel().tolist()
        numbers += [*groups.size(), *(rows["seconds"] / 60)]
    if {"burn_in", "draws", "thinning"} <= set(rows):
        numbers += (rows["burn_in"] + rows["draws"] * rows["thinning"]).tolist()
        numbers += [int(every["burn_in"].notna().sum())]
    for against in study(name).against:
        if against.table:
            theirs = paper.table(against.table)
            if named and "dataset" in theirs:
                theirs = theirs[theirs["dataset"].isin(named)]
            numbers += theirs[["mean", "spread"]].to_numpy().ravel().tolist()
    return pd.Series(numbers, dtype=float).dropna().to_numpy()


def _datasets(text):
    """The sets that a text names; the energy distance is none."""
    text = re.sub(r"energy distance", "", text)
    return [dataset for dataset in DATASETS if dataset in text]


def _typed(text):
    """Numbers with a decimal point or of two digits and more."""
    return [word for word in NUMBER.findall(text) if "." in word or len(word) > 1]


def _sentences(text):
    """Sentences, each with the data sets that its paragraph had named before if it names none."""
    for paragraph in re.split(r"\n\n|\n(?=- )", text):
        named = ""
        for sentence in re.split(r"(?<=[.:;]) (?=[A-Z0-9])|(?<=\.)\n", paragraph):
            named = " ".join(_datasets(sentence)) or named
            yield sentence, named


def _missing(name, words, about=""):
    known = _known(name, about)
    for word in words:
        digits = len(word.partition(".")[2])
        close = np.abs(known - float(word.replace(",", ""))) <= 0.5001 * 10.0**-digits
        if not (close.any() or word in PROTOCOL.get(name, ())):
            yield word


@pytest.mark.parametrize("path", NOTES, ids=lambda path: path.parent.name)
def test_numbers_in_the_notes_are_in_the_rows_of_the_sets_they_are_about(path):
    name = path.parent.name
    for sentence, about in _sentences(path.read_text(encoding="utf-8")):
        missing = list(_missing(name, _typed(sentence), about))
        assert missing == [], f"{missing} of {sentence!r} in {path} are not in its rows"


def test_a_number_of_another_set_or_of_no_row_is_found_out():
    rows = frame(_stored("joint-vs-separate"))
    boston, concrete = (
        f"{rows[(rows['dataset'] == d) & (rows['method'] == 'joint')]['mmd_last'].item():.6f}"
        for d in ("boston", "concrete")
    )
    assert list(_missing("joint-vs-separate", [boston], "boston")) == []
    assert list(_missing("joint-vs-separate", [concrete], "boston")) == [concrete]
    assert list(_missing("joint-vs-separate", ["7.654"])) == ["7.654"]


def _steps(name, preset):
    settings = [job.settings for job in study(name).jobs(study(name).presets[preset])]
    return {s["burn_in"] + s["draws"] * s["thinning"] for s in settings if "draws" in s}


@pytest.mark.parametrize("claim", claims.read_claims(RESULTS), ids=lambda claim: claim.claim[:40])
def test_numbers_in_the_reasons_of_claims_are_in_the_rows(claim):
    """Shares, as in "1.5 % of the steps", are those of the quick preset's chains."""
    assert list(_missing(claim.study, _typed(claim.why.replace("0-255", "")))) == []
    for share in re.findall(r"([\d.]+) % of the paper's steps", claim.why):
        few, many = max(_steps(claim.study, "quick")), max(_steps(claim.study, "paper"))
        assert float(share) == pytest.approx(100 * few / many, abs=0.05)


def test_the_deviations_have_no_number_but_of_protocols():
    """Rates, steps, sizes and levels; a result belongs into the notes of its study."""
    known = {"0.01", "10", "100", "1,000", "20", "40", "200", "255", "256", "512", "50,000", "16"}
    assert set(_typed((RESULTS / "deviations.md").read_text(encoding="utf-8"))) <= known
