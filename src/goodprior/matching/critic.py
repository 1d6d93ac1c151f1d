"""The paper's distance: a critic that approaches the 1-Wasserstein distance (section 3.1)."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.matching.distances import Functions, Others, Points, SampleDistance
from goodprior.matching.schedule import MatchSchedule


@jax.custom_jvp
def softplus(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """`log(1 + exp(x))`, for any number of derivatives.

    JAX's own tests for infinities at every order of differentiation, which takes a third of a
    critic's step.

    Examples
    --------
    >>> float(softplus(jnp.asarray(0.0))) == float(jnp.log(2.0))
    True
    """
    return jnp.maximum(x, 0) + jnp.log(1 + jnp.exp(-jnp.abs(x)))


softplus.defjvps(lambda tangent, _, x: jax.nn.sigmoid(x) * tangent)


class CriticState(NamedTuple):
    """The critic's weights and its optimiser's sums."""

    critic: PyTree
    optimiser: optax.OptState


class Wasserstein(SampleDistance):
    """The dual form of the 1-Wasserstein distance, with a critic under a gradient penalty.

    The critic is an MLP with two hidden layers of 200 softplus units. Before each step of the
    prior it takes `critic_steps` Adagrad steps to minimise
    `-(E critic(belief) - E critic(prior)) + penalty * E (|critic'| - 1)^2`.
    With several outputs the same critic is applied to each, and summed.

    Parameters
    ----------
    critic_steps : int
        Steps of the critic before each step of the prior. With 1, both are optimised jointly
        (appendix B.5).
    penalty : float
        Weight of the gradient penalty.
    critic_learning_rate : float
        Of the critic's Adagrad.
    redraw_functions : bool
        Draw functions for each step of the critic, as the paper's algorithm 1 is printed, instead
        of once for each step of the prior.
    restart : bool
        Go about it as the published results do: start the critic's weights anew at each step of
        the prior and keep only its Adagrad sums, and move the prior on functions that the critic
        was not fitted to. Otherwise the critic goes on from where it was.
    width : int
        Units in each of the critic's hidden layers.

    Notes
    -----
    What it reports is the critic's value, not the distance: because of the penalty it is
    `d * (1 + d / (2 * penalty))` for two distributions a shift d apart.

    Examples
    --------
    >>> Wasserstein(critic_steps=40).default_schedule.optimiser
    'rmsprop'
    """

    critic_steps: int = eqx.field(static=True, default=200)
    penalty: float = eqx.field(static=True, default=10.0)
    critic_learning_rate: float = eqx.field(static=True, default=0.02)
    redraw_functions: bool = eqx.field(static=True, default=False)
    restart: bool = eqx.field(static=True, default=False)
    width: int = eqx.field(static=True, default=200)

    def __check_init__(self):
        checks.whole("critic_steps", self.critic_steps)
        checks.positive("penalty", self.penalty)
        checks.positive("critic_learning_rate", self.critic_learning_rate)
        checks.whole("width", self.width)

    @property
    def default_schedule(self) -> MatchSchedule:
        return MatchSchedule.published()

    @property
    def redraw(self) -> int:
        return self.critic_steps if self.redraw_functions else int(self.restart)

    @property
    def _adagrad(self) -> optax.GradientTransformation:
        return optax.adagrad(self.critic_learning_rate, initial_accumulator_value=0.0, eps=1e-10)

    def _new_critic(self, key: PRNGKeyArray, points: int) -> eqx.nn.MLP:
        return eqx.nn.MLP(points, "scalar", self.width, 2, activation=softplus, key=key)

    def init(self, key: PRNGKeyArray, points: int) -> CriticState:
        critic = eqx.filter(self._new_critic(key, points), eqx.is_inexact_array)
        return CriticState(critic, self._adagrad.init(critic))

    def fit(
        self,
        key: PRNGKeyArray,
        state: CriticState,
        pair: Callable[[Array], tuple[Array, Array]],
    ) -> CriticState:
        key_critic, key_between = jax.random.split(key)
        new = self._new_critic(key_critic, state.critic.layers[0].weight.shape[1])
        arrays, rest = eqx.partition(new, eqx.is_inexact_array)
        start = CriticState(arrays if self.restart else state.critic, state.optimiser)

        def step(state: CriticState, i: Array) -> tuple[CriticState, None]:
            functions, target = pair(i)
            gradient = jax.grad(
                lambda arrays: self.loss(
                    eqx.combine(arrays, rest), jax.random.fold_in(key_between, i), functions, target
                )
            )(state.critic)
            updates, optimiser = self._adagrad.update(gradient, state.optimiser)
            return CriticState(optax.apply_updates(state.critic, updates), optimiser), None

        return jax.lax.scan(step, start, jnp.arange(self.critic_steps))[0]

    def loss(
        self,
        critic: eqx.nn.MLP,
        key: PRNGKeyArray,
        functions: Functions,
        target: Others,
    ) -> Float[Array, ""]:
        """What the critic minimises."""
        count, outputs = min(len(functions), len(target)), functions.shape[2]
        ours, theirs = _rows(functions), _rows(target)
        first, second = _rows(functions[:count]), _rows(target[:count])
        share = jax.random.uniform(key, (len(first), 1))
        between = share * first + (1 - share) * second
        values, grads = _values_and_grads(critic, jnp.concatenate([ours, theirs]), between)
        norms = jnp.sqrt((grads**2).sum(-1) + 1e-12)
        penalty = outputs * ((norms - 1) ** 2).mean()
        difference = values[len(ours) :].mean() - values[: len(ours)].mean()
        return self.penalty * penalty - outputs * difference

    def __call__(
        self, state: CriticState, functions: Functions, target: Others, x: Points | None = None
    ) -> Float[Array, ""]:
        """`E critic(target) - E critic(functions)`, summed over outputs."""
        rest = eqx.filter(
            self._new_critic(jax.random.key(0), functions.shape[1]),
            eqx.is_inexact_array,
            inverse=True,
        )
        each = jax.vmap(eqx.combine(state.critic, rest))
        difference = each(_rows(target)).mean() - each(_rows(functions)).mean()
        return functions.shape[2] * difference


def _rows(functions: Functions) -> Float[Array, "rows points"]:
    """Every output of every draw as a row: the same critic looks at each."""
    return jnp.moveaxis(functions, -1, 0).reshape(-1, functions.shape[1])


def _values_and_grads(
    critic: eqx.nn.MLP, rows: Float[Array, "rows points"], at: Float[Array, "places points"]
) -> tuple[Float[Array, " rows"], Float[Array, "places points"]]:
    """The critic's values at the rows and its gradients at other places, as few large products.

    Written out, the gradient costs one differentiation less than `jax.grad` of `jax.grad`.
    """
    count, derivatives = len(rows), []
    activations = jnp.concatenate([rows, at])
    *hidden, last = critic.layers
    for layer in hidden:
        before = _affine(layer, activations)
        activations, derivative = jax.jvp(critic.activation, (before,), (jnp.ones_like(before),))
        derivatives.append(derivative[count:])
    values = _affine(last, activations[:count])[:, 0]
    grads = jnp.broadcast_to(last.weight[0], (len(at), last.weight.shape[1]))
    for layer, derivative in zip(reversed(hidden), reversed(derivatives), strict=True):
        grads = (grads * derivative) @ layer.weight
    return values, grads


def _affine(layer: eqx.nn.Linear, rows: Float[Array, "rows in"]) -> Float[Array, "rows out"]:
    product = rows @ layer.weight.T
    return product if layer.bias is None else product + layer.bias
