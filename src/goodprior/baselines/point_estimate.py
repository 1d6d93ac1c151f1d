"""Single networks: maximum a posteriori, and maximum likelihood stopped early (section 6.7)."""

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.baselines.training import Objective, Rate, Training
from goodprior.data.scaling import Scaling
from goodprior.data.splits import hold_out
from goodprior.inference.batches import InMemory
from goodprior.inference.chains import Progress, check_data
from goodprior.inference.density import Density
from goodprior.inference.likelihoods import Likelihood
from goodprior.inference.posterior import Posterior, reference_rows
from goodprior.networks import Architecture
from goodprior.priors import GaussianPrior, Prior
from goodprior.priors.base import Latent


class NegativeLogPosterior(Objective):
    """`-(log p(D | w) + log p(w)) / rows`; without the prior's part if it is not `penalised`.

    Each member brings its own prior.
    """

    likelihood: Likelihood
    rows: int = eqx.field(static=True)
    penalised: bool = eqx.field(static=True, default=True)

    def __call__(
        self,
        member: Latent,
        own: Prior,
        key: PRNGKeyArray,
        X: Array,
        y: Array,
        weights: Array | None = None,
    ) -> Float[Array, ""]:
        if not self.penalised:
            return self.validate(member, own, X, y)
        return -Density(own, self.likelihood, self.rows)(member, X, y, weights) / self.rows

    def validate(self, member: Latent, own: Prior, X: Array, y: Array) -> Float[Array, ""]:
        density = Density(own, self.likelihood, self.rows)
        return -density.log_likelihood(member, X, y) / len(X)


def fit_map(
    prior: Prior,
    likelihood: Likelihood,
    X: object,
    y: object,
    *,
    key: PRNGKeyArray,
    members: int = 1,
    epochs: int = 150,
    learning_rate: Rate = 0.01,
    batch_size: int | None = 32,
    patience: int | None = None,
    validation: float = 0.2,
    scaling: Scaling | None = None,
    weights: object = None,
    penalised: bool = True,
    on_progress: Progress | None = None,
) -> Posterior:
    """The latent of the highest posterior density, as a posterior of one draw.

    Several `members` climb from starts of their own, and become as many chains of one draw: good
    places for a sampler to start from.

    Adam starts where networks usually do, or at `prior.start` in other coordinates. With a
    `patience`, the share `validation` of the rows is kept aside, training stops after so many
    epochs without a better NLL there, and the best weights are kept. The mode depends on the
    prior's coordinates: of a flow it is that of the base variable. `learning_rate` may be a
    function of the epoch. Without being `penalised` by the prior it is the maximum of the
    likelihood.

    >>> import jax
    >>> from goodprior.inference import Gaussian
    >>> from goodprior.networks import MLP
    >>> X = jax.numpy.linspace(-1, 1, 40)[:, None]
    >>> prior = GaussianPrior(MLP(1, (10,), 1, key=jax.random.key(0)))
    >>> mode = fit_map(prior, Gaussian(0.1), X, X**2, epochs=10, key=jax.random.key(1))
    >>> mode.predict(X).mean.shape
    (40, 1)
    """
    check_moves_all(prior)
    data = in_memory(prior, likelihood, X, y, scaling, weights)
    key_start, key_rows, key = jax.random.split(key, 3)
    kept, held = data, None
    if patience is not None:
        kept, held = parts(key_rows, data, validation)
    return trained(
        NegativeLogPosterior(likelihood, kept.rows, penalised),
        several(prior, checks.whole("members", members)),
        jax.vmap(partial(start, prior))(jax.random.split(key_start, members)),
        kept,
        key=key,
        epochs=epochs,
        learning_rate=learning_rate,
        batch_size=batch_size,
        validation=held,
        patience=patience,
        scaling=scaling,
        on_progress=on_progress,
    )


def fit_early_stopping(
    network: PyTree,
    likelihood: Likelihood,
    X: object,
    y: object,
    *,
    key: PRNGKeyArray,
    patience: int = 10,
    **settings: Any,
) -> Posterior:
    """Maximum likelihood, stopped after `patience` epochs without a better validation NLL.

    There is no penalty on the weights, which start as N(0, 1) with biases at zero. Other settings
    are those of `fit_map`.
    """
    prior = GaussianPrior(network)
    settings = {"key": key, "patience": patience, "penalised": False, **settings}
    return fit_map(prior, likelihood, X, y, **settings)


def trained(
    objective: NegativeLogPosterior,
    priors: Prior,
    members: Latent,
    data: InMemory,
    *,
    key: PRNGKeyArray,
    epochs: int,
    learning_rate: Rate,
    batch_size: int | None,
    scaling: Scaling | None,
    on_progress: Progress | None,
    validation: InMemory | None = None,
    patience: int | None = None,
) -> Posterior:
    """Train the members, each under its own prior, and give them as a posterior of one draw each.

    `priors` and `members` have a leading axis over members; the first prior stands for all.
    """
    run = Training(
        objective,
        members,
        data,
        key=key,
        own=priors,
        learning_rate=learning_rate,
        batch_size=batch_size,
        validation=validation,
        patience=patience,
    )
    members = run.run(epochs, on_progress)
    report: dict[str, Any] = {"epochs": run.epochs}
    if patience is not None:
        report["validation_nll"] = float(run.state.score.mean())
    prior = jax.tree.map(lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, priors)
    reference = reference_rows(prior, data)
    return as_posterior(prior, objective.likelihood, members, report, scaling, reference)


def as_posterior(
    prior: Prior,
    likelihood: Likelihood,
    members: Latent,
    report: dict[str, Any],
    scaling: Scaling | None,
    reference: np.ndarray | None,
) -> Posterior:
    """Members as chains of one draw; there is no trace to diagnose."""
    draws = jax.tree.map(lambda leaf: np.asarray(leaf)[:, None], members)
    trace = np.zeros((len(jax.tree.leaves(draws)[0]), 0, 0), np.float32)
    return Posterior(prior, likelihood, draws, trace, report, scaling, reference=reference)


def several(tree: PyTree, members: int) -> PyTree:
    """The same for all members: a leading axis over the arrays."""

    def repeat(leaf: Any) -> Any:
        return jnp.broadcast_to(leaf, (members, *leaf.shape)) if eqx.is_array(leaf) else leaf

    return jax.tree.map(repeat, tree)


def one_member(tree: PyTree) -> PyTree:
    """A leading axis of one over the arrays."""
    return several(tree, 1)


def start(prior: Prior, key: PRNGKeyArray) -> Latent:
    """Where to begin: not at draws of a Gaussian prior, which may be very wide."""
    if isinstance(prior, GaussianPrior):
        return initial_weights(prior.architecture, key)
    return prior.start(key)


def initial_weights(architecture: Architecture, key: PRNGKeyArray) -> PyTree:
    """Weights N(0, 1) and biases at zero, as networks begin."""
    scales = [0.0 if p.kind == "bias" else 1.0 for p in architecture.parameters]
    return architecture.scaled(architecture.normal(key), jnp.array(scales))


def check_moves_all(prior: Prior) -> None:
    """Refuse a prior of which only a Gibbs step could move some parts."""
    if prior.refresh_every:
        raise ValueError(
            "training moves all of the latent, and this prior holds back what a Gibbs step "
            "resamples: use its marginal form, prior.in_form('marginal')"
        )


def in_memory(
    prior: Prior,
    likelihood: Likelihood,
    X: object,
    y: object,
    scaling: Scaling | None,
    weights: object = None,
) -> InMemory:
    """The checked rows, which must fit into memory."""
    data = check_data(prior, likelihood, X, y, scaling, weights)
    if not isinstance(data, InMemory):
        raise ValueError("training shuffles all rows, so X must fit into memory: numpy.asarray(X)")
    return data


def parts(key: PRNGKeyArray, data: InMemory, share: float) -> tuple[InMemory, InMemory]:
    """Rows to train on, and rows to validate on."""
    kept, held = hold_out(key, data.rows, share)
    return data.part(kept), data.part(held)
