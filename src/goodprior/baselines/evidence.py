"""The Laplace marginal likelihood, and training that optimises the prior on it (LA-MargLik)."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.baselines.curvature import Curvature, Precisions, Spectrum
from goodprior.baselines.point_estimate import NegativeLogPosterior, one_member, start
from goodprior.baselines.training import Rate, Training
from goodprior.inference.batches import InMemory
from goodprior.inference.density import Density
from goodprior.inference.likelihoods import Gaussian, Likelihood
from goodprior.inference.sample import Progress
from goodprior.networks import Architecture
from goodprior.priors import GaussianPrior


class MarginalLikelihood(eqx.Module):
    """A schedule by which training also optimises the prior on the Laplace marginal likelihood.

    Parameters
    ----------
    burn_in
        Epochs before the first optimisation.
    every
        Epochs between two of them.
    steps, learning_rate
        Adam steps of each, on the logarithms of the precisions, and their rate.
    learn_noise
        Whether a Gaussian likelihood's noise variance is optimised as well.
    learn_prior
        Whether the prior is optimised; if not, only the noise variance.

    Notes
    -----
    The defaults are those of Immer et al. (2021).

    Examples
    --------
    >>> MarginalLikelihood(burn_in=10).every
    1
    """

    burn_in: int = 0
    every: int = 1
    steps: int = 100
    learning_rate: float = 0.1
    learn_noise: bool = False
    learn_prior: bool = True

    def __check_init__(self):
        checks.whole("burn_in", self.burn_in, least=0)
        checks.whole("every", self.every)
        checks.whole("steps", self.steps)
        checks.positive("learning_rate", self.learning_rate)


class Trained(NamedTuple):
    """Weights with the prior and the likelihood under which the evidence was highest."""

    prior: GaussianPrior
    likelihood: Likelihood
    mode: PyTree
    evidence: Float[np.ndarray, " updates"]


class _Hyper(NamedTuple):
    log_precisions: Precisions
    log_factor: Float[Array | np.ndarray, ""]  # of the noise precision: new over old


class _Fit(NamedTuple):
    """What the evidence depends on besides the curvature; arrays, to avoid compiling anew."""

    squares: Float[np.ndarray, " parameters"]
    explained: Float[np.ndarray, ""]  # log p(D | w)
    squared_error: Float[np.ndarray, ""]  # over twice the noise variance
    targets: Float[np.ndarray, ""]


def log_evidence(
    curvature: Curvature | Spectrum,
    squares: Float[Array | np.ndarray, " parameters"],
    sizes: tuple[int, ...],
    precisions: Precisions,
    explained: Array | np.ndarray | float,
    factor: Array | float = 1.0,
) -> Float[Array, ""]:
    """`log p(D | w) + log p(w) + (size / 2) log 2 pi - log det(factor G + precisions) / 2`."""
    prior = jnp.sum(precisions * squares - jnp.array(sizes) * jnp.log(precisions))
    return jnp.asarray(explained) - 0.5 * (prior + curvature.log_det(precisions, factor))


def squares_of(architecture: Architecture, arrays: PyTree) -> Float[np.ndarray, " parameters"]:
    """The sum of squares of each parameter's weights."""
    leaves = architecture.leaves(arrays)
    return np.array([np.sum(np.asarray(leaf, np.float64) ** 2) for leaf in leaves])


def precisions_of(prior: GaussianPrior) -> Float[np.ndarray, " parameters"]:
    """The prior's precision of each parameter."""
    return np.asarray(jax.nn.softplus(prior.raw_scales), np.float64) ** -2


def train_with_evidence(
    prior: GaussianPrior,
    likelihood: Likelihood,
    data: InMemory,
    settings: MarginalLikelihood,
    curvature: Callable[[Likelihood, PyTree], Curvature],
    *,
    key: PRNGKeyArray,
    epochs: int,
    learning_rate: Rate,
    batch_size: int | None,
    on_progress: Progress | None,
) -> Trained:
    """Train the weights while the prior is optimised; keep what had the highest evidence.

    `on_progress` may end it by raising `StopSampling`.
    """
    _check_schedule(settings, likelihood, epochs)
    key_start, key = jax.random.split(key)
    likelihood = _with_array(likelihood)
    run = Training(
        NegativeLogPosterior(likelihood, data.rows),
        one_member(start(prior, key_start)),
        data,
        key=key,
        member_data=one_member(prior),
        learning_rate=learning_rate,
        batch_size=batch_size,
    )
    hyper = _Hyper(np.log(precisions_of(prior)), np.zeros(()))
    with jax.enable_x64(True):
        optimiser = optax.adam(settings.learning_rate).init(hyper)
    values: list[float] = []
    best = None
    last = epochs * run.batches
    report = None if on_progress is None else lambda done, _, text: on_progress(done, last, text)
    if settings.burn_in:
        run.run(settings.burn_in, report)
    while best is None or (run.epochs < epochs and not run.ended):
        run.run(min(run.epochs + settings.every, epochs), report)
        mode = jax.tree.map(lambda leaf: leaf[0], run.members)
        fit = _fit_at(prior, likelihood, mode, data)
        found: Curvature | Spectrum = curvature(likelihood, mode)
        if not settings.learn_prior:
            found = found.spectrum(precisions_of(prior))
        begin = hyper._replace(log_factor=np.zeros(()))
        with jax.enable_x64(True):
            improved = _improve(found, fit, prior.architecture.sizes, begin, optimiser, settings)
            hyper, optimiser, value = jax.tree.map(np.asarray, improved)
        if not np.isfinite(value):
            raise FloatingPointError(
                f"the marginal likelihood is not finite after epoch {run.epochs}: use a smaller "
                "learning_rate, or a longer burn_in"
            )
        prior = prior.with_scales(jnp.asarray(np.exp(-0.5 * hyper.log_precisions), jnp.float32))
        likelihood = _with_factor(likelihood, float(hyper.log_factor))
        run.member_data = one_member(prior)
        run.objective = NegativeLogPosterior(likelihood, data.rows)
        values.append(float(value))
        if values[-1] == max(values):
            best = prior, likelihood, mode
    kept_prior, kept_likelihood, mode = best
    return Trained(kept_prior, _with_number(kept_likelihood), mode, np.array(values))


def _check_schedule(settings: MarginalLikelihood, likelihood: Likelihood, epochs: int) -> None:
    if settings.learn_noise and not isinstance(likelihood, Gaussian):
        raise ValueError(
            f"learn_noise is for the Gaussian likelihood, not for {type(likelihood).__name__}"
        )
    if checks.whole("epochs", epochs) <= settings.burn_in:
        raise ValueError(f"burn_in is {settings.burn_in}, but there are only {epochs} epochs")


def _with_array(likelihood: Likelihood) -> Likelihood:
    """The noise variance as an array, which can change without compiling anew."""
    if not isinstance(likelihood, Gaussian):
        return likelihood
    value = jnp.asarray(likelihood.noise_variance, jnp.float32)
    return eqx.tree_at(lambda l: l.noise_variance, likelihood, value)


def _with_factor(likelihood: Likelihood, log_factor: float) -> Likelihood:
    if log_factor == 0:
        return likelihood
    value = likelihood.noise_variance * jnp.exp(-log_factor)  # type: ignore[attr-defined]
    return eqx.tree_at(lambda l: l.noise_variance, likelihood, value)


def _with_number(likelihood: Likelihood) -> Likelihood:
    if isinstance(likelihood, Gaussian):
        return Gaussian(float(likelihood.noise_variance))
    return likelihood


def _fit_at(prior: GaussianPrior, likelihood: Likelihood, mode: PyTree, data: InMemory) -> _Fit:
    explained = log_likelihood(prior, likelihood, mode, data)
    squared_error = 0.0
    if isinstance(likelihood, Gaussian):
        log_norm = 0.5 * data.y.size * np.log(2 * np.pi * float(likelihood.noise_variance))
        squared_error = -(explained + log_norm)
    squares = squares_of(prior.architecture, mode)
    return _Fit(squares, *map(np.asarray, (explained, squared_error, float(data.y.size))))


def log_likelihood(
    prior: GaussianPrior, likelihood: Likelihood, mode: PyTree, data: InMemory
) -> float:
    """`log p(D | w)` of all rows."""
    return float(_log_likelihood(Density(prior, likelihood, data.rows), mode, data))


@eqx.filter_jit
def _log_likelihood(density: Density, latent: PyTree, data: InMemory) -> Float[Array, ""]:
    return density.log_likelihood(latent, data.X, data.y)


@eqx.filter_jit
def _improve(
    curvature: Curvature | Spectrum,
    fit: _Fit,
    sizes: tuple[int, ...],
    hyper: _Hyper,
    optimiser: optax.OptState,
    settings: MarginalLikelihood,
) -> tuple[_Hyper, optax.OptState, Float[Array, ""]]:
    """Some Adam steps on the evidence at fixed weights."""

    def value(hyper: _Hyper) -> Array:
        # With noise f times more precise, G and the squared error are f times larger.
        factor = jnp.exp(hyper.log_factor)
        explained = fit.explained - (factor - 1) * fit.squared_error
        explained += 0.5 * fit.targets * hyper.log_factor
        precisions = jnp.exp(hyper.log_precisions)
        return log_evidence(curvature, fit.squares, sizes, precisions, explained, factor)

    def step(_: Array, carry: tuple[_Hyper, optax.OptState]) -> tuple[_Hyper, optax.OptState]:
        hyper, optimiser = carry
        grad = jax.grad(lambda hyper: -value(hyper))(hyper)
        if not settings.learn_noise:
            grad = grad._replace(log_factor=jnp.zeros_like(grad.log_factor))
        if not settings.learn_prior:
            grad = grad._replace(log_precisions=jnp.zeros_like(grad.log_precisions))
        updates, optimiser = optax.adam(settings.learning_rate).update(grad, optimiser)
        return optax.apply_updates(hyper, updates), optimiser  # type: ignore[return-value]

    hyper, optimiser = jax.lax.fori_loop(
        0, settings.steps, step, (jax.tree.map(jnp.asarray, hyper), optimiser)
    )
    return hyper, optimiser, value(hyper)
