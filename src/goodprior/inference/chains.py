"""Running chains: compiled chunks, driven from Python.

A chunk is the stretch between two kept draws. Progress and interruptions live between chunks;
everything that a later chunk needs is in the run's state, so that a run can go on at any time.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key, PRNGKeyArray

from goodprior import checks
from goodprior.data.scaling import Scaling
from goodprior.inference.batches import Data, InMemory, OnDisk, first_row
from goodprior.inference.density import Density
from goodprior.inference.likelihoods import Likelihood
from goodprior.inference.posterior import Posterior, output_shape, reference_rows
from goodprior.inference.samplers.nuts import NUTS, NUTSRun
from goodprior.inference.samplers.sghmc import SGHMC
from goodprior.inference.samplers.sghmc_run import SGHMCRun
from goodprior.priors import Prior
from goodprior.priors.base import Latent

Progress = Callable[[int, int, str], None]


class StopSampling(Exception):
    """Raised by a callback to end a run early, with the draws kept so far."""


class SamplingError(FloatingPointError):
    """Sampling met a value that is not finite; `posterior` has the draws kept before, if any."""

    def __init__(self, message: str, posterior: Posterior | None):
        super().__init__(message)
        self.posterior = posterior


def sample_posterior(
    prior: Prior,
    likelihood: Likelihood,
    X: object,
    y: object,
    *,
    key: PRNGKeyArray,
    sampler: SGHMC | NUTS | None = None,
    chains: int = 4,
    burn_in: int = 2000,
    draws: int = 30,
    thinning: int = 2000,
    batch_size: int | None = 32,
    temperature: float = 1.0,
    scaling: Scaling | None = None,
    weights: object = None,
    start: Posterior | None = None,
    go_on: Posterior | None = None,
    on_progress: Progress | None = None,
    on_chunk: Callable[[Posterior], None] | None = None,
) -> Posterior:
    """Sample the weights' posterior: `draws` per chain, `thinning` steps apart.

    `sampler` is an `SGHMC` (the default) or a `NUTS`, which uses all rows whatever `batch_size`
    says; `batch_size=None` does so for SGHMC. X may be a `numpy.memmap` that is larger than memory.
    With a `scaling`, X and y are given on their original scale. Chains start at draws of the prior,
    or where those of the posterior `start` ended (with a shorter step, say). A row counts as often
    as its entry in `weights` says. The defaults are the paper's settings for small data sets.

    `on_progress(steps done, in all, phase)` is called between chunks, `on_chunk` with the posterior
    as it then is. `go_on` takes up a run where such a posterior left it: with the same other
    arguments the draws are those of a run without a break, and with more `draws` it is longer.
    Either callback may end the run by raising `StopSampling`.

    >>> import jax
    >>> from goodprior.inference import Gaussian
    >>> from goodprior.networks import MLP
    >>> from goodprior.priors import GaussianPrior
    >>> X = jax.numpy.linspace(-1, 1, 40)[:, None]
    >>> posterior = sample_posterior(
    ...     GaussianPrior(MLP(1, (10,), 1, key=jax.random.key(0))), Gaussian(0.1), X, X**2,
    ...     chains=2, burn_in=100, draws=3, thinning=50, key=jax.random.key(1))
    >>> posterior.predict(X).mean.shape
    (40, 1)
    """
    data = check_data(prior, likelihood, X, y, scaling, weights)
    checks.whole("chains", chains)
    checks.whole("burn_in", burn_in, least=0)
    checks.whole("draws", draws)
    checks.whole("thinning", thinning)
    if isinstance(sampler, NUTS):
        sampler.check(prior)
        batch_size = None
    if batch_size is not None and checks.whole("batch_size", batch_size) > data.rows:
        raise ValueError(
            f"batch_size is {batch_size}, but there are only {data.rows} rows; "
            "use a smaller one, or None for all rows"
        )
    density = Density(prior, likelihood, data.rows, checks.positive("temperature", temperature))
    key_start, key = jax.random.split(key)
    latents = _start(prior, start, chains, key_start)
    if not isinstance(sampler, NUTS):
        run = SGHMCRun(density, sampler or SGHMC(), data, batch_size, latents, key)
    elif isinstance(data, InMemory):
        run = NUTSRun(density, sampler, data, latents, key)
    else:
        raise ValueError("NUTS uses all rows in every step, so they must fit into memory")
    if go_on is not None:
        _check_same(go_on, run)
        run.go_on_from(go_on.ending, go_on.report["steps"])
    reference = reference_rows(prior, data)
    return _drive(run, burn_in, draws, thinning, scaling, reference, go_on, on_progress, on_chunk)


def _check_same(posterior: Posterior, run: SGHMCRun | NUTSRun) -> None:
    """Refuse to go on from a run of another kind."""
    found, needed = jax.eval_shape(lambda: (posterior.ending, run.ending))
    if jax.tree.structure(found) != jax.tree.structure(needed) or any(
        jnp.shape(a) != jnp.shape(b)
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(needed), strict=True)
    ):
        raise ValueError(
            "go_on must be a posterior of the same prior, likelihood, sampler and chains, as "
            "`sample_posterior` returned it or gave to `on_chunk`"
        )


def _start(prior: Prior, posterior: Posterior | None, chains: int, key: PRNGKeyArray) -> Latent:
    """Where the chains begin; leaves have a leading axis over chains."""
    if posterior is None:
        return _starts(prior, jax.random.split(key, chains))
    if posterior.chains != chains:
        raise ValueError(
            f"start has {posterior.chains} chains, but {chains} are asked for; they must agree"
        )
    last = jax.tree.map(lambda leaf: jnp.asarray(leaf[:, -1]), posterior.draws)
    if jax.tree.structure(last) != jax.tree.structure(jax.eval_shape(prior.sample, key)):
        raise ValueError("start must be a posterior of the same kind of prior and network")
    return last


@eqx.filter_jit
def _starts(prior: Prior, keys: Key[Array, " chains"]) -> Latent:
    return jax.vmap(prior.start)(keys)


def check_data(
    prior: Prior,
    likelihood: Likelihood,
    X: object,
    y: object,
    scaling: Scaling | None,
    weights: object = None,
) -> Data:
    """The rows in the network's units, once they are known to fit network and likelihood."""
    if isinstance(X, np.memmap):
        data = OnDisk(X, np.asanyarray(y), scaling, likelihood)
    else:
        if scaling is not None:
            X, y = scaling.inputs(X), scaling.targets(y)
        data = InMemory(checks.rows("X", X), likelihood.targets(y), _weights(weights))
        if len(data.X) != len(data.y):
            raise ValueError(f"X and y must have as many rows: {len(data.X)} and {len(data.y)}")
        if data.weights is not None and len(data.weights) != len(data.X):
            raise ValueError(f"weights must have {len(data.X)} entries, one for each row of X")
    x, target = first_row(data)
    latent = jax.eval_shape(prior.sample, jax.random.key(0))
    shape = output_shape(prior, latent, x)
    needed = likelihood.outputs(1 if target.ndim == 0 else len(target))
    if shape != (needed,):
        raise ValueError(
            f"{type(likelihood).__name__} needs a network with {needed} outputs for these "
            f"targets, but it returns {shape}"
        )
    return data


def _weights(weights: object) -> Array | None:
    if weights is None:
        return None
    values = checks.matrix("weights", np.asarray(weights, np.float64).reshape(-1, 1))[:, 0]
    if bool((values < 0).any()) or not bool((values > 0).any()):
        raise ValueError("weights must not be negative, and some must be above zero")
    return values


def _drive(
    run: SGHMCRun | NUTSRun,
    burn_in: int,
    draws: int,
    thinning: int,
    scaling: Scaling | None,
    reference: np.ndarray | None,
    before: Posterior | None,
    on_progress: Progress | None,
    on_chunk: Callable[[Posterior], None] | None,
) -> Posterior:
    """Burn in, then keep a draw after every `thinning` steps, until there are `draws`."""
    total = burn_in + draws * thinning
    empty = jax.tree.map(lambda leaf: np.asarray(leaf)[:, None][:, :0], run.latents())
    kept = [empty if before is None else before.draws]
    probes = [] if before is None or not before.draws_per_chain else [before.probe]

    def posterior(run: SGHMCRun | NUTSRun) -> Posterior:
        stacked = jax.tree.map(lambda *leaves: np.concatenate(leaves, axis=1), *kept)
        chains = len(jax.tree.leaves(stacked)[0])
        trace = np.concatenate(probes, axis=1) if probes else np.zeros((chains, 0, 0), np.float32)
        ending = jax.tree.map(lambda leaf: np.asarray(leaf), run.ending)
        prior, likelihood = run.density.prior, run.density.likelihood
        return Posterior(
            prior, likelihood, stacked, trace, run.report(), scaling, ending, reference
        )

    def look(phase: str) -> None:
        if not run.finite:
            raise SamplingError(
                f"a chain left the finite numbers by step {run.steps} ({phase}). The step is "
                "probably too long for this posterior: try a smaller step_size, a longer burn_in "
                "or a larger batch_size",
                posterior(run) if len(kept) > 1 else None,
            )
        if on_progress is not None:
            on_progress(run.steps, total, phase)
        if on_chunk is not None and phase == "burn-in":
            on_chunk(posterior(run))

    try:
        run.burn_in(burn_in, thinning, look)
        while run.steps < total:
            probe = run.advance(thinning)
            draw = jax.tree.map(lambda leaf: np.asarray(leaf)[:, None], run.latents())
            if run.finite:
                probes.append(probe)
                kept.append(draw)
            look("sampling")
            if on_chunk is not None:
                on_chunk(posterior(run))
    except StopSampling:
        pass
    return posterior(run)
