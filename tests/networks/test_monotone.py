import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate

from goodprior.networks import Fourier, Monomial, MonotoneNetwork, Waves

KEYS = jax.random.split(jax.random.key(0), 4)


def network():
    level = Fourier((Waves((1,), 5, key=KEYS[0]), Monomial()), 2, key=KEYS[1])
    log_slope = Fourier((Waves((0, 1), 5, key=KEYS[2]),), 2, key=KEYS[3])
    return MonotoneNetwork(level, log_slope, 0, (2.0, -1.0))


@pytest.mark.parametrize("end", [-2.5, 0.0, 1.5])
def test_it_is_the_integral_of_its_slope_from_zero(end):
    made = network()
    x = jnp.array([end, 0.7])

    def slope(t, output):
        return float(jnp.exp(made.log_slope(jnp.array([t, 0.7]))[output] - 0.5))

    expected = [
        steepness * integrate.quad(slope, 0, end, args=(output,))[0]
        for output, steepness in enumerate(made.steepness)
    ]
    np.testing.assert_allclose(made(x) - made.level(x), expected, rtol=1e-4, atol=1e-6)


def test_outputs_rise_and_fall_as_their_steepness_says():
    line = jnp.stack([jnp.linspace(-3, 3, 200), jnp.full(200, -0.4)], axis=1)
    steps = jnp.diff(jax.vmap(network())(line), axis=0)
    assert bool((steps[:, 0] > 0).all())
    assert bool((steps[:, 1] < 0).all())
