import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.baselines import gauss_newton
from goodprior.baselines.gauss_newton import (
    flat_jacobian,
    full_curvature,
    kronecker_curvature,
    weights_vector,
)
from goodprior.inference import Binary, Categorical, Gaussian
from goodprior.inference.batches import InMemory
from goodprior.networks import MLP, Architecture, Conv, Dense
from tests.monte_carlo import assert_covariance

RNG = np.random.default_rng(0)
X = jnp.asarray(RNG.normal(size=(20, 2)), jnp.float32)
LIKELIHOODS = {
    "gaussian": (Gaussian(0.3), 2, RNG.normal(size=(20, 2))),
    "classes": (Categorical(3), 3, RNG.integers(0, 3, 20)),
    "binary": (Binary(), 1, RNG.integers(0, 2, 20)),
}


def _case(name, rows=20):
    likelihood, outputs, y = LIKELIHOODS[name]
    network = MLP(2, (4,), outputs, key=jax.random.key(0))
    architecture = Architecture(network)
    flat = weights_vector(architecture, eqx.filter(network, eqx.is_inexact_array))
    return architecture, likelihood, flat, InMemory(X[:rows], likelihood.targets(y)[:rows])


def _directly(name, rows=20):
    """The sum of J^T H J, with the textbook's Hessians."""
    architecture, likelihood, flat, data = _case(name, rows)
    network = architecture.network(architecture.arrays(flat))
    total = 0.0
    for x, jacobian in zip(data.X, flat_jacobian(architecture, flat, data.X), strict=True):
        output = np.asarray(network(x), np.float64)
        if name == "gaussian":
            hessian = np.eye(2) / likelihood.noise_variance
        elif name == "classes":
            p = np.exp(output) / np.exp(output).sum()
            hessian = np.diag(p) - np.outer(p, p)
        else:
            p = 1 / (1 + np.exp(-output))
            hessian = np.diag(p * (1 - p))
        total += jacobian.T @ hessian @ jacobian
    return total


@pytest.mark.slow
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_the_full_matrix_is_the_sum_over_rows(name, monkeypatch):
    monkeypatch.setattr(gauss_newton, "ROWS", 8)  # in parts, the last of them shorter
    np.testing.assert_allclose(full_curvature(*_case(name)).matrix, _directly(name), atol=2e-4)


def _matrix(block):
    outs = block.out_vectors * block.out_values @ block.out_vectors.T
    ins = block.in_vectors * block.in_values @ block.in_vectors.T
    return np.kron(outs, ins)


@pytest.mark.parametrize("name", ["gaussian", "binary"])
def test_for_one_row_and_one_slope_the_factors_are_exact(name):
    """Then `g g^T (x) a a^T` is no approximation; two outputs share `a` and are exact as well."""
    expected = _directly(name, rows=1)
    start = 0
    for block in kronecker_curvature(*_case(name, rows=1)).blocks:
        end = start + len(_matrix(block))
        np.testing.assert_allclose(_matrix(block), expected[start:end, start:end], atol=2e-4)
        start = end
    assert start == len(expected)


def test_the_factors_are_means_of_inputs_and_sums_of_slopes():
    architecture, likelihood, flat, data = _case("classes")
    network = architecture.network(architecture.arrays(flat))
    hidden = np.tanh(jax.vmap(network.layers[0])(data.X)) / np.sqrt(4)
    block = kronecker_curvature(architecture, likelihood, flat, data).blocks[2]
    p = np.asarray(jax.nn.softmax(jax.vmap(network)(data.X)))
    grads = sum(np.diag(one) - np.outer(one, one) for one in p)
    np.testing.assert_allclose(_matrix(block), np.kron(grads, hidden.T @ hidden / 20), atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("form", [full_curvature, kronecker_curvature])
def test_determinant_covariance_and_draws_belong_to_one_matrix(form):
    architecture, _, flat, data = case = _case("classes")
    curvature = form(*case)
    precisions = np.array([0.5, 1.0, 2.0, 4.0])
    if form is full_curvature:
        matrix = curvature.matrix
    else:
        matrix = np.zeros((architecture.size, architecture.size))
        start = 0
        for part in map(_matrix, curvature.blocks):
            matrix[start : start + len(part), start : start + len(part)] = part
            start += len(part)
    diagonal = np.diag(np.repeat(precisions, architecture.sizes))
    inverse = np.linalg.inv(matrix + diagonal)
    jacobian = np.asarray(flat_jacobian(architecture, flat, data.X[:3]), np.float64)
    with jax.enable_x64(True):
        log_det = curvature.log_det(precisions, 1.7)
        of_eigenvalues = curvature.spectrum(precisions).log_det(precisions, 1.7)
        covariance = curvature.covariance(jacobian, precisions)
        noise = jax.random.normal(jax.random.key(0), (20_000, architecture.size))
        draws = np.asarray(curvature.sample(noise, precisions))
    assert log_det == pytest.approx(np.linalg.slogdet(1.7 * matrix + diagonal)[1])
    assert of_eigenvalues == pytest.approx(float(log_det), rel=1e-6)
    np.testing.assert_allclose(covariance, jacobian @ inverse @ np.swapaxes(jacobian, 1, 2))
    assert_covariance(draws[:, [0, 5, 9, -1]], inverse[np.ix_([0, 5, 9, -1], [0, 5, 9, -1])])


class Twice(eqx.Module):
    layer: Dense

    def __call__(self, x):
        return self.layer(jnp.tanh(self.layer(x)))


class Odd(eqx.Module):
    layer: Dense
    gain: jax.Array

    def __call__(self, x):
        return self.gain * self.layer(x)


def _of(network):
    architecture = Architecture(network)
    flat = weights_vector(architecture, eqx.filter(network, eqx.is_inexact_array))
    return architecture, Gaussian(0.3), flat, InMemory(X, X)


def test_networks_without_known_factors_are_sent_to_the_full_matrix():
    layer = Dense(2, 2, key=jax.random.key(0))
    with pytest.raises(ValueError, match=r"weights \['gain'\]; use structure=\"full\""):
        kronecker_curvature(*_of(Odd(layer, jnp.ones(2))))
    with pytest.raises(ValueError, match="uses every layer once"):
        kronecker_curvature(*_of(Twice(layer)))


def test_a_large_network_is_sent_to_the_kronecker_factors():
    with pytest.raises(ValueError, match=r"10,602 weights, too many .* structure=\"kron\""):
        full_curvature(*_of(MLP(2, (100, 100), 2, key=jax.random.key(0))))


class Tiny(eqx.Module):
    """A convolution, tanh, and a dense layer."""

    conv: Conv
    layer: Dense

    def __init__(self, side, size, stride=1):
        first, second = jax.random.split(jax.random.key(0))
        self.conv = Conv(2, 3, size, stride=stride, key=first)
        self.layer = Dense(3 * ((side - size) // stride + 1) ** 2, 2, key=second)

    def __call__(self, x):
        return self.layer(jnp.tanh(self.conv(x)).ravel())


def _tiny(side, size, rows, stride=1):
    network = Tiny(side, size, stride)
    architecture = Architecture(network)
    flat = weights_vector(architecture, eqx.filter(network, eqx.is_inexact_array))
    images = jnp.asarray(RNG.normal(size=(rows, side, side, 2)), jnp.float32)
    targets = jnp.asarray(RNG.normal(size=(rows, 2)), jnp.float32)
    return network, (architecture, Gaussian(0.5), flat, InMemory(images, targets))


def _matrices(curvature):
    """The blocks of a Kronecker curvature as plain matrices."""
    found = []
    for block in curvature.blocks:
        outs = (block.out_vectors * block.out_values) @ block.out_vectors.T
        ins = (block.in_vectors * block.in_values) @ block.in_vectors.T
        found.append(np.kron(outs, ins))
    return found


def test_for_one_row_and_one_place_a_convolutions_factors_are_exact():
    _, case = _tiny(side=3, size=3, rows=1)
    whole = full_curvature(*case).matrix
    ends = np.cumsum([0, *case[0].sizes])
    for block, first, last in zip(
        _matrices(kronecker_curvature(*case)), ends[:-1], ends[1:], strict=True
    ):
        np.testing.assert_allclose(block, whole[first:last, first:last], atol=1e-4)


@pytest.mark.parametrize("stride", [1, 2])
def test_a_convolutions_factors_are_sums_over_rows_and_places(stride):
    network, case = _tiny(side=5, size=3, rows=4, stride=stride)
    weight, bias, *_ = _matrices(kronecker_curvature(*case))
    filters, head = np.asarray(network.conv.weight), np.asarray(network.layer.weight)
    places = [(i, j) for i in range(0, 3, stride) for j in range(0, 3, stride)]
    head = head.reshape(2, len(places), 3) / np.sqrt(head.shape[1])
    ins, outs = np.zeros((18, 18)), np.zeros((3, 3))
    for x in np.asarray(case[-1].X):
        for t, (i, j) in enumerate(places):
            patch = x[i : i + 3, j : j + 3].ravel() / np.sqrt(18)
            hidden = np.tanh(filters.reshape(3, 18) @ patch)
            ins += np.outer(patch, patch) / (4 * len(places))  # a mean
            grads = head[:, t] * (1 - hidden**2)
            outs += grads.T @ grads / 0.5  # a sum, with the likelihood's precision
    np.testing.assert_allclose(weight, np.kron(outs, ins), atol=1e-5)
    np.testing.assert_allclose(bias, outs, atol=1e-5)
