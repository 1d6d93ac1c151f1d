import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tinygp import kernels

from goodprior import Fixed, LogNormal
from goodprior.beliefs import HierarchicalGP, matern32, rbf
from tests.monte_carlo import assert_covariance, assert_mean

X = jnp.array([[0.0, 0.0], [0.5, 0.0], [0.0, 1.0], [-1.0, 2.0]])
LENGTHSCALE, VARIANCE = LogNormal(0.3, 0.25), LogNormal(-0.4, 0.3)
COUNT = 20_000


def test_the_variance_of_a_value_is_the_mean_of_the_variance():
    """E f^2 = E variance = exp(m + s^2 / 2), E f^4 = 3 E variance^2 = 3 exp(2 m + 2 s^2)."""
    f = np.asarray(HierarchicalGP(LENGTHSCALE, VARIANCE).sample(jax.random.key(0), X, COUNT))
    m, s2 = VARIANCE.location, VARIANCE.variance
    assert_mean(f[..., 0], 0.0)
    assert_mean(f[..., 0] ** 2, math.exp(m + s2 / 2))
    assert_mean(f[..., 0] ** 4, 3 * math.exp(2 * m + 2 * s2))


def mean_kernel(ard):
    """The kernel averaged over log-normal hyper-parameters, drawn by NumPy."""
    rng = np.random.default_rng(0)
    shape = (100_000, 2) if ard else (100_000, 1)
    lengthscales = np.exp(
        LENGTHSCALE.location + math.sqrt(LENGTHSCALE.variance) * rng.normal(size=shape)
    )
    variance = math.exp(VARIANCE.location + VARIANCE.variance / 2)
    x = np.asarray(X, np.float64)
    squares = ((x[:, None] - x[None]) ** 2)[None]
    covariance = np.zeros((len(x), len(x)))
    for part in np.split(lengthscales, 10):
        r2 = (squares / part[:, None, None] ** 2).sum(axis=-1)
        covariance += np.exp(-0.5 * r2).mean(axis=0) / 10
    return variance * covariance


@pytest.mark.parametrize("ard", [True, False])
def test_the_covariance_is_the_mean_of_the_kernels(ard):
    belief = HierarchicalGP(LENGTHSCALE, VARIANCE, ard=ard)
    f = belief.sample(jax.random.key(1), X, COUNT)[..., 0]
    assert_covariance(f, mean_kernel(ard))


def test_every_draw_has_one_variance_of_its_own():
    """Far apart values are independent given it, so E f^2 g^2 = E variance^2."""
    f = np.asarray(HierarchicalGP(Fixed(0.1), VARIANCE).sample(jax.random.key(2), X, COUNT))
    m, s2 = VARIANCE.location, VARIANCE.variance
    assert_mean(f[:, 0, 0] ** 2 * f[:, 3, 0] ** 2, math.exp(2 * m + 2 * s2))


def test_lengthscales_differ_between_inputs_of_one_draw_only_with_ard():
    """Where both inputs have one lengthscale, steps along either are equally likely large."""
    x = jnp.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])

    def product_of_squared_steps(ard):
        belief = HierarchicalGP(LogNormal(0.0, 2.0), Fixed(1.0), ard=ard)
        f = np.asarray(belief.sample(jax.random.key(4), x, COUNT)[..., 0])
        return ((f[:, 1] - f[:, 0]) ** 2 * (f[:, 2] - f[:, 0]) ** 2).mean()

    assert product_of_squared_steps(False) > 1.1 * product_of_squared_steps(True)


@pytest.mark.parametrize(
    ("task", "inputs", "location", "variance"),
    [("regression", 13, (0.1, 1.0), 1.0), ("classification", 2, (math.log(8), 0.3), 1.0)],
)
def test_the_default_is_the_papers(task, inputs, location, variance):
    belief = HierarchicalGP.default(inputs, task)
    assert belief.kernel == "rbf"
    assert belief.ard
    assert belief.lengthscale.location == pytest.approx(math.log(math.sqrt(2 * inputs)))
    assert belief.lengthscale.variance == variance
    assert (belief.variance.location, belief.variance.variance) == pytest.approx(location)


def test_the_second_number_of_a_log_normal_is_the_variance_of_the_logarithm():
    logs = np.log(LogNormal(math.log(8), 0.3).sample(jax.random.key(5), (COUNT,)))
    assert_mean(logs, math.log(8))
    assert_mean((logs - math.log(8)) ** 2, 0.3)


def test_fixed_hyper_parameters_are_a_gaussian_process():
    belief = HierarchicalGP(Fixed(0.7), Fixed(2.0), kernel="matern32")
    f = belief.sample(jax.random.key(6), X, COUNT)[..., 0]
    assert_covariance(f, matern32(0.7, 2.0)(X, X))


def test_a_kernel_of_the_users_own():
    def line(lengthscale, variance):
        return variance * kernels.DotProduct() + rbf(lengthscale, 0.5)

    belief = HierarchicalGP(Fixed(1.0), Fixed(2.0), kernel=line, ard=False)
    f = belief.sample(jax.random.key(7), X, COUNT)[..., 0]
    assert_covariance(f, 2.0 * X @ X.T + rbf(1.0, 0.5)(X, X))


@dataclass
class EitherOr:
    """A user's distribution, which knows nothing of JAX: one of two values."""

    values: list[float]

    def sample(self, key, shape):
        seed = np.asarray(jax.random.key_data(key))
        return np.random.default_rng(seed).choice(self.values, size=shape)


def test_a_distribution_of_the_users_own():
    either = EitherOr([0.5, 2.0])
    belief = HierarchicalGP(Fixed(1.0), either)
    first = belief.sample(jax.random.key(8), X, COUNT)[..., 0]
    assert_mean(first**2, 1.25)
    assert_mean(first**4, 3 * (0.25 + 4) / 2)
    either.values = [3.0]  # nothing of it is remembered
    assert_mean(belief.sample(jax.random.key(8), X, COUNT)[..., 0] ** 2, 3.0)


def test_outputs_share_hyper_parameters_and_are_otherwise_independent():
    belief = HierarchicalGP(Fixed(1.0), EitherOr([0.1, 4.0]), outputs=3)
    f = np.asarray(belief.sample(jax.random.key(9), X[:2], COUNT))
    assert f.shape == (COUNT, 2, 3)
    assert_mean(f[:, 0, 0] * f[:, 0, 1], 0.0)
    assert_mean(f[:, 0, 0] ** 2 * f[:, 0, 1] ** 2, (0.01 + 16) / 2)
    assert_mean(f[:, 0, 2] * f[:, 1, 2], 2.05 * math.exp(-0.125))


def test_the_same_key_gives_the_same_functions():
    belief = HierarchicalGP.default(inputs=2)
    first, again, other = (belief.sample(jax.random.key(k), X, 5) for k in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.isin(first, other).any()


class TooFew:
    def sample(self, key, shape):
        return np.ones(3)


class Negative:
    def sample(self, key, shape):
        return -np.ones(shape)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HierarchicalGP(Fixed(1.0), Fixed(0.0)), "value must be a finite number above"),
        (lambda: LogNormal(0.0, -1.0), "variance must be a finite number above zero, got -1.0"),
        (lambda: HierarchicalGP(Fixed(1.0), Fixed(1.0), kernel="cubic"), "kernel must be one of"),
        (lambda: HierarchicalGP(Fixed(1.0), Fixed(1.0), outputs=0), "outputs must be a whole"),
        (lambda: HierarchicalGP.default(2, "clustering"), "task must be one of classification"),
        (
            lambda: HierarchicalGP(TooFew(), Fixed(1.0)).sample(jax.random.key(0), X, 2),
            r"lengthscale.sample\(key, \(2, 2\)\) must return an array of that shape, got \(3,\)",
        ),
        (
            lambda: HierarchicalGP(Fixed(1.0), Negative()).sample(jax.random.key(0), X, 2),
            "variance must be drawn above zero, but .*Negative.* gave -1",
        ),
    ],
)
@pytest.mark.usefixtures("as_users_run_it")
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
