"""Random keys of the pipeline's stages."""

import zlib

import jax
from jaxtyping import PRNGKeyArray


def stage_key(key: PRNGKeyArray, stage: str) -> PRNGKeyArray:
    """The key of a stage, by its name: a new stage does not change the numbers of the others.

    >>> key = jax.random.key(0)
    >>> bool(stage_key(key, "match") == stage_key(key, "sample"))
    False
    """
    return jax.random.fold_in(key, zlib.crc32(stage.encode()))
