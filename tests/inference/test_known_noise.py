"""Noise that is known for each row."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from goodprior.data.scaling import Scaling
from goodprior.inference import Collapsed, Density, Gaussian, KnownNoise
from goodprior.networks import MLP
from goodprior.priors import GaussianPrior

RNG = np.random.default_rng(0)
X = jnp.asarray(RNG.normal(size=(7, 2)), jnp.float32)
Y = RNG.normal(size=(7, 1)).astype(np.float32)
NOISE = RNG.uniform(0.2, 2.0, size=(7, 1)).astype(np.float32)
BOTH = jnp.asarray(np.concatenate([Y, NOISE], axis=1))
PRIOR = GaussianPrior(MLP(2, (4,), 1, key=jax.random.key(0)))
LATENTS = [PRIOR.sample(jax.random.key(i)) for i in range(3)]
KNOWN = KnownNoise((1.0,))


def test_the_density_of_a_row_is_that_of_its_own_noise():
    output = jnp.asarray([0.3])
    found = [float(KNOWN.log_prob(output, row)) for row in BOTH]
    np.testing.assert_allclose(found, stats.norm.logpdf(Y, 0.3, NOISE)[:, 0], rtol=1e-5)


def test_noise_of_one_size_is_gaussian_noise():
    same = jnp.concatenate([BOTH[:, :1], jnp.full((7, 1), 0.5)], axis=1)
    for kind in (Density, Collapsed):
        plain, known = kind(PRIOR, Gaussian(0.25), 7), kind(PRIOR, KNOWN, 7)
        for latent in LATENTS:
            expected = float(plain(latent, X, BOTH[:, :1]))
            assert float(known(latent, X, same)) == pytest.approx(expected, rel=1e-4)


def test_the_evidence_without_the_last_layer_is_that_of_a_gaussian_process():
    assert Collapsed.refuses(PRIOR, KNOWN) is None
    density, gaps = Collapsed(PRIOR, KNOWN, 7), []
    for latent in LATENTS:
        features, _, _ = density._linear_model(latent, X, BOTH)
        raw = np.asarray(features[0], np.float64) * NOISE
        covariance = raw @ raw.T + np.diag(NOISE[:, 0] ** 2)
        exact = stats.multivariate_normal.logpdf(Y[:, 0], np.zeros(7), covariance)
        nothing = [jnp.zeros_like(leaf) for leaf in density._readout(latent)]
        rest = float(PRIOR.log_prob(density._with_readout(latent, nothing)))
        gaps.append(float(density(latent, X, BOTH)) - rest - exact)
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-3)


def test_scaling_divides_the_noise_and_does_not_shift_it():
    y = np.array([[10.0, 2.0], [30.0, 4.0]])
    scaling = Scaling.fit(np.zeros((2, 1)), y[:, 0])
    found = KNOWN.scaled_targets(y, scaling)
    np.testing.assert_allclose(found, [[-1, 0.2], [1, 0.4]])


@pytest.mark.parametrize(
    ("y", "complaint"),
    [
        (np.ones((3, 1)), "so y needs a column with its standard deviation"),
        (np.ones(3), "so y needs a column with its standard deviation"),
        (np.array([[1.0, 0.0]]), "must be above zero"),
    ],
)
def test_targets_without_their_noise_are_refused(y, complaint):
    with pytest.raises(ValueError, match=complaint):
        KNOWN.targets(y)
    with pytest.raises(ValueError, match=complaint):
        KNOWN.scaled_targets(y, Scaling.fit(np.zeros((2, 1)), np.arange(2.0)))
