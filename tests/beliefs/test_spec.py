import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.beliefs import GaussianProcess, HierarchicalGP, rbf
from goodprior.beliefs.spec import parse_belief
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
        ({"period": 3.0}, "period is for the kernel periodic only, and the kernel is rbf"),
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
