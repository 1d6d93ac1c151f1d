"""Full-batch NUTS by BlackJAX: the reference that other samplers are compared with."""

from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from goodprior import checks
from goodprior.inference.coordinates import Vector
from goodprior.inference.samplers.base import (
    Batch,
    Info,
    LogDensity,
    Sampler,
    SamplerReport,
    Totals,
    per_step,
    total,
)


class State(NamedTuple):
    """Where a chain is, and what its warm-up has found.

    `averaging` and `moments` are the running state of the adaptation: of the step size (dual
    averaging) and of the mass matrix (Welford).
    """

    position: Vector
    step_size: Float[Array, ""]
    inverse_mass: Vector
    averaging: tuple[Any, ...]
    moments: tuple[Any, ...]


class NUTS(Sampler):
    """The No-U-Turn sampler. Burn-in adapts the step size and a diagonal mass matrix, as Stan does.

    Parameters
    ----------
    target_acceptance
        Mean acceptance probability that the step size is adapted to.
    max_doublings
        A trajectory has at most `2 ** max_doublings` gradient evaluations.
    burn_in, thinning
        Transitions before the first draw, and between two draws.

    Examples
    --------
    >>> NUTS(target_acceptance=0.9).max_doublings
    10
    """

    target_acceptance: float = eqx.field(static=True, default=0.8)
    max_doublings: int = eqx.field(static=True, default=10)
    burn_in: int = eqx.field(static=True, default=200)
    thinning: int = eqx.field(static=True, default=1)
    batch_size: ClassVar[int | None] = None  # pyright: ignore[reportIncompatibleVariableOverride]
    name: ClassVar[str] = "nuts"
    refreshes: ClassVar[bool] = False
    vectorised: ClassVar[bool] = False  # together, all chains would wait for the longest tree

    def __check_init__(self):
        if not 0 < self.target_acceptance < 1:
            raise ValueError(
                f"target_acceptance must lie between 0 and 1, got {self.target_acceptance}"
            )
        checks.whole("max_doublings", self.max_doublings)

    def init(self, key: PRNGKeyArray, position: Vector) -> State:
        """A chain before its warm-up: a step of 1 and a unit mass matrix, as BlackJAX begins."""
        step_init, _, _, moments_init, _, _ = self._adaptation()
        moments = moments_init(position.size)
        state = State(
            position,
            jnp.ones(()),
            moments.inverse_mass_matrix,
            tuple(step_init(1.0)),
            _plain(moments),
        )
        return jax.tree.map(lambda v: jnp.asarray(v, jnp.result_type(v)), state)

    def warm_up(
        self,
        key: PRNGKeyArray,
        state: State,
        batch: Batch,
        target: LogDensity,
        step: Int[Array, ""],
    ) -> tuple[State, Info]:
        """A transition, then a step of Stan's window adaptation."""
        from blackjax.adaptation.mass_matrix import (
            MassMatrixAdaptationState,
            WelfordAlgorithmState,
        )
        from blackjax.adaptation.step_size import DualAveragingAdaptationState
        from blackjax.adaptation.window_adaptation import build_schedule

        stage, is_window_end = jnp.asarray(build_schedule(self.burn_in))[step]
        step_init, step_update, step_final, _, moments_update, moments_final = self._adaptation()
        moved, info = self.step(key, state, batch, target)
        averaging = step_update(DualAveragingAdaptationState(*state.averaging), info.acceptance)
        inverse_mass, welford = state.moments
        moments = MassMatrixAdaptationState(inverse_mass, WelfordAlgorithmState(*welford))
        moments = jax.lax.cond(
            stage == 1, lambda m: moments_update(m, moved.position), lambda m: m, moments
        )
        averaging, moments = jax.lax.cond(
            is_window_end == 1,
            lambda a, m: (step_init(step_final(a)), moments_final(m)),
            lambda a, m: (a, m),
            averaging,
            moments,
        )
        last = step == self.burn_in - 1
        step_size = jnp.where(last, step_final(averaging), jnp.exp(averaging.log_step_size))
        return State(
            moved.position,
            step_size,
            moments.inverse_mass_matrix,
            tuple(averaging),
            _plain(moments),
        ), info

    def step(
        self, key: PRNGKeyArray, state: State, batch: Batch, target: LogDensity
    ) -> tuple[State, Info]:
        """One transition."""
        import blackjax  # not above: importing it starts JAX, and then devices are counted

        kernel: Any = blackjax.nuts(
            lambda position: target(position, batch),
            step_size=state.step_size,
            inverse_mass_matrix=state.inverse_mass,
            max_num_doublings=self.max_doublings,
        )
        moved, info = kernel.step(key, kernel.init(state.position))
        return state._replace(position=moved.position), Info(
            gradients=info.num_integration_steps,
            acceptance=info.acceptance_rate,
            divergent=info.is_divergent,
        )

    def summary(
        self,
        states: State,
        totals: Totals,
        *,
        steps: int,
        temperature: float,
        gradient_variance: Float[Array, "chains dim"] | None,
    ) -> SamplerReport:
        """Acceptance, divergences and gradient evaluations."""
        return SamplerReport(
            self.name,
            steps,
            temperature,
            float(np.mean(states.step_size)),
            gradients=total(totals, "gradients"),
            acceptance=per_step(totals, "acceptance"),
            divergences=total(totals, "divergences"),
        )

    def _adaptation(self) -> tuple[Any, ...]:
        from blackjax.adaptation.mass_matrix import mass_matrix_adaptation
        from blackjax.adaptation.step_size import dual_averaging_adaptation

        return (
            *dual_averaging_adaptation(self.target_acceptance),
            *mass_matrix_adaptation(True),
        )


def _plain(moments: Any) -> tuple[Any, ...]:
    """BlackJAX's state as plain tuples, which files can hold."""
    return moments.inverse_mass_matrix, tuple(moments.wc_state)
