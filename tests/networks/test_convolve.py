"""Our convolution has the values and grads of XLA's, however it is transformed."""

import re

import jax
import jax.numpy as jnp
import pytest

from goodprior.networks import convolve as module
from goodprior.networks.convolve import convolve


def plain(x, filters, stride, margin):
    x = jnp.pad(x, ((0, 0), (margin, margin), (margin, margin), (0, 0)))
    return jax.lax.conv_general_dilated(
        x, filters, (stride, stride), "VALID", dimension_numbers=("NHWC", "OHWI", "NHWC")
    )


@pytest.fixture(
    params=[(5, 3, 1, 1), (5, 3, 2, 1), (3, 5, 1, 0), (2, 5, 1, 2), (1, 1, 2, 0)], ids=str
)
def case(request, monkeypatch):
    monkeypatch.setattr(module, "PLACES_AT_ONCE", 50)  # so that there are several parts
    rows, size, *how = request.param
    first, second = jax.random.split(jax.random.key(0))
    x = jax.random.normal(first, (rows, 9, 8, 2))
    return x, jax.random.normal(second, (3, size, size, 2)), how


def loss(convolution, how):
    return jax.jit(lambda x, filters: jnp.sin(convolution(x, filters, *how)).sum())


def near(a, b):
    return jax.tree.all(jax.tree.map(lambda a, b: jnp.allclose(a, b, atol=1e-4), a, b))


def test_values_and_grads(case):
    x, filters, how = case
    found, expected = (
        jax.value_and_grad(loss(c, how), (0, 1))(x, filters) for c in (convolve, plain)
    )
    assert near(found, expected)


def test_the_slope_of_images_one_by_one_is_that_of_their_batch(case):
    x, filters, how = case

    def together(filters):
        return jax.vmap(lambda row: loss(convolve, how)(row[None], filters))(x).sum()

    each = jax.vmap(jax.grad(loss(convolve, how), 1), (0, None))(x[:, None], filters)
    expected = jax.grad(loss(plain, how), 1)(x, filters)
    assert near(jax.grad(together)(filters), expected)
    assert near(each.sum(0), expected)


@pytest.mark.slow
def test_several_sets_of_filters(case):
    x, filters, how = case
    many = jnp.stack([filters, 2 * filters])
    grads = jax.vmap(jax.grad(loss(convolve, how), 1), (None, 0))(x, many)
    assert near(grads[1], jax.grad(loss(plain, how), 1)(x, many[1]))


@pytest.mark.parametrize("how", [(1, 1), (2, 1)], ids=str)
def test_inside_of_loops_the_axes_are_those_of_xlas_fast_convolution(how):
    """XLA rearranges others outside of loops only."""

    def step(both, _):
        grads = jax.grad(loss(convolve, how), (0, 1))(*both)
        return jax.tree.map(jnp.subtract, both, grads), None

    steps = jax.jit(lambda *both: jax.lax.scan(step, both, None, length=3)[0])
    program = steps.lower(jnp.ones((5, 9, 8, 2)), jnp.ones((3, 3, 3, 2))).compile().as_text()
    assert set(re.findall(r"dim_labels=([\w>-]+)", program)) == {"b01f_01io->b01f"}
