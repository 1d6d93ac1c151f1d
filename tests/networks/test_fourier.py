import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.networks import MLP, Fourier, Monomial, Slopes, Waves

KEYS = jax.random.split(jax.random.key(0), 3)
X = np.array([0.3, -1.2, 0.8])


def network(outputs=2):
    waves = Waves((0, 2), 4, periods=(None, 0.7), times=(1,), lengthscales_vary=True, key=KEYS[0])
    made = Fourier((waves, Monomial((0, 1), amplitude_varies=True)), outputs, key=KEYS[1])
    places = (lambda n: n.blocks[0].log_lengthscales, lambda n: n.blocks[1].log_amplitude)
    for place, value in zip(places, ([0.5, -0.2], 0.4), strict=True):
        made = eqx.tree_at(place, made, jnp.array(value))
    return made


def test_features_are_sines_and_cosines_of_frequencies_times_columns():
    made = network()
    phase = 2 * np.pi * X[2] / 0.7
    inputs = np.array([X[0] * np.exp(-0.5), *(np.exp(0.2) * f(phase) for f in (np.cos, np.sin))])
    angles = np.asarray(made.blocks[0].frequencies.weight) @ inputs / np.sqrt(3)
    waves = X[1] * np.concatenate([np.sin(angles), np.cos(angles)])
    expected = np.append(waves, np.exp(0.4) * X[0] * X[1])
    np.testing.assert_allclose(made.features(jnp.asarray(X, jnp.float32)), expected, atol=2e-6)


@pytest.mark.parametrize(
    "made", [network(), MLP(3, (5, 4), 2, key=KEYS[2])], ids=["fourier", "mlp"]
)
def test_a_network_is_its_readout_of_its_features(made):
    x = jnp.asarray(X, jnp.float32)
    features = made.features(x)
    assert made.readout.weight.shape == (2, len(features))
    np.testing.assert_array_equal(made(x), made.readout(features))


def test_the_readout_of_waves_has_no_bias():
    assert network().readout.bias is None


def test_without_columns_a_monomial_is_one():
    np.testing.assert_array_equal(Monomial()(jnp.asarray(X, jnp.float32)), [1.0])


def test_slopes_share_an_amplitude():
    slopes = eqx.tree_at(
        lambda s: s.log_amplitude, Slopes((2, 0), amplitude_varies=True), jnp.array(0.4)
    )
    expected = np.exp(0.4) * X[[2, 0]]
    np.testing.assert_allclose(slopes(jnp.asarray(X, jnp.float32)), expected, rtol=1e-6)


def test_periods_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="2 columns need as many periods"):
        Waves((0, 1), 4, periods=(None,), key=KEYS[0])
