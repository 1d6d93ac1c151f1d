"""Methods that sample: chains of a sampler, from modes or from draws of the prior."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from goodprior import checks
from goodprior.evaluation.diagnostics import MAX_KINETIC_TEMPERATURE, Diagnostics, diagnose
from goodprior.inference import (
    MCLMC,
    NUTS,
    SGHMC,
    Collapsed,
    Posterior,
    Sampler,
    SamplingError,
    sample_posterior,
)
from goodprior.pipeline.keys import stage_key
from goodprior.pipeline.methods.base import Method, Run, Target
from goodprior.pipeline.methods.trained import MAP
from goodprior.pipeline.problem import Problem

FEW_ROWS = 2000  # up to so many rows every step of the default SGHMC uses all of them
OVERHEAD = 500  # what a step costs beside its rows, in rows
FEATURES = 120  # that are integrated out cost a row as much as all else; the cost is quadratic
SHORTER = (1, 2, 4, 8)  # divisors of the default step, where a longer one does not do
GROWTH = (1.5, 3.0)  # how many times as long a longer run is, at least and at most
MARGIN = 1.2  # on the length that would be enough: effective sample sizes of short runs are rough


@dataclass(frozen=True)
class Sampled(Method):
    """Chains of a sampler.

    Parameters
    ----------
    candidates
        Samplers to try one after another, given the number of rows: the next one where a chain
        becomes infinite, or its kinetic temperature says that the step is too long.
    start
        Chains start near a `mode` of their own, or at draws of the `prior`.
    default_chains, default_draws
        Of a run that does not say how many.
    collapse
        Whether the last layer's weights are integrated out, where that can be done.
    most_work
        A run that misses its target is followed by one 1.5 to 3 times as long, as its effective
        sample size asks. It begins where the other ended, and its draws are kept instead. So it
        goes on as long as all steps of a chain, times rows, cost less than this (with a deadline:
        until that); many features that are integrated out make rows cost more.

    Examples
    --------
    >>> Sampled.by(SGHMC(thinning=10)).name
    'sghmc'
    """

    candidates: Callable[[int], tuple[Sampler, ...]]
    start: Literal["mode", "prior"] = "mode"
    default_chains: int = 8
    default_draws: int = 25
    collapse: bool = False
    most_work: float = 2e7
    likelihood: ClassVar[str] = "heteroscedastic-t"

    def __post_init__(self):
        checks.positive("most_work", self.most_work)

    @classmethod
    def by(cls, sampler: Sampler, *, start: Literal["mode", "prior"] = "mode") -> "Sampled":
        """Chains of this sampler as it is; for MCLMC, as in the method of that name."""
        if isinstance(sampler, MCLMC):
            return cls(Only(sampler), "mode", 4, 100, collapse=True)
        return cls(Only(sampler), start)

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.candidates(1)[0].name

    @property
    def chains(self) -> int:
        return self.default_chains

    @property
    def draws(self) -> int:
        return self.default_draws

    def refuses(self, problem: Problem) -> list[str]:
        found = super().refuses(problem)
        batch_size = self.candidates(problem.rows)[0].batch_size
        if batch_size is not None and batch_size > problem.rows:
            found.append(f"batch_size is {batch_size}, but there are only {problem.rows} rows")
        return found

    def fit(self, run: Run) -> Posterior:
        """Run the chains until each has its draws, or until the deadline.

        A posterior to go on from, or one that the checkpoint kept, is taken up where it was left.
        """
        start = self._start(run) if run.resume is None and self.start == "mode" else None
        candidates = self.candidates(run.problem.rows)
        if run.resume is not None:
            return self._sample(run, _as_it_was(candidates, run.resume), start)
        before = run.hooks.checkpoint.get("sampling", run.problem.network)
        if before is not None:  # go on with the step that it had
            known = before.report.step_size
            candidates = tuple(s for s in candidates if _step_size(s) <= known) or candidates[-1:]
        for sampler in candidates[:-1]:
            try:
                found = self._sample(run, sampler, start)
            except SamplingError:
                found = None
            if found is not None:
                too_hot = (found.report.kinetic_temperature or 0) > MAX_KINETIC_TEMPERATURE
                if not too_hot or run.hooks.deadline.reason:
                    return found
            run.hooks.checkpoint.drop("sampling")  # a shorter step begins anew
        return self._sample(run, candidates[-1], start)

    def _sample(self, run: Run, sampler: Sampler, start: Posterior | None) -> Posterior:
        """Runs of the chains, each longer than the one before, until one is good."""
        assert run.prior is not None
        collapse = self.collapse and _can_collapse(run)
        began = time.monotonic()
        found = _sample(run, sampler, start, collapse, "sampling")
        deadline, spent, number = run.hooks.deadline, 0.0, 1
        while run.target is not None and not deadline.reason:
            known = _diagnosed(found, run.target)
            if known is None or known.converged:
                break
            work, now = _work(found, run, collapse), time.monotonic()
            spent += work
            if deadline.end is None:
                affordable = (self.most_work - spent) / work
                if affordable < GROWTH[0]:
                    break
            else:
                affordable = max(GROWTH[0], (deadline.end - now) / (now - began))
            sampler, number = sampler.prolonged(min(_growth(known), affordable)), number + 1
            began = now
            longer = _sample(run, sampler, found, collapse, f"sampling-{number}")
            if longer.draws_per_chain < run.draws // 2:  # the deadline came too early for it
                break
            found = longer
        return found

    def _start(self, run: Run) -> Posterior:
        """A mode for each chain."""
        return run.hooks.checkpoint.once(
            "start",
            lambda: MAP().find_modes(run, run.chains, "finding where to start", "start"),
            run.problem.network,
        )


@dataclass(frozen=True)
class Only:
    """One sampler for any number of rows; a class of its own so that methods can be pickled."""

    sampler: Sampler

    def __call__(self, rows: int) -> tuple[Sampler, ...]:
        return (self.sampler,)


def default_sghmc(rows: int) -> tuple[SGHMC, ...]:
    """All rows in each step of small tables, with a step that is shortened where it is too long."""
    full = rows <= FEW_ROWS
    longest = SGHMC(
        step_size=0.02 if full else 0.01,
        momentum_decay=0.02 if full else 0.01,
        gradient_noise="none" if full else "paper",
        burn_in=1500,
        thinning=200,
        batch_size=None if full else 128,
    )
    return tuple(replace(longest, step_size=longest.step_size / by) for by in SHORTER)


def default_nuts(rows: int) -> tuple[NUTS, ...]:
    """The usual lengths of NUTS."""
    return (NUTS(burn_in=200, thinning=1),)


def _can_collapse(run: Run) -> bool:
    assert run.prior is not None
    likelihood, weighted = run.problem.likelihood, run.problem.row_weights is not None
    refused = Collapsed.refuses_rows(likelihood, run.temperature, weighted)
    return refused is None and Collapsed.refuses(run.prior, likelihood) is None


def _step_size(sampler: Sampler) -> float:
    return getattr(sampler, "step_size", 0.0)


def _diagnosed(posterior: Posterior, target: Target) -> Diagnostics | None:
    """How near chains are to the target; None where they are too short to tell."""
    if posterior.probe.shape[1] < 4:
        return None
    return diagnose(posterior, max_rhat=target.rhat, min_ess=target.ess)


def _growth(known: Diagnostics) -> float:
    """How many times as long the next run is to be."""
    enough = MARGIN * known.min_ess / max(float(np.nan_to_num(known.ess.min())), 1.0)
    if not (known.rhat <= known.max_rhat).all():
        enough = max(enough, 2.0)
    return min(max(enough, GROWTH[0]), GROWTH[1])


def _work(posterior: Posterior, run: Run, collapse: bool) -> float:
    """What the steps of a chain after burn-in cost, in rows of a network with few features."""
    report, rows = posterior.report, run.problem.rows
    rows = min(rows, report.batch_size or rows)
    assert run.prior is not None
    features = Collapsed.features(run.prior) if collapse else 0
    each = OVERHEAD + rows * max(1.0, (features / FEATURES) ** 2)
    return report.gradients / posterior.chains * each


def _as_it_was(candidates: tuple[Sampler, ...], posterior: Posterior) -> Sampler:
    """The sampler that drew a posterior: one of these, with the lengths that it had."""
    report = posterior.report
    known = [s for s in candidates if _step_size(s) <= report.step_size] or candidates[-1:]
    if report.burn_in is None or report.thinning is None:
        return known[0]
    return replace(known[0], burn_in=report.burn_in, thinning=report.thinning)


def _sample(
    run: Run, sampler: Sampler, start: Posterior | None, collapse: bool, stage: str
) -> Posterior:
    """One run of the chains, with progress, checkpoints and the deadline."""
    problem, hooks, rhat = run.problem, run.hooks, _RunningRhat()
    before = run.resume or hooks.checkpoint.get(stage, problem.network)
    assert run.prior is not None
    task = "sampling the posterior" + ", for longer" * (stage != "sampling")
    with hooks.tracking(task) as track, hooks.deadline.stage(task, keeps=True):

        def on_progress(done: int, total: int, phase: str) -> None:
            track(done, total, f"{phase}{rhat}")
            hooks.deadline.look(burning_in=phase == "burn-in")

        def on_chunk(posterior: Posterior) -> None:
            rhat.look(posterior)
            hooks.checkpoint.put_sometimes(stage, posterior)

        posterior = sample_posterior(
            run.prior,
            problem.likelihood,
            problem.X,
            problem.y,
            key=stage_key(run.key, "sample" if stage == "sampling" else stage),
            sampler=sampler,
            chains=run.chains,
            draws=run.draws,
            temperature=run.temperature,
            collapse=collapse,
            scaling=problem.scaling,
            row_weights=problem.row_weights,
            start=start,
            resume=before,
            on_progress=on_progress,
            on_chunk=on_chunk if hooks.checkpoint.folder or hooks.verbose else None,
        )
    hooks.checkpoint.put(stage, posterior)
    return posterior


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
