"""The one contract of all samplers, and what each reports of its run.

A sampler moves one chain: the driver (`goodprior.inference.chains`) maps it over chains, feeds it
rows and keys, and keeps draws. A new sampler is one file with a subclass of `Sampler`.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from goodprior import checks
from goodprior.inference.coordinates import Vector
from goodprior.priors import Prior

State = Any  # a NamedTuple with at least a `position`
Batch = Any  # rows: inputs, targets and, where rows have weights, those
LogDensity = Callable[[Vector, Batch], Float[Array, ""]]  # of a position, estimated from a batch


class Info(NamedTuple):
    """What one step tells; what a sampler does not have keeps its neutral value.

    `kinetic_temperature` is the mean squared momentum in units of its expectation: 1 where the
    step is short enough. `acceptance` is a probability, `energy_error` the squared change of the
    energy in a step, per dimension.
    """

    gradients: Int[Array, ""] | int = 1
    kinetic_temperature: Float[Array, ""] | float = 0.0
    acceptance: Float[Array, ""] | float = 1.0
    divergent: Array | bool = False
    energy_error: Float[Array, ""] | float = 0.0


class Totals(NamedTuple):
    """Running sums over the steps after burn-in; of the kinetic temperature the maximum."""

    steps: Int[Array, ""]
    gradients: Int[Array, ""]
    kinetic_temperature: Float[Array, ""]
    acceptance: Float[Array, ""]
    divergences: Int[Array, ""]
    energy_error: Float[Array, ""]

    @classmethod
    def zero(cls) -> "Totals":
        """Before the first step."""
        count, value = jnp.zeros((), jnp.int32), jnp.zeros(())
        return cls(count, count, value, value, count, value)

    def add(self, info: Info) -> "Totals":
        """With one more step."""
        return Totals(
            self.steps + 1,
            self.gradients + info.gradients,
            jnp.maximum(self.kinetic_temperature, info.kinetic_temperature),
            self.acceptance + info.acceptance,
            self.divergences + jnp.asarray(info.divergent, jnp.int32),
            self.energy_error + info.energy_error,
        )


class SamplerReport(NamedTuple):
    """What a sampler says of its run: one class for all, None for what it does not have.

    Parameters
    ----------
    sampler
        Its name.
    steps
        Of each chain, burn-in included.
    temperature
        The one that was asked for.
    step_size
        Mean over chains.
    gradients
        Gradient evaluations after burn-in, of all chains.
    kinetic_temperature
        The highest mean squared momentum in units of its expectation: 1 is right.
    temperature_5, temperature_50, temperature_95
        Quantiles over weights of the temperature that is sampled, by SGHMC's estimate.
    clamped
        Share of weights for which SGHMC has no noise to inject.
    acceptance
        Mean acceptance probability.
    divergences
        Number of divergent transitions.
    energy_error
        The mean squared change of the energy in a step, per dimension.
    energy_error_asked
        The one that the step size was adapted to.
    density
        Which density was sampled, in words.
    burn_in, thinning, batch_size
        Steps before the first draw, and between two draws; rows in each (None: all).

    Examples
    --------
    >>> report = SamplerReport("NUTS", steps=2000, temperature=1.0, step_size=0.1, divergences=3)
    >>> report.divergences, report.clamped
    (3, None)
    """

    sampler: str
    steps: int
    temperature: float
    step_size: float
    gradients: int = 0
    kinetic_temperature: float | None = None
    temperature_5: float | None = None
    temperature_50: float | None = None
    temperature_95: float | None = None
    clamped: float | None = None
    acceptance: float | None = None
    divergences: int | None = None
    energy_error: float | None = None
    energy_error_asked: float | None = None
    density: str = "all weights"
    burn_in: int | None = None
    thinning: int | None = None
    batch_size: int | None = None

    @property
    def numbers(self) -> dict[str, int | float]:
        """All that is known, by name.

        >>> SamplerReport("nuts", 10, 1.0, 0.5, divergences=0).numbers
        {'steps': 10, 'temperature': 1.0, 'step_size': 0.5, 'gradients': 0, 'divergences': 0}
        """
        words = ("sampler", "density")
        return {n: v for n, v in self._asdict().items() if n not in words and v is not None}


class Sampler(eqx.Module):
    """Moves one chain of positions toward and through a posterior.

    Beside its own settings a sampler has the length of its run: `burn_in` steps of `warm_up`, then
    a draw is kept after every `thinning` steps. Each step sees `batch_size` rows (None: all).
    Function values are traced for diagnostics every `probe_every` steps. `vectorised` says whether
    chains step together (`vmap`) or one after another on each device, for samplers whose steps
    take different amounts of work. Positions are divided by the prior's scales if `standardised`,
    and all is computed in double precision if `double`. `pool` is called after every `pool_every`
    steps of burn-in (0: never), and `control` after every chunk of sampling if the sampler is
    `controlled`. A sampler that `refreshes` leaves some of a latent to the prior's Gibbs steps.

    Examples
    --------
    >>> from goodprior.inference import NUTS, SGHMC
    >>> sampler: Sampler = SGHMC(burn_in=100, thinning=50, batch_size=None)
    >>> sampler.name, sampler.vectorised, NUTS().vectorised
    ('sghmc', True, False)
    """

    burn_in: eqx.AbstractVar[int]
    thinning: eqx.AbstractVar[int]
    batch_size: eqx.AbstractVar[int | None]
    name: ClassVar[str]
    probe_every: ClassVar[int] = 1
    vectorised: ClassVar[bool] = True
    standardised: ClassVar[bool] = False
    double: ClassVar[bool] = False
    controlled: ClassVar[bool] = False
    refreshes: ClassVar[bool] = True

    @property
    def pool_every(self) -> int:
        """Steps of burn-in between two calls of `pool`."""
        return 0

    @property
    def settling(self) -> int:
        """Steps after burn-in before the prior's `refresh`, while what adapting did fades."""
        return 0

    def __check_init__(self):
        checks.whole("burn_in", self.burn_in, least=0)
        checks.whole("thinning", self.thinning)
        if self.batch_size is not None:
            checks.whole("batch_size", self.batch_size)

    def check(self, prior: Prior, rows: int) -> None:
        """Refuse a prior or a number of rows that the sampler cannot do with."""
        if prior.refresh_every and not self.refreshes:
            raise ValueError(
                f"{self.name.upper()} moves all of the latent, and this prior holds back what a "
                "Gibbs step resamples: use the noncentred form of it, prior.in_form('noncentred')"
            )
        if self.batch_size is not None and self.batch_size > rows:
            raise ValueError(
                f"batch_size is {self.batch_size}, but there are only {rows} rows; "
                "use a smaller one, or None for all rows"
            )

    @abstractmethod
    def init(self, key: PRNGKeyArray, position: Vector) -> State:
        """The state of a chain that starts at this position."""

    @abstractmethod
    def warm_up(
        self,
        key: PRNGKeyArray,
        state: State,
        batch: Batch,
        target: LogDensity,
        step: Int[Array, ""],
    ) -> tuple[State, Info]:
        """One step of burn-in, number `step`, which may adapt the sampler's constants."""

    @abstractmethod
    def step(
        self, key: PRNGKeyArray, state: State, batch: Batch, target: LogDensity
    ) -> tuple[State, Info]:
        """One step with constants as they are."""

    @abstractmethod
    def summary(
        self,
        states: State,
        totals: Totals,
        *,
        steps: int,
        temperature: float,
        gradient_variance: Float[Array, "chains dim"] | None,
    ) -> SamplerReport:
        """What the run was like; leaves of states and totals have a leading axis over chains.

        `gradient_variance` is the variance of minibatch gradients where the chains stand (None:
        all rows are used).
        """

    def pool(self, states: State, groups: Int[Array, " dim"], step: int, since: int) -> State:
        """The states of all chains after `step` steps of burn-in, with what they learn together.

        `groups` has equal numbers for entries of a position that are alike, and `since` is the
        number of steps since the last call.
        """
        return states

    def control(self, states: State, steps: int) -> State:
        """The states of all chains after a chunk of so many steps of sampling."""
        return states

    @property
    def chunk(self) -> int:
        """Steps that are compiled as a whole; a draw may need several such chunks."""
        return self.thinning

    @property
    def compiled(self) -> "Sampler":
        """The sampler without settings that its steps do not depend on, to be compiled once."""
        return self

    @property
    def settled(self) -> bool:
        """Whether chains go on from the state in which an earlier run of the sampler left them."""
        return False

    def prolonged(self, by: float) -> "Sampler":
        """The sampler of a run that begins where another ended, and is so many times as long."""
        return replace(self, thinning=math.ceil(by * self.thinning))

    def recompute(self, state: State, batch: Batch, target: LogDensity) -> State:
        """The state where the target has changed under the chain: what it knows of it, anew."""
        return state

    def relocate(self, state: State, position: Vector) -> State:
        """The state after something else (a Gibbs step) has moved the chain."""
        return state._replace(position=position)


def total(totals: Totals, name: str) -> Any:
    """A sum over all chains."""
    return np.asarray(getattr(totals, name)).sum().item()


def per_step(totals: Totals, name: str) -> float:
    """The mean over all steps of all chains."""
    return float(total(totals, name) / max(total(totals, "steps"), 1))
