"""Deep ensembles (Lakshminarayanan et al., 2017; paper, appendix A.1)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.baselines.point_estimate import (
    NegativeLogPosterior,
    in_memory,
    initial_weights,
    split_validation,
    train_members,
)
from goodprior.baselines.training import Rate
from goodprior.data.scaling import Scaling
from goodprior.inference.batches import InMemory
from goodprior.inference.likelihoods import Likelihood
from goodprior.inference.posterior import Posterior
from goodprior.inference.sample import Progress
from goodprior.networks import Architecture
from goodprior.priors import GaussianPrior

WEIGHT_DECAYS = tuple(10.0**k for k in range(-8, 0))  # the paper's grid


def fit_ensemble(
    network: PyTree,
    likelihood: Likelihood,
    X: object,
    y: object,
    *,
    key: PRNGKeyArray,
    members: int = 5,
    weight_decay: float | Sequence[float] = WEIGHT_DECAYS,
    validation: float = 0.2,
    epochs: int = 50,
    learning_rate: Rate = 0.01,
    batch_size: int | None = 32,
    scaling: Scaling | None = None,
    row_weights: object = None,
    on_progress: Progress | None = None,
) -> Posterior:
    """Train networks from different starts; their predictions are a mixture.

    Each minimises `-mean log p(y | x, w) + weight_decay |w|^2 / 2`: the mode under weights
    N(0, 1 / (rows * weight_decay)).

    Parameters
    ----------
    network
        With the outputs that the likelihood needs.
    likelihood
        For regression the paper's is `Heteroscedastic()`, with a network of two outputs.
    X, y
        The rows.
    key
        Determines the starts, the validation rows and the order of the rows.
    members
        Number of networks.
    weight_decay
        A number; or several, of which the one with the lowest validation NLL is used to train on
        all rows.
    validation
        Share of the rows to validate on if there are several weight decays.
    epochs, learning_rate, batch_size
        Length of the training, Adam's rate (a number or a function of the epoch) and rows per step
        (None: all).
    scaling
        Of X and y, if they are on their original scale.
    row_weights
        How often each row counts; None: once.
    on_progress
        Called with (steps done, in all, a word); it may end the training by raising `StopSampling`.

    Returns
    -------
    Posterior
        With as many chains as members, and one draw in each.

    Examples
    --------
    >>> import jax
    >>> from goodprior.inference import Heteroscedastic
    >>> from goodprior.networks import MLP
    >>> X = jax.numpy.linspace(-1, 1, 40)[:, None]
    >>> network = MLP(1, (10,), 2, key=jax.random.key(0))
    >>> ensemble = fit_ensemble(
    ...     network, Heteroscedastic(), X, X**2, weight_decay=1e-4, epochs=5, key=jax.random.key(1))
    >>> ensemble.functions(X).shape
    (5, 40, 2)
    """
    checks.whole("members", members)
    settings: dict[str, Any] = {
        "members": members,
        "epochs": epochs,
        "learning_rate": learning_rate,
        "batch_size": batch_size,
        "scaling": scaling,
        "row_weights": row_weights,
        "on_progress": on_progress,
    }
    report: dict[str, object] = {}
    decay = weight_decay
    if isinstance(decay, Sequence):
        nlls = weight_decay_nlls(
            network,
            likelihood,
            X,
            y,
            key=key,
            weight_decays=decay,
            validation=validation,
            **settings,
        )
        decay = min(nlls, key=lambda each: each[1])[0]
        report = {"validation_nll": nlls} if len(nlls) > 1 else {}
    checks.positive("weight_decay", decay)
    data = in_memory(GaussianPrior(network), likelihood, X, y, scaling, row_weights)
    del settings["row_weights"]
    last = jax.random.split(key, 3)[2]
    ensemble = _train(Architecture(network), likelihood, data, [decay], key=last, **settings)
    return replace(ensemble, report={**ensemble.report, "weight_decay": decay, **report})


def weight_decay_nlls(
    network: PyTree,
    likelihood: Likelihood,
    X: object,
    y: object,
    *,
    key: PRNGKeyArray,
    weight_decays: Sequence[float] = WEIGHT_DECAYS,
    validation: float = 0.2,
    scaling: Scaling | None = None,
    row_weights: object = None,
    **settings: Any,
) -> list[tuple[float, float]]:
    """Each weight decay with the validation NLL of an ensemble that was trained with it.

    Parameters
    ----------
    network, likelihood, X, y, key, validation, scaling, row_weights
        As in `fit_ensemble`, which chooses the lowest.
    weight_decays
        To choose from; of a single one there is nothing to train, and its NLL is NaN.
    **settings
        Members, epochs and the like, as in `fit_ensemble`.

    Examples
    --------
    >>> import jax
    >>> from goodprior.inference import Gaussian
    >>> from goodprior.networks import MLP
    >>> X, key = jax.numpy.linspace(-1, 1, 20)[:, None], jax.random.key(0)
    >>> network = MLP(1, (5,), 1, key=key)
    >>> weight_decay_nlls(network, Gaussian(0.1), X, X, weight_decays=[0.1], key=key)
    [(0.1, nan)]
    """
    decays = [checks.positive("weight_decay", decay) for decay in weight_decays]
    if len(decays) == 1:
        return [(decays[0], float("nan"))]
    data = in_memory(GaussianPrior(network), likelihood, X, y, scaling, row_weights)
    key_rows, key_tune, _ = jax.random.split(key, 3)
    kept, held = split_validation(key_rows, data, validation)
    architecture = Architecture(network)
    settings |= {"key": key_tune, "scaling": scaling}
    trained = _train(architecture, likelihood, kept, decays, **settings)
    nlls = _validation_nlls(trained, held, len(decays))
    return [*zip(decays, nlls.tolist(), strict=True)]


def _train(
    architecture: Architecture,
    likelihood: Likelihood,
    data: InMemory,
    decays: list[float],
    *,
    members: int,
    key: PRNGKeyArray,
    **settings: Any,
) -> Posterior:
    """One ensemble for each weight decay, all in one program."""
    key_start, key_train = jax.random.split(key)
    every = jnp.repeat(jnp.array(decays), members)
    keys = jax.random.split(key_start, len(every))
    return train_members(
        NegativeLogPosterior(likelihood, data.rows),
        _decayed(architecture, data.rows * every),
        jax.vmap(lambda key: initial_weights(architecture, key))(keys),
        data,
        key=key_train,
        **settings,
    )


@eqx.filter_vmap(in_axes=(None, 0))
def _decayed(architecture: Architecture, precision: Float[Array, ""]) -> GaussianPrior:
    """The prior under which the mode has this L2 penalty."""
    return GaussianPrior(architecture).with_scales(precision**-0.5)


def _validation_nlls(
    posterior: Posterior, held: InMemory, ensembles: int
) -> Float[Array, " ensembles"]:
    """The NLL of each of the ensembles, which were trained in one program."""
    outputs = replace(posterior, scaling=None).functions(held.X)
    each = jax.vmap(jax.vmap(posterior.likelihood.log_prob), in_axes=(0, None))(outputs, held.y)
    each = each.reshape(ensembles, -1, held.rows)
    mixture = jax.scipy.special.logsumexp(each, axis=1) - jnp.log(each.shape[1])
    return -jnp.average(mixture, axis=1, weights=held.row_weights)
