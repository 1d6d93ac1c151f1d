"""The paper's distance: a critic that approaches the 1-Wasserstein distance (section 3.1)."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.matching.distances import AsPublished, Functions, Others


@jax.custom_jvp
def softplus(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """`log(1 + exp(x))`. JAX's own asks for infinities at every order of differentiation, which
    takes a third of a critic's step.

    >>> float(softplus(jnp.asarray(0.0))) == float(jnp.log(2.0))
    True
    """
    return jnp.maximum(x, 0) + jnp.log(1 + jnp.exp(-jnp.abs(x)))


softplus.defjvps(lambda tangent, _, x: jax.nn.sigmoid(x) * tangent)


class CriticState(NamedTuple):
    """The critic's weights and its optimiser's sums."""

    critic: PyTree
    optimiser: optax.OptState


class Wasserstein(AsPublished):
    """The dual form of the 1-Wasserstein distance, with a critic under a gradient penalty.

    The critic is an MLP with two hidden layers of 200 softplus units. Before each step of the
    prior it takes `critic_steps` Adagrad steps to minimise
    `-(E critic(belief) - E critic(prior)) + penalty * E (|critic'| - 1)^2`.
    With several outputs the same critic is applied to each, and summed.

    Functions are drawn once per step of the prior; `redraw_functions` draws for each critic step,
    as the paper's algorithm 1 is printed. In it the critic goes on from where it was. In the
    published results its weights start anew at each step of the prior while its Adagrad sums are
    kept, which leaves the prior further from the belief: `Wasserstein(restart=True)`. The joint
    optimisation of appendix B.5 is `Wasserstein(critic_steps=1)`.

    What it reports is the critic's value, not the distance: because of the penalty it is
    `d * (1 + d / (2 * penalty))` for two distributions a shift d apart.
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

    @property
    def redraw(self) -> int:
        return self.critic_steps if self.redraw_functions else 0

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
        fresh = self._new_critic(key_critic, state.critic.layers[0].weight.shape[1])
        arrays, rest = eqx.partition(fresh, eqx.is_inexact_array)
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
        where = jax.random.uniform(key, (len(first), 1))
        between = where * first + (1 - where) * second
        values, grads = _values_and_grads(critic, jnp.concatenate([ours, theirs]), between)
        norms = jnp.sqrt((grads**2).sum(-1) + 1e-12)
        penalty = outputs * ((norms - 1) ** 2).mean()
        apart = values[len(ours) :].mean() - values[: len(ours)].mean()
        return self.penalty * penalty - outputs * apart

    def __call__(
        self, state: CriticState, functions: Functions, target: Others
    ) -> Float[Array, ""]:
        rest = eqx.filter(
            self._new_critic(jax.random.key(0), functions.shape[1]),
            eqx.is_inexact_array,
            inverse=True,
        )
        return _value(eqx.combine(state.critic, rest), functions, target)


def _rows(functions: Functions) -> Float[Array, "rows points"]:
    """Every output of every draw as a row: the same critic looks at each."""
    return jnp.moveaxis(functions, -1, 0).reshape(-1, functions.shape[1])


def _values_and_grads(
    critic: eqx.nn.MLP, rows: Float[Array, "rows points"], at: Float[Array, "places points"]
) -> tuple[Float[Array, " rows"], Float[Array, "places points"]]:
    """The critic's values at the rows and its gradients at other places, as few large products.

    Written out, the gradient costs one differentiation less than `jax.grad` of `jax.grad`.
    """
    count, bends = len(rows), []
    through = jnp.concatenate([rows, at])
    *hidden, last = critic.layers
    for layer in hidden:
        before = _affine(layer, through)
        through, bend = jax.jvp(critic.activation, (before,), (jnp.ones_like(before),))
        bends.append(bend[count:])
    values = _affine(last, through[:count])[:, 0]
    grads = jnp.broadcast_to(last.weight[0], (len(at), last.weight.shape[1]))
    for layer, bend in zip(reversed(hidden), reversed(bends), strict=True):
        grads = (grads * bend) @ layer.weight
    return values, grads


def _affine(layer: eqx.nn.Linear, rows: Float[Array, "rows in"]) -> Float[Array, "rows out"]:
    product = rows @ layer.weight.T
    return product if layer.bias is None else product + layer.bias


def _value(critic: eqx.nn.MLP, functions: Functions, target: Others) -> Float[Array, ""]:
    """`E critic(target) - E critic(functions)`, summed over outputs."""
    outputs = functions.shape[2]
    each = jax.vmap(critic)
    return outputs * (each(_rows(target)).mean() - each(_rows(functions)).mean())
