"""Functional variational inference (fBNN; Sun et al., 2019): a belief as the prior of functions.

A factorised Gaussian over the weights is trained to maximise
`E log p(y | f) - KL(q(f) || belief(f))`, with the KL over functions at a measurement set: the
minibatch and some uniform points of the box of the inputs.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from goodprior import checks
from goodprior.baselines.point_estimate import in_memory, initial_weights, one_member
from goodprior.baselines.training import Rate, Training
from goodprior.baselines.training_steps import Objective
from goodprior.beliefs.fit_kernel import fit_kernel
from goodprior.beliefs.gaussian_process import GaussianProcess
from goodprior.data.scaling import Scaling
from goodprior.fast_normal import fast_normal
from goodprior.inference.likelihoods import Gaussian
from goodprior.inference.posterior import Posterior
from goodprior.inference.sample import Progress
from goodprior.matching.kl import KLStein, SteinDivergence
from goodprior.networks import Architecture
from goodprior.priors import GaussianPrior

STARTING_STD = 0.1  # of the variational posterior of each weight


class Factorised(NamedTuple):
    """Independent Gaussians, one for each weight."""

    mean: PyTree
    log_std: PyTree

    def sample(self, key: PRNGKeyArray, architecture: Architecture) -> PyTree:
        """The arrays of one network."""
        noise = architecture.arrays(fast_normal(key, (architecture.size,)))
        return jax.tree.map(lambda m, s, e: m + jnp.exp(s) * e, self.mean, self.log_std, noise)


class FunctionalELBO(Objective):
    """`-E log p(y | f) + KL(q(f) || belief(f)) / rows`, with the gradient of the KL by SSGE."""

    architecture: Architecture
    likelihood: Gaussian
    distance: SteinDivergence
    low: Float[Array, " in"]
    high: Float[Array, " in"]
    rows: int = eqx.field(static=True)
    box_points: int = eqx.field(static=True)
    functions: int = eqx.field(static=True)

    def __call__(
        self, member: Factorised, member_data: None, key: PRNGKeyArray, X: Array, y: Array
    ) -> Float[Array, ""]:
        key_points, key_weights, key_noise = jax.random.split(key, 3)
        shape = (self.box_points, X.shape[1])
        more = jax.random.uniform(key_points, shape, minval=self.low, maxval=self.high)
        x = jnp.concatenate([X, more])

        def one(key: PRNGKeyArray) -> Array:
            return jax.vmap(self.architecture.network(member.sample(key, self.architecture)))(x)

        functions = jax.vmap(one)(jax.random.split(key_weights, self.functions))
        log_prob = jax.vmap(jax.vmap(self.likelihood.log_prob), in_axes=(0, None))
        explained = log_prob(functions[:, : len(X)], y).mean()
        return self.distance.divergence(key_noise, functions, x) / self.rows - explained


def fit_fbnn(
    network: PyTree,
    likelihood: Gaussian,
    X: object,
    y: object,
    *,
    key: PRNGKeyArray,
    belief: GaussianProcess | None = None,
    epochs: int = 150,
    learning_rate: Rate = 0.01,
    batch_size: int | None = 32,
    box_points: int = 20,
    functions: int = 100,
    jitter: float = 1e-3,
    draws: int = 100,
    scaling: Scaling | None = None,
    on_progress: Progress | None = None,
) -> Posterior:
    """Train the variational posterior of the weights under a belief about functions.

    Parameters
    ----------
    network
        Whose weights have a factorised Gaussian posterior.
    likelihood
        Gaussian: as the original, this is for regression.
    X, y
        The rows.
    key
        Determines everything random.
    belief
        A Gaussian process; None: one is fitted to the rows (`fit_kernel`).
    epochs, learning_rate, batch_size
        Length of the training, Adam's rate (a number or a function of the epoch) and rows per step
        (None: all).
    box_points
        Uniform points of the inputs' box that join each minibatch as the measurement set.
    functions
        Function draws per step.
    jitter
        Share of the belief's variance that is added as noise to both sides, so that the functions
        have densities.
    draws
        Draws of the trained posterior to keep.
    scaling
        Of X and y, if they are on their original scale.
    on_progress
        Called with (steps done, in all, a word); it may end the training by raising `StopSampling`.

    Returns
    -------
    Posterior
        With one chain.

    Examples
    --------
    >>> import jax
    >>> from goodprior.beliefs import rbf
    >>> from goodprior.networks import MLP
    >>> X = jax.numpy.linspace(-1, 1, 40)[:, None]
    >>> network = MLP(1, (10,), 1, key=jax.random.key(0))
    >>> posterior = fit_fbnn(network, Gaussian(0.1), X, X**2, belief=GaussianProcess(rbf(1.0)),
    ...     epochs=5, functions=20, key=jax.random.key(1))
    >>> posterior.functions(X).shape
    (100, 40, 1)
    """
    if not isinstance(likelihood, Gaussian):
        raise ValueError(
            f"fBNN is for regression with Gaussian noise, not for {type(likelihood).__name__}"
        )
    checks.whole("box_points", box_points, least=0)
    checks.whole("functions", functions, least=2)
    checks.whole("draws", draws)
    prior = GaussianPrior(network)
    architecture = prior.architecture
    data = in_memory(prior, likelihood, X, y, scaling)
    key_belief, key_start, key_train, key_draws = jax.random.split(key, 4)
    report: dict[str, object] = {"epochs": epochs}
    if belief is None:
        fitted = fit_kernel(data.X, data.y, key=key_belief)
        belief = fitted.belief
        report["belief_noise_variance"] = fitted.noise_variance
        report["belief_log_marginal_likelihood"] = fitted.log_marginal_likelihood
    distance = KLStein(jitter=jitter).bind(belief)
    box = data.X.min(axis=0), data.X.max(axis=0)
    run = Training(
        FunctionalELBO(architecture, likelihood, distance, *box, data.rows, box_points, functions),
        one_member(_start(architecture, key_start)),
        data,
        key=key_train,
        learning_rate=learning_rate,
        batch_size=batch_size,
    )
    found = jax.tree.map(lambda leaf: leaf[0], run.run(epochs, on_progress))
    arrays = jax.vmap(lambda key: found.sample(key, architecture))(
        jax.random.split(key_draws, draws)
    )
    kept = jax.tree.map(lambda leaf: np.asarray(leaf)[None], arrays)  # one chain
    probe = np.zeros((1, 0, 0), np.float32)  # there is nothing to diagnose
    return Posterior(prior, likelihood, kept, probe, report, scaling)


def _start(architecture: Architecture, key: PRNGKeyArray) -> Factorised:
    mean = initial_weights(architecture, key)
    log_std = jax.tree.map(lambda leaf: jnp.full_like(leaf, jnp.log(STARTING_STD)), mean)
    return Factorised(mean, log_std)
