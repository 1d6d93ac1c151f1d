"""Where the paper's chains start: weights N(0, 1) and biases 0, whatever the prior."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from goodprior.inference import Posterior
from goodprior.pipeline import Sampled
from goodprior.pipeline.keys import stage_key
from goodprior.pipeline.methods.base import Run
from goodprior.priors import Prior
from goodprior.priors.base import Latent


class StandardStart(Sampled):
    """Chains that start as the appendix says ("Network architectures").

    The latent is the one that stands for such weights: those weights themselves under a Gaussian
    prior, with variances of 1 beside them under a hierarchical one, and what the flows map to them
    under a flow, each planar flow inverted.
    """

    def _start(self, run: Run) -> Posterior:
        """A draw of each chain that has not been sampled yet."""
        assert run.prior is not None
        latents = _starts(run.prior, stage_key(run.key, "start"), run.chains)
        draws = jax.tree.map(lambda leaf: np.asarray(leaf)[:, None], latents)
        probe = np.zeros((run.chains, 0, 0), np.float32)
        return Posterior(run.prior, run.problem.likelihood, draws, probe, {}, run.problem.scaling)


@eqx.filter_jit
def _starts(prior: Prior, key: PRNGKeyArray, chains: int) -> Latent:
    def one(key: PRNGKeyArray) -> Latent:
        network = prior.architecture  # type: ignore[attr-defined]
        is_weight = jnp.array([float(p.kind != "bias") for p in network.parameters])
        return prior.latent_of(network.scaled(network.normal(key), is_weight))

    return jax.vmap(one)(jax.random.split(key, chains))
