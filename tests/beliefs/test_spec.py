import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.beliefs import GaussianProcess, HierarchicalGP, matern32, rbf
from goodprior.beliefs.spec import amplitudes_of, parse_belief
from goodprior.data import Scaling

X = np.column_stack([np.linspace(0, 100, 50), np.linspace(-1, 1, 50) ** 2])
Y = np.linspace(1000, 3000, 50)
SCALING = Scaling.fit(X, Y)
NAMES = ["age", "dose"]


def parsed(belief, **more):
    settings = {"task": "regression", "outputs": 1, **more}
    return parse_belief(belief, SCALING, NAMES, **settings)


def test_a_table_in_the_columns_units_is_the_same_belief_in_standard_units():
    found = parsed({"lengthscale": {"age": 20, "dose": 0.5}, "amplitude": 400})
    x = SCALING.inputs(X)
    lengths = np.array([20, 0.5]) / X.std(axis=0)
    expected = rbf(jnp.asarray(lengths), (400 / Y.std()) ** 2)(x, x)
    np.testing.assert_allclose(found.belief.kernel(x, x), expected, rtol=1e-4)
    assert (
        str(found) == "Smooth functions that vary by about 400, over about 20 in age, 0.5 in dose."
    )


def test_columns_that_are_not_named_get_the_usual_lengthscale():
    found = parsed({"lengthscale": {"age": 20}})
    assert f"{2 * X[:, 1].std():.3g} in dose" in str(found)


def test_presets_are_hierarchical_beliefs():
    smooth, rough = parsed("smooth"), parsed("rough")
    assert isinstance(smooth.belief, HierarchicalGP)
    assert isinstance(rough.belief, HierarchicalGP)
    assert (smooth.belief.kernel, rough.belief.kernel) == ("rbf", "matern32")
    assert str(parsed(None)) == str(smooth)
    assert "logits" in str(parsed("smooth", task="classification"))


def test_a_periodic_belief_repeats_itself():
    one = Scaling.fit(X[:, :1], Y)
    found = parse_belief(
        {"kernel": "periodic", "period": 12}, one, ["month"], task="regression", outputs=1
    )
    x = one.inputs(np.array([[3.0], [15.0], [27.0]]))
    draws = found.belief.sample(jax.random.key(0), x, 50)[..., 0]
    np.testing.assert_allclose(draws[:, 0], draws[:, 1], atol=0.02)
    np.testing.assert_allclose(draws[:, 0], draws[:, 2], atol=0.02)
    assert "every 12 in month" in str(found)


def test_a_period_needs_no_kernel_and_may_be_a_word_for_dates():
    one = Scaling.fit(X[:, :1], Y)
    settings = {"task": "regression", "outputs": 1}
    named = parse_belief({"period": {"day": "week"}}, one, ["day"], dates=["day"], **settings)
    number = parse_belief({"kernel": "periodic", "period": 7}, one, ["day"], **settings)
    assert repr(named) == repr(number)
    assert repr(named.belief) == repr(number.belief)
    assert "every 7 in day" in str(named)


def test_a_category_is_all_of_its_levels():
    rows = np.column_stack([np.tile([1, 0], 25), np.tile([0, 1], 25), X[:, 0]])
    scaling, names = Scaling.fit(rows, Y), ["kind=u", "kind=v", "x"]
    settings = {"task": "regression", "outputs": 1}
    ignored = parse_belief({"ignore": "kind"}, scaling, names, **settings)
    assert "whatever kind=u, kind=v may be" in str(ignored)
    assert str(parse_belief({"column": "x"}, scaling, names, **settings)) == str(ignored)
    long = parse_belief({"lengthscale": {"kind": 9}}, scaling, names, **settings)
    assert "9 in kind=u, 9 in kind=v" in str(long)
    with pytest.raises(ValueError, match="monotone names the category 'kind': name one of its"):
        parse_belief({"monotone": {"kind": "increasing"}}, scaling, names, **settings)


@pytest.mark.parametrize("lengthscale", [[1.0], {"month": 1.0}])
def test_the_lengthscale_of_a_periodic_belief_is_one_number(lengthscale):
    spec = {"kernel": "periodic", "period": 12, "lengthscale": lengthscale}
    with pytest.raises(ValueError, match="must be one number, relative to the period; got"):
        parse_belief(spec, Scaling.fit(X[:, :1], Y), ["month"], task="regression", outputs=1)


def test_an_object_is_taken_as_it_is():
    belief = GaussianProcess(rbf(0.3))
    assert parsed(belief).belief is belief


@pytest.mark.parametrize(
    ("belief", "message"),
    [
        ("bumpy", "smooth"),
        ("periodic", "one column"),
        (42, "belief must be"),
        ({"length": 1.0}, "may have"),
        ({"lengthscale": {"height": 1.0}}, "height"),
        ({"lengthscale": [1.0, 2.0, 3.0]}, "2 columns; got 3"),
        ({"period": 3.0}, "a periodic belief is for one column, and there are 2"),
        (
            {"kernel": "rbf", "period": 3.0},
            "period is for the kernel periodic only, and the kernel",
        ),
        ({"period": {"age": "year"}}, "'year', which is for columns of dates, and age has numbers"),
        ({"period": {"age": "eon"}}, "period of age must be a number or one of day, week, month"),
        ({"lengthscale": -1.0}, "lengthscale of age"),
        ({"amplitude": 0}, "amplitude"),
        ({"amplitude": -3.0}, "amplitude must be .* got -3"),
        ({"amplitude": [1.0, 2.0]}, "one for each of the 1 targets; got 2"),
        ({"lengthscale": {"agee": 40}}, "did you mean 'age'"),
        ({"lengthscale": {"age": "forty x/ 2"}}, "lengthscale of age must be a number, or a text"),
        ({"lengthscale": "40 x/ 0.5"}, "must be above 1"),
        ({"smoothness": 2}, "smoothness must be one of"),
        ({"smoothness": 1.5, "kernel": "rbf"}, "contradict each other"),
        ({"ignore": ["age", "dose"]}, "ignore names all columns"),
        ({"ignore": "agee"}, "did you mean 'age'"),
        ({"ignore": "age", "lengthscale": {"age": 3.0}}, "but are ignored"),
        (
            {"kernel": "periodic", "period": {"age": 1.0, "dose": 2.0}},
            "a period in one column, and here are 2",
        ),
        ({"kernel": "linear", "lengthscale": 2.0}, "a linear trend has no lengthscale"),
        (["trend", "trend"], "the same term twice"),
        (["trend", 3], "a sum is made of words and tables; got 3"),
        (["trend", {"kernel": "rational_quadratic"}], "cannot be a part of a sum"),
        ({"kernel": "cosine"}, "kernel"),
        ({"monotone": {"agee": "increasing"}}, "did you mean 'age'"),
        ({"monotone": {"age": "up"}}, "monotone in age must be one of decreasing, increasing; got"),
        ({"monotone": ["age", "dose"]}, "monotone must name one column"),
        ({"monotone": "age", "ignore": "age"}, "which is ignored"),
        ({"monotone": "age", "kernel": "matern32"}, "a monotone belief is smooth"),
        ({"monotone": "age", "amplitude": "3 x/ 2"}, "known amplitude and lengthscales"),
        (["trend", {"monotone": "age"}], "need not be monotone"),
        ({"curves": [1.0, 2.0]}, "a column of points, at least one curve and 5 rows; got 1 col"),
        ({"curves": {"age": list("abcde"), "a": range(5)}}, "must be a table of numbers"),
        ({"curves": {"age": range(6), "b": [0.0] * 5 + [np.nan]}}, "these are not: \\['b'\\]"),
        ({"curves": {"age": range(6), "b": [0.0] * 6}}, "must vary"),
        ({"curves": {"height": range(6), "b": range(6)}}, "curves names 'height'"),
        ({"curves": {"age": range(6)}, "amplitude": 3.0}, "amplitude would be learned from curves"),
        ({"levels": "color"}, "levels must name categories"),
        ({"levels": {"age": "similar"}}, "a column of numbers: give it a lengthscale"),
    ],
)
def test_what_cannot_be_parsed_is_named(belief, message):
    with pytest.raises(ValueError, match=message):
        parsed(belief)


def test_an_uncertain_lengthscale_and_a_column_that_does_not_matter():
    found = parsed({"lengthscale": {"age": "40 x/ 2"}, "ignore": "dose", "smoothness": 2.5})
    assert str(found).startswith("Fairly smooth functions that vary by about")
    assert "over about 40 (give or take a factor of 2) in age, whatever dose may be." in str(found)
    ((term,),) = (found.belief.terms,)
    (factor,) = term.factors
    assert (factor.column, factor.smoothness) == (0, 2.5)
    assert factor.lengthscale == pytest.approx((40 / X[:, 0].std(), np.log(2)))


def test_a_trend_and_a_season_add_up():
    season = {"kernel": "periodic", "period": {"age": 12}, "amplitude": 100, "decay": 50}
    found = parsed([{"kernel": "linear", "column": "age", "amplitude": 200}, season])
    trend, season = found.belief.terms
    assert trend.times == (0,)
    assert trend.amplitude.median == pytest.approx(200 / Y.std())
    unit = X[:, 0].std()
    assert season.factors[0].period == pytest.approx(12 / unit)
    assert season.factors[1].lengthscale.median == pytest.approx(50 / unit)
    assert str(found).startswith("The sum of linear functions that vary by about 200, over one")
    assert "and repeat themselves every 12 in age, changing over about 50 in age" in str(found)


def test_a_smooth_part_of_a_sum_is_as_uncertain_as_it_is_alone():
    found = parsed(["trend", "smooth"])
    assert [bool(term.amplitude.log_std) for term in found.belief.terms] == [False, False, True]


@pytest.mark.parametrize("amplitude", [50.0, [50.0, 50.0]])
def test_an_amplitude_is_in_the_units_of_each_target(amplitude):
    scaling = Scaling.fit(X, np.stack([Y, Y / 100], axis=1))
    spec = {"amplitude": amplitude}
    found = parse_belief(spec, scaling, NAMES, task="regression", outputs=2)
    draws = found.belief.sample(jax.random.key(0), scaling.inputs(X[:1]), 4000)
    np.testing.assert_allclose(draws[:, 0].std(axis=0) * scaling.y_std, 50.0, rtol=0.05)
    usual = parse_belief({}, scaling, NAMES, task="regression", outputs=2)
    assert isinstance(usual.belief, GaussianProcess)


# Categories, monotone functions and examples

LEVELS = ["age", "color=blue", "color=green", "color=red"]
RNG = np.random.default_rng(0)
COLORS = np.column_stack([RNG.uniform(0, 100, 90), np.eye(3)[np.arange(90) % 7 % 3]])
OF_COLORS = Scaling.fit(COLORS, RNG.normal(1000, 200, 90))


def parsed_levels(belief):
    return parse_belief(belief, OF_COLORS, LEVELS, task="regression", outputs=1)


@pytest.mark.parametrize("kernel", ["rbf", "matern12", "matern32", "matern52"])
@pytest.mark.parametrize(("said", "expected"), [("similar", 0.9), ("unrelated", 0.01), (0.5, 0.5)])
def test_functions_at_two_levels_have_the_correlation_that_was_said(kernel, said, expected):
    found = parsed_levels({"levels": {"color": said}, "kernel": kernel, "amplitude": 100})
    x = OF_COLORS.inputs(np.column_stack([[50.0] * 3, np.eye(3)]))
    covariance = np.asarray(found.belief.kernel(x, x)) * OF_COLORS.y_std**2 / 100**2
    np.testing.assert_allclose(covariance, expected + (1 - expected) * np.eye(3), atol=1e-4)
    words = f"with a correlation of {said}" if said == 0.5 else said
    assert str(found).endswith(f"of each other column, {words} between levels of color.")


def test_levels_can_be_a_part_of_a_sum_but_not_of_a_trend():
    found = parsed_levels([{"kernel": "linear", "column": "age"}, {"levels": {"color": "similar"}}])
    assert "similar between levels of color" in str(found)
    with pytest.raises(ValueError, match="levels do not go with the kernel linear"):
        parsed_levels({"kernel": "linear", "levels": {"color": "similar"}})


@pytest.mark.parametrize(
    ("belief", "message"),
    [
        ({"levels": {"colour": "similar"}}, "did you mean 'color'"),
        ({"levels": {"color": "alike"}}, "must be similar, unrelated, or a correlation"),
        ({"levels": {"color": 1.5}}, "between 0 and 1; got 1.5"),
        (
            {"levels": {"color": "similar"}, "lengthscale": {"color=red": 2.0}},
            "have a lengthscale and levels",
        ),
        ({"levels": {"color": "similar"}, "ignore": "color=red"}, "have levels, but are ignored"),
        ({"levels": {"color": "similar"}, "kernel": "rational_quadratic"}, "levels are for the"),
    ],
)
def test_what_is_wrong_about_levels_is_named(belief, message):
    with pytest.raises(ValueError, match=message):
        parsed_levels(belief)


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["increasing", "decreasing"])
def test_a_monotone_belief_is_monotone_and_has_the_amplitude(direction):
    spec = {"monotone": {"age": direction}, "amplitude": 400, "lengthscale": {"age": 30}}
    found = parsed(spec)
    word = "rising" if direction == "increasing" else "falling"
    assert str(found).endswith(f"over about 30 in age, 0.62 in dose, only {word} with age.")
    along = np.column_stack([np.linspace(0, 100, 60), np.full(60, 0.3)])
    draws = np.asarray(found.belief.sample(jax.random.key(0), SCALING.inputs(along), 200))[..., 0]
    steps = np.diff(draws) * (1 if direction == "increasing" else -1)
    assert (steps > 0).all()
    draws = np.asarray(found.belief.sample(jax.random.key(1), SCALING.inputs(X), 4000))[..., 0]
    assert np.sqrt(np.mean(draws**2)) * Y.std() == pytest.approx(400, rel=0.1)


def test_classes_are_no_place_for_a_monotone_belief():
    with pytest.raises(ValueError, match="there are 3 logits"):
        parsed({"monotone": "age"}, task="classification", outputs=3)


@pytest.mark.parametrize("kernel", [rbf, matern32])
def test_curves_teach_lengthscale_amplitude_and_smoothness(kernel):
    points = jnp.linspace(0, 100, 60)
    process = GaussianProcess(kernel(15.0, 50.0**2))
    curves = np.asarray(process.sample(jax.random.key(0), points[:, None], 6))[..., 0] + 700
    table = {"age": np.asarray(points)} | {f"curve {i}": curve for i, curve in enumerate(curves)}
    found = parsed({"curves": table})
    adjective = {rbf: "smooth", matern32: "rather rough"}[kernel]
    assert str(found).startswith(f"Learned from 6 curves along age: {adjective} functions")
    assert float(found.belief.kernel.lengthscale[0]) * X[:, 0].std() == pytest.approx(15, rel=0.2)
    assert float(found.belief.kernel.variance) ** 0.5 * Y.std() == pytest.approx(50, rel=0.2)
    assert amplitudes_of({"curves": table}) == pytest.approx([50], rel=0.2)
