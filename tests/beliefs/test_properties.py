"""Whatever table of numbers is given: the belief has these numbers, and its sentence says them."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodprior.beliefs import GaussianProcess
from goodprior.beliefs.spec import parse_belief
from goodprior.beliefs.table import FIELDS, TERM_KERNELS
from goodprior.beliefs.terms import SMOOTHNESS
from goodprior.beliefs.text import belief_from_text
from goodprior.data import Scaling
from tests.fuzz import NASTY

X = np.column_stack([np.linspace(0, 100, 50), np.linspace(-1, 1, 50) ** 2, np.arange(50) % 7])
NAMES = ["age", "dose", "day"]
Y = np.linspace(1000, 3000, 50)
SCALING = Scaling.fit(X, Y)
often = settings(max_examples=100, deadline=None, derandomize=True, database=None)

numbers = st.floats(0.01, 5000).map(lambda value: float(f"{value:.3g}"))
factors = st.floats(1.1, 9).map(lambda value: float(f"{value:.3g}"))
uncertain = st.tuples(numbers, factors)  # "40 x/ 2"
values = st.one_of(numbers, uncertain)


@st.composite
def tables(draw):
    """What is asked of each column that matters, of the amplitude, and the kernel."""
    ignored = draw(st.sets(st.sampled_from(NAMES), max_size=2))
    kept = [name for name in NAMES if name not in ignored]
    some = draw(st.sets(st.sampled_from(kept)))
    lengths = {name: draw(values) for name in sorted(some)}
    return lengths, draw(st.none() | values), draw(st.sampled_from(sorted(SMOOTHNESS))), ignored


def text(value):
    return f"{value[0]} x/ {value[1]}" if isinstance(value, tuple) else value


def asked(value):
    """Median and standard deviation of the logarithm."""
    return (value[0], np.log(value[1])) if isinstance(value, tuple) else (value, 0.0)


def parsed(spec):
    return parse_belief(spec, SCALING, NAMES, task="regression", outputs=1)


def numbers_of(belief, kept):
    """Of a belief in standard units: its smoothness, amplitude, and lengthscale by column."""
    if isinstance(belief, GaussianProcess):
        lengths = np.broadcast_to(belief.kernel.lengthscale, len(kept))
        amplitude = float(belief.kernel.variance) ** 0.5
        return None, (amplitude, 0.0), {c: (float(v), 0.0) for c, v in zip(kept, lengths)}  # noqa: B905
    (term,) = belief.terms
    (smoothness,) = {factor.smoothness for factor in term.factors}
    return smoothness, term.amplitude, {f.column: f.lengthscale for f in term.factors}


@often
@given(tables())
def test_a_belief_has_the_numbers_that_were_asked_for_and_says_them(table):
    lengths, amplitude, kernel, ignored = table
    spec = {"kernel": kernel, "lengthscale": {name: text(v) for name, v in lengths.items()}}
    spec |= {} if amplitude is None else {"amplitude": text(amplitude)}
    spec |= {"ignore": sorted(ignored)} if ignored else {}
    found = parsed(spec)
    kept = [i for i, name in enumerate(NAMES) if name not in ignored]
    smoothness, found_amplitude, found_lengths = numbers_of(found.belief, kept)
    assert smoothness in (None, SMOOTHNESS[kernel])
    wanted = asked(Y.std() if amplitude is None else amplitude)
    assert found_amplitude[0] * Y.std() == pytest.approx(wanted[0], rel=1e-5)
    assert found_amplitude[1] == pytest.approx(wanted[1])
    assert sorted(found_lengths) == kept
    for i in kept:
        usual = 6**0.5 * X[:, i].std()
        wanted = asked(lengths.get(NAMES[i], usual))
        assert found_lengths[i][0] * X[:, i].std() == pytest.approx(wanted[0], rel=1e-5)
        assert found_lengths[i][1] == pytest.approx(wanted[1])
    for name, value in lengths.items():
        assert f"{said(value)} in {name}" in found.sentence
    assert amplitude is None or f"vary by about {said(amplitude)}, " in found.sentence
    assert all(name in found.sentence.partition("whatever")[2] for name in ignored)


def said(value):
    middle, *factor = value if isinstance(value, tuple) else (value,)
    return f"{middle:.3g}" + "".join(f" (give or take a factor of {f:.3g})" for f in factor)


@often
@given(values, numbers, st.none() | numbers, st.none() | values)
def test_a_season_has_the_numbers_that_were_asked_for_and_says_them(
    amplitude, period, shape, decay
):
    spec = {"kernel": "periodic", "period": {"age": period}, "amplitude": text(amplitude)}
    spec |= {} if shape is None else {"lengthscale": shape}
    spec |= {} if decay is None else {"decay": text(decay)}
    found = parsed(spec)
    assert f"every {period:.3g} in age" in found.sentence
    assert f"vary by about {said(amplitude)}, " in found.sentence
    assert shape is None or f"varying over about {shape:.3g} times that" in found.sentence
    assert decay is None or f"changing over about {said(decay)} in age" in found.sentence
    (term,), unit = found.belief.terms, X[:, 0].std()
    assert term.factors[0].period == pytest.approx(period / unit)
    assert term.factors[0].lengthscale.median == (1.0 if shape is None else shape)
    changes = [factor.lengthscale for factor in term.factors[1:]]
    wanted = [] if decay is None else [asked(decay)]
    assert [(v.median * unit, v.log_std) for v in changes] == [pytest.approx(w) for w in wanted]


START = {"period": {"kernel": "periodic"}, "decay": {"kernel": "periodic", "period": {"age": 9}}}


@pytest.mark.parametrize("field", FIELDS)
def test_a_value_that_makes_no_sense_is_refused_by_the_name_of_its_field(field, as_users_run_it):
    refused, unnamed = 0, []
    for value in [*NASTY, 1e-300, [1e300], "1e-40 x/ 2"]:
        if field == "kernel" and str(value) in TERM_KERNELS:
            continue
        try:
            parsed({**START.get(field, {}), field: value})
        except ValueError as error:
            refused += 1
            unnamed += [] if field in str(error) else [(value, error)]
    assert not unnamed
    assert refused > len(NASTY) / 4


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"column": []}, "column must name at least one column"),
        ({"kernel": "linear", "column": ["age"], "ignore": "age"}, "named by column and by ignore"),
        ({"kernel": "periodic", "period": {"age": 9}, "column": "dose"}, r"about \['age'\]: leave"),
        ({"kernel": "periodic", "period": {"age": 9}, "ignore": "age"}, r"about \['age'\]: leave"),
    ],
)
def test_two_fields_that_contradict_each_other_are_refused(spec, message):
    with pytest.raises(ValueError, match=message):
        parsed(spec)


letters = "ae.=+,() x/0129-"
words = st.sampled_from(["smooth", "trend", "season", "lengthscale", "amplitude", ".age", "=", "+"])


@often
@given(st.lists(words | st.sampled_from(letters), max_size=12).map("".join))
def test_any_text_is_understood_or_refused(text):
    with suppress(ValueError):
        assert isinstance(belief_from_text(text), str | dict | list)
