"""Laplace approximations with linearised predictions (LA-GGN and LA-MargLik; Immer et al., 2021).

The posterior of the weights is taken as a Gaussian around the mode whose precision is the
Gauss-Newton matrix plus the prior's; the network is linearised there, so functions are Gaussian.
"""

from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray, PyTree

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
    full_curvature,
    kronecker_curvature,
    weights_vector,
)
from goodprior.baselines.laplace_posterior import LaplacePosterior
from goodprior.baselines.point_estimate import fit_map, in_memory
from goodprior.baselines.training import Rate
from goodprior.data.scaling import Scaling
from goodprior.inference.batches import InMemory
from goodprior.inference.likelihoods import Binary, Categorical, Gaussian, Likelihood
from goodprior.inference.posterior import Posterior
from goodprior.inference.sample import Progress
from goodprior.networks.batch_norm import has_batch_norm
from goodprior.priors import GaussianPrior

STRUCTURES: dict[str, Callable[..., Curvature]] = {
    "full": full_curvature,
    "kron": kronecker_curvature,
}

Structure = Literal["full", "kron"]


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
) -> LaplacePosterior:
    """Train to the mode, then take the curvature there: LA-GGN, or LA-MargLik.

    Parameters
    ----------
    prior
        Gaussian (FG, GPi-G).
    likelihood
        `Gaussian`, `Categorical` or `Binary`, whose log density is concave in the outputs.
    X, y
        The rows, which all count alike.
    key
        Determines the start, the order of the rows and the draws.
    structure
        Of the curvature: `"kron"` (Kronecker factors, K-FAC) or `"full"`.
    marginal_likelihood
        Whether, and by which schedule, the prior's scales are optimised on the Laplace marginal
        likelihood during training. The result's `prior` can be given to `sample_posterior`.
    epochs, learning_rate, batch_size
        Length of the training, Adam's rate (a number or a function of the epoch) and rows per step
        (None: all).
    draws
        How many functions the result draws.
    scaling
        Of X and y, if they are on their original scale.
    on_progress
        Called with (steps done, in all, a word); it may end the training by raising `StopSampling`.

    Returns
    -------
    LaplacePosterior
        Under the optimised prior, if it is optimised.

    Examples
    --------
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
) -> LaplacePosterior:
    """The Laplace approximation at a mode that `fit_map` has found.

    Parameters
    ----------
    mode
        What `fit_map` returned; its first draw is used.
    X, y
        The rows on which it was trained.
    key
        For the draws of `functions`.
    structure, draws, scaling
        As in `fit_laplace`.

    Returns
    -------
    LaplacePosterior
        Around the mode.

    Examples
    --------
    >>> import jax
    >>> from goodprior.baselines import fit_map
    >>> from goodprior.inference import Gaussian
    >>> from goodprior.networks import MLP
    >>> X = jax.numpy.linspace(-1, 1, 40)[:, None]
    >>> prior = GaussianPrior(MLP(1, (3,), 1, key=jax.random.key(0)))
    >>> mode = fit_map(prior, Gaussian(0.1), X, X, epochs=5, key=jax.random.key(1))
    >>> laplace_at(mode, X, X, key=jax.random.key(2)).predict(X).mean.shape
    (40, 1)
    """
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
) -> LaplacePosterior:
    checks.whole("draws", draws)
    curvature = _curvature(structure, prior, likelihood, mode, data)
    explained = log_likelihood(prior, likelihood, mode, data)
    architecture = prior.architecture
    with jax.enable_x64(True):
        squares = squares_of(architecture, mode)
        evidence = log_evidence(
            curvature, squares, architecture.sizes, precisions_of(prior), explained
        )
    return LaplacePosterior(
        prior, likelihood, mode, curvature, float(evidence), report, key, scaling, draws
    )


def _check(prior: object, likelihood: Likelihood, structure: str) -> None:
    checks.one_of("structure", structure, STRUCTURES)
    if not isinstance(prior, GaussianPrior):
        raise ValueError(
            "a Laplace approximation needs a GaussianPrior (FG, GPi-G); prior is a "
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
