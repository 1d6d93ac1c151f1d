"""Single networks: maximum a posteriori, and maximum likelihood stopped early (section 6.7)."""

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.baselines.training import Rate, Training
from goodprior.baselines.training_steps import Objective
from goodprior.data.scaling import Scaling
from goodprior.data.splits import hold_out
from goodprior.inference.batches import InMemory
from goodprior.inference.density import Density
from goodprior.inference.likelihoods import Likelihood
from goodprior.inference.posterior import Posterior, reference_rows
from goodprior.inference.sample import Progress
from goodprior.inference.validation import training_data
from goodprior.networks import Architecture
from goodprior.priors import GaussianPrior, NoiseNetworkPrior, Prior
from goodprior.priors.base import Latent
from goodprior.priors.noise_network import FunctionAndNoise


class NegativeLogPosterior(Objective):
    """`-(log p(D | w) + log p(w)) / rows`; without `log p(w)` unless `penalised`.

    The data of each member is its prior.
    """

    likelihood: Likelihood
    rows: int = eqx.field(static=True)
    penalised: bool = eqx.field(static=True, default=True)

    def __call__(
        self,
        member: Latent,
        member_data: Prior,
        key: PRNGKeyArray,
        X: Array,
        y: Array,
        row_weights: Array | None = None,
    ) -> Float[Array, ""]:
        density = Density(member_data, self.likelihood, self.rows)
        if not self.penalised:
            return -density.log_likelihood(member, X, y, row_weights) / len(X)
        return -density(member, X, y, row_weights) / self.rows

    def validate(
        self,
        member: Latent,
        member_data: Prior,
        X: Array,
        y: Array,
        row_weights: Array | None = None,
    ) -> Float[Array, ""]:
        density = Density(member_data, self.likelihood, self.rows)
        total = len(X) if row_weights is None else row_weights.sum()
        return -density.log_likelihood(member, X, y, row_weights) / total


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
    row_weights: object = None,
    penalised: bool = True,
    on_progress: Progress | None = None,
) -> Posterior:
    """The maximum a posteriori, found by Adam, as a posterior of one draw per member.

    Parameters
    ----------
    prior
        Any prior without a Gibbs step. The mode depends on its coordinates: for a flow it is that
        of the base variable.
    likelihood, X, y
        As in `sample_posterior`.
    key
        Determines the starts, the validation rows and the order of the rows.
    members
        Number of independent runs, which become as many chains: starting points for a sampler.
        A Gaussian prior's runs start at weights N(0, 1) and biases 0, others at `prior.start`.
    epochs, learning_rate, batch_size
        Length of the training, Adam's rate (a number or a function of the epoch) and rows per step
        (None: all).
    patience
        Stop after so many epochs without a lower validation NLL, and keep the best weights; None:
        train on all rows for all epochs.
    validation
        Share of the rows to validate on if there is a `patience`.
    scaling
        Of X and y, if they are on their original scale.
    row_weights
        How often each row counts; None: once.
    penalised
        Whether the prior counts; if not, this is the maximum of the likelihood.
    on_progress
        Called with (steps done, in all, a word); it may end the training by raising `StopSampling`.

    Returns
    -------
    Posterior
        With as many chains as members, and one draw in each.

    Examples
    --------
    >>> import jax
    >>> from goodprior.inference import Gaussian
    >>> from goodprior.networks import MLP
    >>> X = jax.numpy.linspace(-1, 1, 40)[:, None]
    >>> prior = GaussianPrior(MLP(1, (10,), 1, key=jax.random.key(0)))
    >>> mode = fit_map(prior, Gaussian(0.1), X, X**2, epochs=10, key=jax.random.key(1))
    >>> mode.predict(X).mean.shape
    (40, 1)
    """
    check_no_gibbs(prior)
    data = in_memory(prior, likelihood, X, y, scaling, row_weights)
    key_start, key_rows, key = jax.random.split(key, 3)
    kept, held = data, None
    if patience is not None:
        kept, held = split_validation(key_rows, data, validation)
    return train_members(
        NegativeLogPosterior(likelihood, kept.rows, penalised),
        broadcast_members(prior, checks.whole("members", members)),
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
    """Maximum likelihood, stopped when the validation NLL no longer falls (section 6.7).

    Parameters
    ----------
    network
        Whose weights start as N(0, 1), with biases at zero.
    likelihood, X, y, key
        As in `fit_map`.
    patience
        Epochs without a lower validation NLL after which training stops.
    **settings
        Further arguments of `fit_map`.

    Returns
    -------
    Posterior
        Of one draw: the weights with the lowest validation NLL.

    Examples
    --------
    >>> import jax
    >>> from goodprior.inference import Gaussian
    >>> from goodprior.networks import MLP
    >>> X = jax.numpy.linspace(-1, 1, 40)[:, None]
    >>> network = MLP(1, (3,), 1, key=jax.random.key(0))
    >>> found = fit_early_stopping(network, Gaussian(0.1), X, X, epochs=5, key=jax.random.key(1))
    >>> found.chains, found.draws_per_chain
    (1, 1)
    """
    settings = {"key": key, "patience": patience, "penalised": False, **settings}
    return fit_map(GaussianPrior(network), likelihood, X, y, **settings)


def train_members(
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
    """Train the members, each under a prior of its own; they are a posterior's chains of one draw.

    `priors` and `members` have a leading axis over members; the posterior has the first prior.
    """
    run = Training(
        objective,
        members,
        data,
        key=key,
        member_data=priors,
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
    draws = jax.tree.map(lambda leaf: np.asarray(leaf)[:, None], members)
    probe = np.zeros((len(run.state.score), 0, 0), np.float32)  # there is nothing to diagnose
    reference = reference_rows(prior, data)
    return Posterior(
        prior, objective.likelihood, draws, probe, report, scaling, reference=reference
    )


def broadcast_members(tree: PyTree, members: int) -> PyTree:
    """The tree with a leading axis over members, the same for all."""

    def repeat(leaf: Any) -> Any:
        return jnp.broadcast_to(leaf, (members, *leaf.shape)) if eqx.is_array(leaf) else leaf

    return jax.tree.map(repeat, tree)


def one_member(tree: PyTree) -> PyTree:
    """A leading axis of one over the arrays."""
    return broadcast_members(tree, 1)


def start(prior: Prior, key: PRNGKeyArray) -> Latent:
    """Where training starts: not at draws of a Gaussian prior, which may be very wide."""
    if isinstance(prior, GaussianPrior):
        return initial_weights(prior.architecture, key)
    if isinstance(prior, NoiseNetworkPrior):
        keys = jax.random.split(key)
        return FunctionAndNoise(start(prior.function, keys[0]), start(prior.log_noise, keys[1]))
    return prior.start(key)


def initial_weights(architecture: Architecture, key: PRNGKeyArray) -> PyTree:
    """Weights N(0, 1) and biases at zero."""
    scales = [0.0 if p.kind == "bias" else 1.0 for p in architecture.parameters]
    return architecture.scaled(architecture.normal(key), jnp.array(scales))


def check_no_gibbs(prior: Prior) -> None:
    """Refuse a prior that needs a Gibbs step, which training does not make."""
    if prior.refresh_every:
        found = "training follows gradients, and a Gibbs step resamples variances of this prior"
        raise ValueError(f"{found}: use its marginal form, prior.in_form('marginal')")


def in_memory(
    prior: Prior,
    likelihood: Likelihood,
    X: object,
    y: object,
    scaling: Scaling | None,
    row_weights: object = None,
) -> InMemory:
    """The checked rows, which must fit into memory."""
    data = training_data(prior, likelihood, X, y, scaling, row_weights)
    if not isinstance(data, InMemory):
        raise ValueError("training shuffles all rows, so X must fit into memory: numpy.asarray(X)")
    return data


def split_validation(key: PRNGKeyArray, data: InMemory, share: float) -> tuple[InMemory, InMemory]:
    """Rows to train on, and rows to validate on."""
    kept, held = map(data.part, hold_out(key, data.rows, share))
    if held.row_weights is not None and not bool((held.row_weights > 0).any()):
        raise ValueError(
            f"all of the {held.rows} validation rows have a weight of zero: leave rows without "
            "weight out of X and y"
        )
    return kept, held
