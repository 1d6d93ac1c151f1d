"""Sampling the posterior: chains from modes, steps that suit the table, an end when it is time."""

import time
from typing import Any, TypeGuard

from jaxtyping import PRNGKeyArray

from goodprior.evaluation.diagnostics import MAX_KINETIC_TEMPERATURE, Diagnostics, diagnose
from goodprior.inference import NUTS, SGHMC, Posterior, SamplingError, sample_posterior
from goodprior.pipeline.checkpoint import Checkpoint
from goodprior.pipeline.deadline import Deadline
from goodprior.pipeline.problem import Problem
from goodprior.priors import Prior

FEW_ROWS = 2000  # up to so many rows every step of SGHMC uses all of them
# A step that is too long (chains become infinite, or are thrown about) is divided by these.
SHORTER = (1, 2, 4, 8)


def is_sampled(posterior: Any) -> TypeGuard[Posterior]:
    """Whether a sampler drew it, so that it has chains that could go on."""
    return isinstance(posterior, Posterior) and posterior.ending is not None


def diagnosed(posterior: Any) -> Diagnostics | None:
    """Whether to trust the draws, where there are enough to say."""
    if not is_sampled(posterior) or posterior.probe.shape[1] < 4:
        return None
    return diagnose(posterior)


def sample(
    problem: Problem,
    prior: Prior,
    start: Posterior | None,
    draws: int,
    deadline: Deadline,
    keep: Checkpoint,
    key: PRNGKeyArray,
    go_on: Posterior | None = None,
) -> Posterior:
    """Run the chains until each has so many draws, or until the deadline.

    A posterior to go on from, or one that the checkpoint kept, is taken up where it was left.
    """
    settings = problem.settings
    batch: Any = settings.batch_size
    if batch == "auto":
        batch = None if problem.rows <= FEW_ROWS else 128
    kept: Posterior | None = keep.get("sampling", settings.network)
    enough = settings.burn_in + 4 * settings.thinning
    rhat = _RunningRhat()

    with problem.tracking("sampling the posterior") as track:

        def on_progress(done: int, total: int, phase: str) -> None:
            track(done, total, f"{phase}{rhat}")
            if done >= enough:
                deadline.look()

        def on_chunk(posterior: Posterior) -> None:
            rhat.look(posterior)
            keep.put_sometimes("sampling", posterior)

        def run(sampler: SGHMC | NUTS, before: Posterior | None) -> Posterior:
            posterior = sample_posterior(
                prior,
                problem.model.likelihood,
                problem.X,
                problem.y,
                key=key,
                sampler=sampler,
                chains=settings.chains,
                burn_in=settings.burn_in,
                draws=draws,
                thinning=settings.thinning,
                batch_size=batch,
                temperature=settings.temperature,
                scaling=problem.scaling,
                weights=problem.weights,
                start=start,
                go_on=before,
                on_progress=on_progress,
                on_chunk=on_chunk if keep.folder or settings.verbose else None,
            )
            keep.put("sampling", posterior)
            return posterior

        before = kept if go_on is None else go_on
        if settings.method == "nuts":
            return run(NUTS(), before)
        steps = _steps(settings.step_size, batch, before)
        for step in steps:
            # A run that was kept goes on with the step that it had; a shorter one begins anew.
            if go_on is None and before is not None and before.report.get("step_size") != step:
                before = None
            last = step == steps[-1]
            try:
                found = run(_sghmc(step, settings.momentum_decay, batch), before)
            except SamplingError:
                if last:
                    raise
                continue
            calm = found.report["kinetic_temperature"] <= MAX_KINETIC_TEMPERATURE
            if calm or last or go_on is not None or deadline.reason:
                return found
        raise AssertionError


def _steps(said: Any, batch: int | None, before: Posterior | None) -> list[float]:
    """The step, or those to try one after another, beginning with that of an earlier run."""
    if said != "auto":
        return [said]
    longest = 0.02 if batch is None else 0.01
    steps = [longest / shorter for shorter in SHORTER]
    known = longest if before is None else before.report.get("step_size", longest)
    return [step for step in steps if step <= known] or [known]


def _sghmc(step_size: float, decay: Any, batch: int | None) -> SGHMC:
    if decay == "auto":
        decay = 0.02 if batch is None else 0.01
    noise = "none" if batch is None else "paper"
    return SGHMC(step_size=step_size, momentum_decay=decay, gradient_noise=noise)


class _RunningRhat:
    """The present R-hat, in words, looked at every few seconds."""

    EVERY = 2.0
    SHARE = 0.05  # of the time that looking may take

    def __init__(self) -> None:
        self.words, self._next = "", 0.0

    def look(self, posterior: Posterior) -> None:
        now = time.monotonic()
        if now > self._next and posterior.probe.shape[1] >= 8:
            self.words = f", R-hat {diagnose(posterior).rhat.max():.2f}"
            done = time.monotonic()
            self._next = done + max(self.EVERY, (done - now) / self.SHARE)

    def __str__(self) -> str:
        return self.words
