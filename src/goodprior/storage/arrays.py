"""Arrays as safetensors has them, and notes on what they were: NumPy's, JAX's, keys, strings."""

from math import prod
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

# What safetensors stores as such; all other arrays are stored as bytes, with a note of their type.
_PLAIN = {
    np.dtype(name)
    for name in (
        *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
        *("float16", "float32", "float64"),
    )
}
_NARROW = {
    str(np.dtype(kind)): np.dtype(kind)
    for kind in (jnp.bfloat16, jnp.float8_e4m3fn, jnp.float8_e5m2)
}
_WIDE = {np.dtype(name) for name in ("uint64", "int64", "float64", "complex128")}
_KINDS = "biufcSUmM"  # numbers, text and dates; objects and records are not stored
_KEY_KINDS = ("threefry2x32", "rbg", "unsafe_rbg")

Note = dict[str, Any]


def is_array(value: object) -> bool:
    """Whether this is an array as far as storage goes; subclasses of NumPy's are not."""
    return isinstance(value, jax.Array | np.generic) or type(value) is np.ndarray


def pack(value: Any) -> tuple[Note, np.ndarray]:
    """A note and an array of a plain type. A `ValueError` says why it cannot be stored."""
    if isinstance(value, jax.core.Tracer):
        raise ValueError("it is an array inside a compiled function, which has no values yet")
    note: Note = {"is": "numpy"}
    if isinstance(value, np.generic):
        note["is"] = "scalar"
    elif isinstance(value, jax.Array):
        note["is"] = "jax"
        if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
            note = {"is": "key", "kind": str(jax.random.key_impl(value))}
            if note["kind"] not in _KEY_KINDS:
                raise ValueError(f"keys of the kind {note['kind']} are not known")
            value = jax.random.key_data(value)
        elif value.weak_type:
            note["weak"] = True
    array = np.asarray(value, order="C")
    if array.dtype in _PLAIN:
        return note, array
    name = str(array.dtype) if str(array.dtype) in _NARROW else array.dtype.str
    if name not in _NARROW and array.dtype.kind not in _KINDS:
        raise ValueError(
            f"arrays of type {array.dtype} cannot be stored, only numbers, text and dates"
        )
    note |= {"type": name, "shape": list(array.shape)}
    return note, np.frombuffer(array.tobytes(), np.uint8)


def unpack(note: Note, array: np.ndarray) -> Any:
    """The array that the note describes."""
    if "type" in note:
        dtype = _dtype(note["type"])
        shape = tuple(int(n) for n in note["shape"])
        if min(shape, default=0) < 0 or prod(shape) * dtype.itemsize != array.nbytes:
            raise ValueError(f"{array.nbytes} bytes are no array of type {dtype}, shape {shape}")
        array = np.ndarray(shape, dtype, buffer=array.tobytes()).copy()
    match note["is"]:
        case "numpy":
            return array
        case "scalar":
            return array[()]
        case "key" if note["kind"] in _KEY_KINDS:
            return jax.random.wrap_key_data(jnp.asarray(array), impl=note["kind"])
        case "jax":
            with jax.enable_x64(array.dtype in _WIDE):
                return _weak(array) if note.get("weak") is True else jnp.asarray(array)
    raise ValueError(f"an array is described as {note}, which is not known")


def _weak(array: np.ndarray) -> jax.Array:
    """Weakly typed, as what JAX makes of Python's own numbers (compiled programs tell them apart).

    A change in place keeps the weak type of `full`.
    """
    return jnp.full(array.shape, array.dtype.type(0).item()).at[...].set(array)


def _dtype(name: str) -> np.dtype:
    if name in _NARROW:
        return _NARROW[name]
    dtype = np.dtype(str(name))
    if dtype.kind not in _KINDS or dtype.str != name:
        raise ValueError(f"arrays of type {name!r} are not stored")
    return dtype
