"""Writing things to files and reading them back."""

import json
import os
from typing import Any

import equinox as eqx

import goodprior
from goodprior.storage import file_format, tree

VERSION = 3  # of the format; raised whenever a version could not read files of another


def write(path: str | os.PathLike[str], thing: Any, *, kind: str) -> None:
    """Store a thing in a file, which replaces an old one as a whole or not at all.

    Parameters
    ----------
    path
        The file, by custom `.safetensors`.
    thing
        Made of dicts with text keys, lists, tuples, text, numbers, None, arrays, keys and
        goodprior's own objects. A network of the user's own is stored without its code: its
        arrays only, and `read(..., network=...)` needs the network again.
    kind
        What it is, for `read` to ask for.

    Raises
    ------
    ValueError
        If some part cannot be stored; it is named.
    OSError
        If the file cannot be written.

    Examples
    --------
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
    file_format.write(path, arrays, json.dumps(about, separators=(",", ":"), allow_nan=False))


def read(
    path: str | os.PathLike[str], *, kind: str | None = None, network: eqx.Module | None = None
) -> Any:
    """The thing that a file holds, exactly as it was written.

    Parameters
    ----------
    path
        The file.
    kind
        What it must hold; None: anything.
    network
        For a thing with a network of the user's own: one of the same class and shapes, with any
        weights.

    Returns
    -------
    Any
        The thing; nothing that a file says is ever executed.

    Raises
    ------
    ValueError
        If the file is changed, truncated, hostile, of another kind or of another format.
    """
    try:
        content = file_format.read(path)
        about = json.loads(content.about)
        if not isinstance(about, dict) or type(about.get("format")) is not int:
            raise ValueError("it does not say which version of the format it has")
        if about["format"] != VERSION:
            raise ValueError(_other_version(about["format"], about.get("goodprior")))
        arrays = file_format.unseal(content)
        if kind is not None and about.get("kind") != kind:
            raise ValueError(f"it holds a {about.get('kind')!r}, and a {kind!r} is wanted")
        if "spec" not in about:
            raise ValueError("it says nothing of what it holds")
        return tree.unpack(about["spec"], arrays, network)
    except (ValueError, RecursionError) as error:
        reason: object = error
        if isinstance(error, RecursionError):
            reason = "it is nested too deeply"
        elif isinstance(error, json.JSONDecodeError):
            reason = "its description is damaged"
        raise ValueError(f"{os.fspath(path)} cannot be read: {reason}") from None


def _other_version(version: int, writer: object) -> str:
    advice = "upgrade goodprior"
    if version < VERSION:
        advice = f"open it with goodprior {writer}, or fit the model again and save it anew"
    return (
        f"it has version {version} of the format and was written by goodprior {writer}; this is "
        f"goodprior {goodprior.__version__}, which reads version {VERSION}: {advice}"
    )
