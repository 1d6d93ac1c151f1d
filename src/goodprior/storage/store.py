"""Writing things to files and reading them back."""

import json
import os
from typing import Any

import equinox as eqx

import goodprior
from goodprior.storage import sealed_file, tree

VERSION = 2  # of the format; raised whenever older programs could not read a new file


def write(path: str | os.PathLike[str], thing: Any, *, kind: str) -> None:
    """Store a thing in a file, in place of the old one or not at all.

    A thing is made of dicts with text keys, lists, tuples, text, numbers, None, arrays, keys and
    goodprior's own objects. A network of the user's own is stored without its code: its arrays,
    and a hole that `read(..., network=...)` fills. `kind` says what it is, for `read` to ask for.

    >>> import tempfile, jax
    >>> from goodprior.networks import MLP
    >>> from goodprior.priors import GaussianPrior
    >>> prior = GaussianPrior(MLP(1, (3,), 1, key=jax.random.key(0)), scale=0.5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(f"{folder}/prior.safetensors", prior, kind="prior")
    ...     again = read(f"{folder}/prior.safetensors", kind="prior")
    >>> again.scales == prior.scales
    True
    """
    if not (isinstance(kind, str) and kind):
        raise ValueError(f"kind must be a word that says what is stored, got {kind!r}")
    spec, arrays = tree.pack(thing)
    about = {
        "format": VERSION,
        "goodprior": goodprior.__version__,
        "kind": kind,
        "spec": spec,
    }
    sealed_file.write(path, arrays, json.dumps(about, separators=(",", ":"), allow_nan=False))


def read(
    path: str | os.PathLike[str], *, kind: str | None = None, network: eqx.Module | None = None
) -> Any:
    """The thing that a file holds, exactly as it was written.

    With `kind`, a file of another kind is refused. `network` is needed where the thing was made
    with a network of the user's own: one of the same class and shapes, with whatever weights.
    A file that is changed, truncated or hostile gives a `ValueError` and runs nothing.
    """
    try:
        content = sealed_file.read(path)
        about = json.loads(content.about)
        if not isinstance(about, dict) or type(about.get("format")) is not int:
            raise ValueError("it does not say which version of the format it has")
        if about["format"] != VERSION:
            raise ValueError(
                f"it has version {about['format']} of the format (goodprior "
                f"{about.get('goodprior')}), and this is goodprior {goodprior.__version__}, which "
                f"reads version {VERSION}: read it with a goodprior that fits"
            )
        arrays = sealed_file.unseal(content)
        if kind is not None and about.get("kind") != kind:
            raise ValueError(f"it holds a {about.get('kind')!r}, and a {kind!r} is wanted")
        if "spec" not in about:
            raise ValueError("it says nothing of what it holds")
        return tree.unpack(about["spec"], arrays, network)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ValueError(f"{os.fspath(path)} cannot be read: {reason}") from None
