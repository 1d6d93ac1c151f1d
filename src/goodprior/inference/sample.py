"""`sample_posterior`: several chains of a sampler, as a `Posterior`."""

import time
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key, PRNGKeyArray

from goodprior import checks
from goodprior.data.scaling import Scaling
from goodprior.inference.chains import Chains, RunState
from goodprior.inference.collapsed import Collapsed
from goodprior.inference.density import Density
from goodprior.inference.likelihoods import Likelihood
from goodprior.inference.posterior import Posterior, reference_rows
from goodprior.inference.samplers.base import Sampler
from goodprior.inference.samplers.sghmc import SGHMC
from goodprior.inference.validation import training_data
from goodprior.priors import Prior
from goodprior.priors.base import Latent
from goodprior.progress import Pace, StopBurnIn, StopSampling

Progress = Callable[[int, int, str], None]


class SamplingError(FloatingPointError):
    """Sampling met a value that is not finite; `posterior` has the draws kept before, if any.

    Examples
    --------
    >>> try:
    ...     raise SamplingError("step 120: the gradient is not finite", None)
    ... except SamplingError as error:
    ...     print(error, error.posterior)
    step 120: the gradient is not finite None
    """

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
    sampler: Sampler | None = None,
    chains: int = 4,
    draws: int = 30,
    temperature: float = 1.0,
    collapse: bool = False,
    scaling: Scaling | None = None,
    row_weights: object = None,
    start: Posterior | None = None,
    resume: Posterior | None = None,
    on_progress: Progress | None = None,
    on_chunk: Callable[[Posterior], None] | None = None,
) -> Posterior:
    """Sample the weights' posterior.

    Parameters
    ----------
    prior, likelihood
        Of the weights, and of the targets given the network's outputs.
    X, y
        Training rows, on their original scale if there is a `scaling`. X may be a `numpy.memmap`
        that is larger than memory.
    key
        Of all random numbers.
    sampler
        Such as `SGHMC(...)`, the default with the paper's settings; it has the run's lengths, too.
    chains, draws
        How many chains, and how many draws of each are kept.
    temperature
        Of the posterior: below 1 it is cold.
    collapse
        Whether the last layer's weights are integrated out and drawn exactly for every draw, where
        they and the noise are Gaussian (`Collapsed`); the sampler must use all rows.
    scaling
        Between original and standardised units.
    row_weights
        How often each row counts.
    start
        Chains start where those of this posterior ended (with a shorter step, say), instead of at
        draws of the prior.
    resume
        A posterior whose run is taken up where it was left: with the same other arguments the draws
        are those of a run without a break, and with more `draws` it is longer.
    on_progress
        `on_progress(steps done, in all, phase)` is called between chunks.
    on_chunk
        Called between chunks with the posterior as it then is. Either callback may end the run by
        raising `StopSampling`: the draws so far are kept or, where there are none, the place where
        each chain is. `on_progress` may end burn-in by raising `StopBurnIn`.

    Returns
    -------
    Posterior
        The draws, with what is needed to predict, to diagnose and to go on.

    Raises
    ------
    SamplingError
        If a chain leaves the finite numbers; it has the draws kept before.

    Examples
    --------
    >>> import jax
    >>> from goodprior.inference import Gaussian
    >>> from goodprior.networks import MLP
    >>> from goodprior.priors import GaussianPrior
    >>> X = jax.numpy.linspace(-1, 1, 40)[:, None]
    >>> posterior = sample_posterior(
    ...     GaussianPrior(MLP(1, (10,), 1, key=jax.random.key(0))), Gaussian(0.1), X, X**2,
    ...     sampler=SGHMC(burn_in=100, thinning=50), chains=2, draws=3, key=jax.random.key(1))
    >>> posterior.predict(X).mean.shape
    (40, 1)
    """
    sampler = SGHMC() if sampler is None else sampler
    checks.whole("chains", chains)
    checks.whole("draws", draws)
    data = training_data(prior, likelihood, X, y, scaling, row_weights)
    sampler.check(prior, data.rows)
    temperature = checks.positive("temperature", temperature)
    refused = Collapsed.refuses_rows(likelihood, temperature, row_weights is not None)
    kind = _collapsed(prior, likelihood, sampler, refused) if collapse else Density
    density = kind(prior, likelihood, data.rows, temperature)
    key_start, key = jax.random.split(key)
    latents = _start(prior, start, chains, key_start)
    run = Chains(density, sampler, data, latents, key)
    if sampler.settled and start is not None and start.run_state is not None:
        run.follow(start.run_state)
    if resume is not None:
        if resume.run_state is None:
            raise ValueError("resume must be a posterior that a sampler drew")
        run.resume(resume.run_state)
    return _Driver(run, draws, scaling, reference_rows(prior, data), resume).drive(
        on_progress, on_chunk
    )


def _collapsed(
    prior: Prior, likelihood: Likelihood, sampler: Sampler, refused: str | None
) -> type[Density]:
    reason = refused or Collapsed.refuses(prior, likelihood)
    if reason is None and sampler.batch_size is not None:
        reason = f"each step of {sampler.name} sees {sampler.batch_size} rows, not all of them"
    if reason is not None:
        raise ValueError(f"the last layer's weights cannot be integrated out: {reason}")
    return Collapsed


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


class _Driver:
    """Burns in, then keeps a draw after every chunk, until there are enough or a callback stops."""

    def __init__(
        self,
        run: Chains,
        draws: int,
        scaling: Scaling | None,
        reference: np.ndarray | None,
        before: Posterior | None,
    ):
        self.run, self.scaling, self.reference = run, scaling, reference
        self.total = run.sampler.burn_in + draws * run.sampler.thinning
        empty = jax.tree.map(lambda leaf: np.asarray(leaf)[:, None][:, :0], run.latents())
        if before is not None and run.steps <= run.sampler.burn_in:
            before = None  # it ended before there was a draw
        self.kept = [empty if before is None else before.draws]
        self.probes = [] if before is None or not before.draws_per_chain else [before.probe]
        self.pace = Pace()

    def drive(
        self, on_progress: Progress | None, on_chunk: Callable[[Posterior], None] | None
    ) -> Posterior:
        run, last = self.run, self.run.state
        self.look = on_progress or (lambda done, total, phase: None)
        try:
            while run.steps < self.total:
                warming_up = run.steps < run.sampler.burn_in
                phase = "burn-in" if warming_up else "sampling"
                try:
                    self._keep(self._warm_up() if warming_up else self._to_the_next_draw(), phase)
                    last = run.state
                    self.look(run.steps, self.total, phase)
                except StopBurnIn:
                    run.steps = max(run.steps, run.sampler.burn_in)
                    last = run.state
                if on_chunk is not None:
                    on_chunk(self.posterior())
        except StopSampling:
            self._keep_something(last)
        return self.posterior()

    def _keep_something(self, last: RunState) -> None:
        """Where there is no draw, the present place; the run can be taken up at the last chunk."""
        if not self._draws:
            self._check_finite("burn-in")
            self.kept.append(self._draw())
        self.run.resume(last)

    def _warm_up(self) -> np.ndarray:
        sampler = self.run.sampler
        chunk = sampler.pool_every or sampler.thinning
        return self._chunk(min(chunk, sampler.burn_in - self.run.steps), warming_up=True)

    def _to_the_next_draw(self) -> np.ndarray:
        """The probe trace on the way to it, thinned where it takes many chunks."""
        sampler, traces, left = self.run.sampler, [], self.run.sampler.thinning
        while left:
            steps = min(sampler.chunk, left)
            traces.append(self._chunk(steps, warming_up=False))
            left -= steps
            if left:
                self.look(self.run.steps, self.total, "sampling")
        trace = np.concatenate(traces, axis=1)
        every = max(1, len(traces) // 2)
        return trace[:, every - 1 :: every]

    def _chunk(self, steps: int, *, warming_up: bool) -> np.ndarray:
        """The probe trace of so many steps, which are done in parts where they take long."""
        traces, done, times = [], 0, self.run.stretches(steps)
        while done < times:
            part = done, min(times, done + self.pace.pieces)
            started = time.monotonic()
            traces.append(self.run.advance(steps, warming_up=warming_up, part=part))
            self.pace.took(part[1] - part[0], time.monotonic() - started)
            done = part[1]
            if done < times:
                self.look(self.run.steps, self.total, "burn-in" if warming_up else "sampling")
        return np.concatenate(traces, axis=1)

    def _draw(self) -> Latent:
        return jax.tree.map(lambda leaf: np.asarray(leaf)[:, None], self.run.latents())

    @property
    def _draws(self) -> int:
        """How many of each chain have been kept."""
        return sum(jax.tree.leaves(draws)[0].shape[1] for draws in self.kept)

    def _keep(self, probe: np.ndarray, phase: str) -> None:
        self._check_finite(phase)
        if phase == "sampling":
            self.probes.append(probe)
            self.kept.append(self._draw())

    def _check_finite(self, phase: str) -> None:
        if not self.run.finite:
            raise SamplingError(
                f"a chain left the finite numbers by step {self.run.steps} ({phase}). The step is "
                "probably too long for this posterior: try a smaller step_size, a longer burn_in "
                "or a larger batch_size",
                self.posterior() if len(self.kept) > 1 else None,
            )

    def posterior(self) -> Posterior:
        """What has been kept so far."""
        run = self.run
        stacked = jax.tree.map(lambda *leaves: np.concatenate(leaves, axis=1), *self.kept)
        chains = len(jax.tree.leaves(stacked)[0])
        empty = np.zeros((chains, 0, 0), np.float32)
        return Posterior(
            run.density.prior,
            run.density.likelihood,
            stacked,
            np.concatenate(self.probes, axis=1) if self.probes else empty,
            run.report(),
            self.scaling,
            jax.tree.map(np.asarray, run.state),
            self.reference,
        )
