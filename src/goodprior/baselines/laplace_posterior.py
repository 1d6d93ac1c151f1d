"""The posterior of a Laplace approximation, with linearised predictions (Immer et al., 2021)."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, PyTree
from scipy.special import ndtri
from scipy.stats import qmc

from goodprior.baselines.curvature import Curvature
from goodprior.baselines.evidence import precisions_of
from goodprior.baselines.gauss_newton import ROWS, flat_jacobian, weights_vector
from goodprior.data.scaling import Scaling
from goodprior.inference.batches import AnyArray
from goodprior.inference.likelihoods import Likelihood
from goodprior.inference.predictive import ClassPrediction, Prediction
from goodprior.inference.validation import new_inputs
from goodprior.networks import outputs
from goodprior.priors import GaussianPrior

JACOBIAN = 50_000_000  # entries of a Jacobian that are held at once when predicting
PREDICTION_POINTS = 256  # draws that represent a Gaussian in predictions; a power of two


class LaplacePosterior(eqx.Module):
    """A Gaussian over the weights around `mode`, seen through the network's linearisation there.

    `fit_laplace` and `laplace_at` make it. Like a `Posterior` it has `functions` and `predict`.

    Attributes
    ----------
    prior, likelihood
        The model; after `fit_laplace` with a `marginal_likelihood`, the optimised one.
    mode
        The weights of the highest posterior density.
    curvature
        The Gauss-Newton matrix at the mode.
    log_marginal_likelihood
        The Laplace estimate of `log p(D)`.
    report
        How the training went.
    key
        For the draws of `functions`.
    scaling
        Of X and y, if predictions are to be on the original scale.
    draws
        How many functions `functions` draws.

    Examples
    --------
    >>> from goodprior.baselines import fit_laplace
    >>> from goodprior.inference import Gaussian
    >>> from goodprior.networks import MLP
    >>> X = jnp.linspace(-1, 1, 40)[:, None]
    >>> prior = GaussianPrior(MLP(1, (3,), 1, key=jax.random.key(0)))
    >>> posterior = fit_laplace(prior, Gaussian(0.1), X, X, epochs=5, key=jax.random.key(1))
    >>> mean, covariance = posterior.moments(X)
    >>> mean.shape, covariance.shape
    ((40, 1), (40, 1, 1))
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
        x = new_inputs(self.prior, self.mode, X, self.scaling)
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
        """Joint draws of the linearised network's outputs, in the network's own units."""
        x = new_inputs(self.prior, self.mode, X, self.scaling)
        architecture = self.prior.architecture
        noise = jax.random.normal(self.key, (self.draws, architecture.size))
        noise = np.asarray(noise, np.float64)
        with jax.enable_x64(True):
            offsets = np.asarray(_sample(self.curvature, noise, precisions_of(self.prior)))
        flat = weights_vector(architecture, self.mode)
        offsets = jnp.asarray(offsets, jnp.float32)
        return jnp.concatenate([_linear(self.prior, flat, offsets, p) for p in _parts(x)], axis=1)

    def predict(self, X: object) -> Prediction | ClassPrediction:
        """The prediction at new rows, in the units of `scaling`.

        Each point's Gaussian is represented by quasi-random draws with its exact mean and
        covariance.
        """
        mean, covariance = self.moments(X)
        values, vectors = np.linalg.eigh(covariance)
        roots = vectors * np.sqrt(np.maximum(values, 0))[:, None]
        deviations = np.einsum("pij,sj->spi", roots, _standard_normal_points(mean.shape[1]))
        prediction = self.likelihood.predict(mean + jnp.asarray(deviations, jnp.float32))
        if self.scaling is None:
            return prediction
        return prediction.rescale(self.scaling.y_mean, self.scaling.y_std)


def _standard_normal_points(outputs: int) -> Float[np.ndarray, "points outputs"]:
    """Quasi-random standard normal points with mean zero and unit covariance exactly."""
    uniform = qmc.Sobol(outputs, scramble=False).random(PREDICTION_POINTS) + 0.5 / PREDICTION_POINTS
    points = ndtri(uniform)
    points = points - points.mean(axis=0)
    factor = np.linalg.cholesky(points.T @ points / PREDICTION_POINTS)
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
    prior: GaussianPrior, flat: Float[Array, " size"], offsets: Float[Array, "draws size"], x: Array
) -> Float[Array, "draws points out"]:
    """The linearised network's outputs at the mode plus each offset of the weights."""

    def found(flat: Array) -> Array:
        return outputs(prior.weights(prior.architecture.arrays(flat)), x)

    def one(offset: Array) -> Array:
        value, change = jax.jvp(found, (flat,), (offset,))
        return value + change

    return jax.lax.map(one, offsets)
