"""Laplace approximations with linearised predictions (LA-GGN and LA-MargLik; Immer et al., 2021).

The posterior of the weights is taken as a Gaussian around the mode whose precision is the
Gauss-Newton matrix plus the prior's; the network is linearised there, so functions are Gaussian.
"""

from collections.abc import Callable
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, PyTree
from scipy.special import ndtri
from scipy.stats import qmc

from goodprior import checks
from goodprior.baselines.curvature import Curvature
from goodprior.baselines.evidence import (
    MarginalLikelihood,
    log_evidence,
    log_likelihood,
    precisions_of,
    squares_of,
    train_with_evidence,
)
from goodprior.baselines.gauss_newton import (
    ROWS,
    flat_jacobian,
    full_curvature,
    kronecker_curvature,
    weights_vector,
)
from goodprior.baselines.point_estimate import fit_map, in_memory
from goodprior.baselines.training import Rate
from goodprior.data.scaling import Scaling
from goodprior.inference.batches import AnyArray, InMemory
from goodprior.inference.chains import Progress
from goodprior.inference.likelihoods import Binary, Categorical, Gaussian, Likelihood
from goodprior.inference.posterior import Posterior, output_shape
from goodprior.inference.predictive import ClassPrediction, Prediction
from goodprior.networks import outputs
from goodprior.networks.batch_norm import has_batch_norm
from goodprior.priors import GaussianPrior

STRUCTURES: dict[str, Callable[..., Curvature]] = {
    "full": full_curvature,
    "kron": kronecker_curvature,
}
JACOBIAN = 50_000_000  # numbers of a Jacobian that are held at once when predicting
SPREAD = 256  # points that stand for a Gaussian in predictions; a power of two

Structure = Literal["full", "kron"]


class Laplace(eqx.Module):
    """A Gaussian posterior around `mode`, seen through the network's linearisation there.

    `functions` and `predict` are those of a `Posterior`; `moments` gives the exact mean and
    covariance of the outputs at each point.
    """

    prior: GaussianPrior
    likelihood: Likelihood
    mode: PyTree
    curvature: Curvature
    log_marginal_likelihood: float
    report: dict[str, Any]
    key: PRNGKeyArray
    scaling: Scaling | None = None
    draws: int = eqx.field(static=True, default=100)

    def moments(
        self, X: object
    ) -> tuple[Float[Array, "points out"], Float[np.ndarray, "points out out"]]:
        """Mean and covariance of the outputs at each point, in the network's own units."""
        x = self._inputs(X)
        architecture = self.prior.architecture
        flat = weights_vector(architecture, self.mode)
        means = [np.asarray(_outputs(self.prior, self.mode, part)) for part in _parts(x)]
        each = architecture.size * means[0].shape[1]
        covariances = []
        for part in _parts(x, max(1, min(ROWS, JACOBIAN // each))):
            jacobian = np.asarray(_jacobian(architecture, flat, part), np.float64)
            with jax.enable_x64(True):
                found = _covariance(self.curvature, jacobian, precisions_of(self.prior))
                covariances.append(np.asarray(found))
        return jnp.asarray(np.concatenate(means)), np.concatenate(covariances)

    def functions(self, X: object) -> Float[Array, "draws points out"]:
        """Functions of the linearised network, drawn jointly, in the network's own units."""
        x = self._inputs(X)
        architecture = self.prior.architecture
        noise = jax.random.normal(self.key, (self.draws, architecture.size))
        noise = np.asarray(noise, np.float64)
        with jax.enable_x64(True):
            ways = np.asarray(_sample(self.curvature, noise, precisions_of(self.prior)))
        flat = weights_vector(architecture, self.mode)
        ways = jnp.asarray(ways, jnp.float32)
        return jnp.concatenate([_linear(self.prior, flat, ways, p) for p in _parts(x)], axis=1)

    def predict(self, X: object) -> Prediction | ClassPrediction:
        """What the Gaussian functions say about new rows.

        Each point's Gaussian is represented by points that have its mean and covariance exactly.
        """
        mean, covariance = self.moments(X)
        values, vectors = np.linalg.eigh(covariance)
        roots = vectors * np.sqrt(np.maximum(values, 0))[:, None]
        away = np.einsum("pij,sj->spi", roots, _spread(mean.shape[1]))
        prediction = self.likelihood.predict(mean + jnp.asarray(away, jnp.float32))
        if self.scaling is None or not isinstance(prediction, Prediction):
            return prediction
        return prediction.rescale(self.scaling.y_mean, self.scaling.y_std)

    def _inputs(self, X: object) -> Float[Array, "points ..."]:
        x = checks.rows("X", X) if self.scaling is None else self.scaling.inputs(X)
        output_shape(self.prior, self.mode, x[0])
        return x


def fit_laplace(
    prior: GaussianPrior,
    likelihood: Likelihood,
    X: object,
    y: object,
    *,
    key: PRNGKeyArray,
    structure: Structure = "kron",
    marginal_likelihood: bool | MarginalLikelihood = False,
    epochs: int = 150,
    learning_rate: Rate = 0.01,
    batch_size: int | None = 32,
    draws: int = 100,
    scaling: Scaling | None = None,
    on_progress: Progress | None = None,
) -> Laplace:
    """Train to the mode, then take the curvature there: LA-GGN, or LA-MargLik.

    With `marginal_likelihood` the prior's scales, one per layer and kind, are optimised on the
    Laplace marginal likelihood while the weights are trained; the result's `prior` is the optimised
    one and can be given to `sample_posterior`. `structure` is that of the curvature.

    >>> import jax
    >>> from goodprior.networks import MLP
    >>> X = jax.numpy.linspace(-1, 1, 40)[:, None]
    >>> prior = GaussianPrior(MLP(1, (5,), 1, key=jax.random.key(0)))
    >>> laplace = fit_laplace(prior, Gaussian(0.1), X, X**2, epochs=10, key=jax.random.key(1))
    >>> laplace.predict(X).mean.shape, laplace.functions(X).shape
    ((40, 1), (100, 40, 1))
    """
    _check(prior, likelihood, structure)
    data = in_memory(prior, likelihood, X, y, scaling)
    key_train, key_draws = jax.random.split(key)
    settings: dict[str, Any] = {
        "key": key_train,
        "epochs": epochs,
        "learning_rate": learning_rate,
        "batch_size": batch_size,
        "on_progress": on_progress,
    }
    if not marginal_likelihood:
        mode = fit_map(prior, likelihood, data.X, data.y, **settings)
        return laplace_at(mode, X, y, key=key_draws, structure=structure, draws=draws,
                          scaling=scaling)  # fmt: skip
    schedule = MarginalLikelihood() if marginal_likelihood is True else marginal_likelihood
    found = train_with_evidence(
        prior,
        likelihood,
        data,
        schedule,
        lambda likelihood, mode: _curvature(structure, prior, likelihood, mode, data),
        **settings,
    )
    report = {"epochs": epochs, "evidence": found.evidence.tolist()}
    fitted = (found.prior, found.likelihood, found.mode)
    return _laplace(*fitted, data, structure, key_draws, draws, report, scaling)


def laplace_at(
    mode: Posterior,
    X: object,
    y: object,
    *,
    key: PRNGKeyArray,
    structure: Structure = "kron",
    draws: int = 100,
    scaling: Scaling | None = None,
) -> Laplace:
    """The Laplace approximation at a mode that was found before, by `fit_map`."""
    prior, likelihood = mode.prior, mode.likelihood
    _check(prior, likelihood, structure)
    assert isinstance(prior, GaussianPrior)
    data = in_memory(prior, likelihood, X, y, scaling)
    weights = jax.tree.map(lambda leaf: jnp.asarray(leaf[0, 0]), mode.draws)
    return _laplace(prior, likelihood, weights, data, structure, key, draws, mode.report, scaling)


def _laplace(
    prior: GaussianPrior,
    likelihood: Likelihood,
    mode: PyTree,
    data: InMemory,
    structure: Structure,
    key: PRNGKeyArray,
    draws: int,
    report: dict[str, Any],
    scaling: Scaling | None,
) -> Laplace:
    checks.whole("draws", draws)
    curvature = _curvature(structure, prior, likelihood, mode, data)
    explained = log_likelihood(prior, likelihood, mode, data)
    architecture = prior.architecture
    with jax.enable_x64(True):
        squares = squares_of(architecture, mode)
        evidence = log_evidence(
            curvature, squares, architecture.sizes, precisions_of(prior), explained
        )
    return Laplace(prior, likelihood, mode, curvature, float(evidence), report, key, scaling, draws)


def _check(prior: object, likelihood: Likelihood, structure: str) -> None:
    checks.one_of("structure", structure, STRUCTURES)
    if not isinstance(prior, GaussianPrior):
        raise ValueError(
            "a Laplace approximation is made here for a GaussianPrior (FG, GPi-G), not for a "
            f"{type(prior).__name__}"
        )
    if has_batch_norm(prior):
        raise ValueError(
            "a Laplace approximation takes rows one by one, and this network's outputs depend on "
            "the other rows of a batch (BatchNorm)"
        )
    if not isinstance(likelihood, Gaussian | Categorical | Binary):
        raise ValueError(
            "the Gauss-Newton matrix needs a log likelihood that is concave in the outputs: "
            f"Gaussian, Categorical or Binary, not {type(likelihood).__name__}"
        )


def _curvature(
    structure: Structure,
    prior: GaussianPrior,
    likelihood: Likelihood,
    mode: PyTree,
    data: InMemory,
) -> Curvature:
    architecture = prior.architecture
    flat = weights_vector(architecture, mode)
    return STRUCTURES[structure](architecture, likelihood, flat, data)


def _spread(outputs: int) -> Float[np.ndarray, "points outputs"]:
    """Points with mean zero and unit covariance, spread as a standard normal is."""
    uniform = qmc.Sobol(outputs, scramble=False).random(SPREAD) + 0.5 / SPREAD
    points = ndtri(uniform)
    points = points - points.mean(axis=0)
    factor = np.linalg.cholesky(points.T @ points / SPREAD)
    return np.linalg.solve(factor, points.T).T


def _parts(x: Float[Array, "points ..."], rows: int = ROWS) -> list[Array]:
    return [x[i : i + rows] for i in range(0, len(x), rows)]


@eqx.filter_jit
def _outputs(prior: GaussianPrior, mode: PyTree, x: Array) -> Array:
    return outputs(prior.weights(mode), x)


_jacobian = eqx.filter_jit(flat_jacobian)


@eqx.filter_jit
def _covariance(curvature: Curvature, jacobian: AnyArray, precisions: AnyArray) -> Array:
    return curvature.covariance(jacobian, precisions)


@eqx.filter_jit
def _sample(curvature: Curvature, noise: AnyArray, precisions: AnyArray) -> Array:
    return curvature.sample(jnp.asarray(noise), precisions)


@eqx.filter_jit
def _linear(
    prior: GaussianPrior, flat: Float[Array, " size"], ways: Float[Array, "draws size"], x: Array
) -> Float[Array, "draws points out"]:
    """The linearised network's outputs where the weights are moved by each of the ways."""

    def found(flat: Array) -> Array:
        return outputs(prior.weights(prior.architecture.arrays(flat)), x)

    def one(way: Array) -> Array:
        value, change = jax.jvp(found, (flat,), (way,))
        return value + change

    return jax.lax.map(one, ways)
