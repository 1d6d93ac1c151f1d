"""Networks of the user's own: stored without their code, and put back."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior import storage
from goodprior.inference import Gaussian, Posterior
from goodprior.priors import GaussianPrior, GibbsHierarchicalPrior, LearnedNoise
from tests.storage.test_round_trips import assert_identical, there_and_back

KEY = jax.random.key(0)
X = np.linspace(-1, 1, 4)[:, None]


class Polynomial(eqx.Module):
    """Weights, whole numbers that are not random, a plain number and a function."""

    coefficients: jax.Array
    powers: jax.Array
    factor: float
    squash: object

    def __call__(self, x):
        y = (self.coefficients * x[0] ** self.powers).sum(keepdims=True)
        return self.factor * self.squash(y)


class Cubic(Polynomial):
    """Another class."""


def _squash(y):
    return 9 * jnp.tanh(y / 9)


def _polynomial(size=4, cls=Polynomial):
    return cls(jnp.zeros(size), jnp.arange(size), 0.7, _squash)


def _mlp(width=5, depth=1, **settings):
    return eqx.nn.MLP(1, 1, width, depth, activation=jnp.tanh, key=KEY, **settings)


CASES = {
    "by hand": lambda: (_polynomial(), LearnedNoise(GibbsHierarchicalPrior(_polynomial()))),
    "equinox": lambda: (_mlp(), GaussianPrior(_mlp())),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_posterior_of_a_users_own_network_predicts_the_same(tmp_path, case):
    network, prior = CASES[case]()
    one = prior.sample(KEY)
    draws = jax.tree.map(lambda leaf: np.stack([leaf, 2 * leaf])[None], one)
    posterior = Posterior(prior, Gaussian(0.1), draws, np.zeros((2, 1, 1)), {})
    again = there_and_back(tmp_path, posterior, network=jax.tree.map(lambda x: x, network))
    assert_identical(posterior, again)
    assert again.functions(X).tobytes() == posterior.functions(X).tobytes()
    assert jax.tree.structure(prior.sample(KEY)) == jax.tree.structure(again.prior.sample(KEY))


def test_a_bare_network_keeps_its_weights(tmp_path):
    network = eqx.tree_at(lambda n: n.coefficients, _polynomial(), jnp.arange(4.0))
    again = there_and_back(tmp_path, network, network=_polynomial())
    assert again(X[1]).tolist() == network(X[1]).tolist()
    assert again.coefficients.tolist() == [0, 1, 2, 3]


def test_without_the_network_the_file_says_that_it_needs_one(tmp_path):
    with pytest.raises(ValueError, match=r"a network of your own, .*Polynomial: give network="):
        there_and_back(tmp_path, GaussianPrior(_polynomial()))


@pytest.mark.parametrize(
    ("stored", "given"),
    [
        (_polynomial(4), _polynomial(5)),
        (_polynomial(4), _polynomial(4, Cubic)),
        (_polynomial(4), _mlp()),
        (_mlp(), _mlp(width=6)),
        (_mlp(), _mlp(depth=2)),
        (_mlp(depth=2), _mlp()),
        (_mlp(), _mlp(use_bias=False)),
        (_mlp(use_bias=False), _mlp()),
    ],
)
def test_a_network_that_does_not_fit_is_refused(tmp_path, stored, given):
    for thing in (stored, GaussianPrior(stored)):
        with pytest.raises(ValueError, match=r"does not fit|was written with the network"):
            there_and_back(tmp_path, thing, network=given)


def test_two_classes_of_users_own_networks_do_not_fit_into_one_file(tmp_path):
    with pytest.raises(ValueError, match="room for one class"):
        storage.write(tmp_path / "it", [_polynomial(), _mlp()], kind="test")


class OwnPrior(eqx.Module):
    """A prior is no network."""

    scale: jax.Array

    def sample(self, key):
        return self.scale * jax.random.normal(key)


def test_other_own_classes_are_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match=r"the thing\[0\] cannot be stored: .*OwnPrior"):
        storage.write(tmp_path / "it", [OwnPrior(jnp.ones(()))], kind="test")
