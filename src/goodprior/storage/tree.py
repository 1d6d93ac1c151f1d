"""Things as JSON and arrays, and back, exactly.

None, bool, int, str, list     as they are
float                          {"float": "0x1.8p+0"}: every bit, and inf and nan
tuple                          {"tuple": [...]}
dict                           {"dict": [[key, value], ...]}
array, key, NumPy scalar       {"array": its name in the file, and notes (`arrays`)}
function of `known`            {"function": name}
object of a class of `known`   {"class": name, "fields": {...}}
a network of the user's own    {"own": ...} (`user_network`)
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import numpy as np

from goodprior.baselines import LaplacePosterior
from goodprior.inference import Posterior
from goodprior.networks import Architecture
from goodprior.priors import Prior
from goodprior.storage import arrays as stored_arrays
from goodprior.storage import known, user_network

DEEPEST = 60  # levels of nesting; a posterior has about ten

Spec = Any


def pack(thing: Any) -> tuple[Spec, dict[str, np.ndarray]]:
    """The description of a thing, and its arrays by name; a `ValueError` names what cannot be.

    >>> pack({"a": (1, 0.5)})
    ({'dict': [['a', {'tuple': [1, {'float': '0x1.0000000000000p-1'}]}]]}, {})
    """
    packer = Packer()
    return packer.pack(thing, "the thing", 0), packer.arrays


def unpack(spec: Spec, arrays: dict[str, np.ndarray], network: Any = None) -> Any:
    """The thing that was packed; a `ValueError` says what is wrong with the description."""
    unpacker = _Unpacker(arrays, network)
    try:
        thing = unpacker.unpack(spec, 0)
    except (TypeError, KeyError, AttributeError, IndexError, ArithmeticError) as error:
        raise ValueError(f"its description makes no sense ({error!r})") from None
    if unpacker.arrays:
        raise ValueError(f"it has arrays that belong nowhere: {sorted(unpacker.arrays)[:3]}")
    return thing


class Packer:
    """Descriptions of things; their arrays are collected in `arrays`."""

    def __init__(self):
        self.arrays: dict[str, np.ndarray] = {}
        self.user_class: str | None = None

    def pack(self, thing: Any, where: str, depth: int) -> Spec:
        if depth > DEEPEST:
            raise ValueError(f"things nested more than {DEEPEST} deep cannot be stored: {where}")
        down = depth + 1
        if thing is None or type(thing) in (bool, str):
            return thing
        if type(thing) is int:
            if thing.bit_length() > 10_000:
                raise ValueError(f"{where} is a whole number too large to be stored")
            return thing
        if type(thing) is float:
            return {"float": thing.hex()}
        if type(thing) is list:
            return [self.pack(v, f"{where}[{i}]", down) for i, v in enumerate(thing)]
        if type(thing) is tuple:
            return {"tuple": [self.pack(v, f"{where}[{i}]", down) for i, v in enumerate(thing)]}
        if type(thing) is dict:
            for key in thing:
                if type(key) is not str:
                    raise ValueError(f"{where} cannot be stored: its key {key!r} is not text")
            return {"dict": [[k, self.pack(v, f"{where}[{k!r}]", down)] for k, v in thing.items()]}
        if stored_arrays.is_array(thing):
            return self._array(thing, where)
        if id(thing) in known.FUNCTION_NAMES:
            return {"function": known.FUNCTION_NAMES[id(thing)]}
        if type(thing) in known.CLASS_NAMES:
            _check_finite(thing, where)
            fields = {k: self.pack(v, f"{where}.{k}", down) for k, v in _fields(thing).items()}
            return {"class": known.CLASS_NAMES[type(thing)], "fields": fields}
        if user_network.is_one(thing):
            return self._user_network(thing, where, down)
        return self._other(thing, where, down)

    def _other(self, thing: Any, where: str, depth: int) -> Spec:
        raise ValueError(f"{where} cannot be stored: {_what(thing)}")

    def _array(self, array: Any, where: str) -> Spec:
        try:
            note, plain = stored_arrays.pack(array)
        except ValueError as error:
            raise ValueError(f"{where} cannot be stored: {error}") from None
        name = str(len(self.arrays))
        self.arrays[name] = plain
        return {"array": name, **note}

    def _user_network(self, network: Any, where: str, depth: int) -> Spec:
        name = user_network.name(network)
        if self.user_class not in (None, name):
            raise ValueError(
                f"{where} cannot be stored: a file has room for one class of network of your own, "
                f"and here are {self.user_class} and {name}"
            )
        self.user_class = name
        leaves = {
            path: self.pack(leaf, f"{where}{path}", depth)
            for path, leaf in user_network.leaves(network).items()
            if user_network.is_stored(leaf)
        }
        kept = [path for path in user_network.leaves(network) if path not in leaves]
        return {"own": name, "leaves": leaves, "kept": kept}


class _Unpacker:
    def __init__(self, arrays: dict[str, np.ndarray], network: Any):
        self.arrays, self.network = dict(arrays), network

    def unpack(self, spec: Spec, depth: int) -> Any:
        if depth > DEEPEST:
            raise ValueError(f"it is nested more than {DEEPEST} deep")
        down = depth + 1
        match spec:
            case None | bool() | int() | str():
                return spec
            case list():
                return [self.unpack(v, down) for v in spec]
            case {"float": str(digits)}:
                return float.fromhex(digits)
            case {"tuple": list(values)}:
                return tuple(self.unpack(v, down) for v in values)
            case {"dict": list(pairs)}:
                return {str(key): self.unpack(value, down) for key, value in pairs}
            case {"array": str(name), **note}:
                # Taken out, so that a small file cannot ask for the same large array many times.
                return stored_arrays.unpack(note, self.arrays.pop(name))
            case {"function": str(name)} if name in known.FUNCTIONS:
                return known.FUNCTIONS[name]
            case {"class": str(name), "fields": dict(fields)}:
                name, fields = known.upgraded(name, fields)
                if name not in known.CLASSES:
                    raise ValueError(f"it needs {name!r}, which this version does not know")
                cls = known.CLASSES[name]
                return self._build(cls, {k: self.unpack(v, down) for k, v in fields.items()})
            case {"own": str(name), "leaves": dict(leaves), "kept": list(kept)}:
                found = {path: self.unpack(v, down) for path, v in leaves.items()}
                return user_network.fill(self.network, name, found, kept)
            case {"class": name} | {"function": name}:
                raise ValueError(f"it needs {name!r}, which this version does not know")
        raise ValueError("its description has parts that are not known")

    def _build(self, cls: type, fields: dict[str, Any]) -> Any:
        """An object with these fields, without its `__init__`, as JAX builds it from leaves."""
        if cls is Architecture:
            return self._architecture(**fields)
        names = _field_names(cls)
        if set(fields) != set(names):
            raise ValueError(f"a {cls.__name__} has the fields {names}, not {list(fields)}")
        if issubclass(cls, tuple):
            return cls(**fields)
        thing = object.__new__(cls)
        for name, value in fields.items():
            object.__setattr__(thing, name, value)
        for base in cls.__mro__:
            if "__check_init__" in vars(base):
                vars(base)["__check_init__"](thing)
        _check_finite(thing, "it")
        return thing

    def _architecture(
        self, rest: Any, numbered: Any, parameters: tuple[Any, ...], bits: Any = None
    ) -> Architecture:
        """From a network of zeros: what it says of its parameters must be what was stored."""
        leaves, treedef = jax.tree.flatten(numbered)
        if leaves != list(range(len(parameters))):
            raise ValueError("its network is not the one that its parameters belong to")
        zeros = [np.broadcast_to(np.float32(0), p.shape) for p in parameters]  # takes no memory
        network = eqx.combine(jax.tree.unflatten(treedef, zeros), rest)
        user_network.check_shapes(network, self.network)
        base = None if bits is None else [np.asarray(b, np.int32).view(np.float32) for b in bits]
        architecture = Architecture(network, base)
        if architecture.parameters != parameters or architecture.treedef != treedef:
            raise ValueError("its network is not the one that its parameters belong to")
        return architecture


def _field_names(cls: type) -> list[str]:
    if issubclass(cls, tuple):
        return list(cls._fields)  # type: ignore[attr-defined]
    return [field.name for field in dataclasses.fields(cls)]


def _fields(thing: Any) -> dict[str, Any]:
    fields = {name: getattr(thing, name) for name in _field_names(type(thing))}
    if isinstance(thing, Architecture):
        # JAX's description of a tree cannot be stored; a tree with numbered leaves says the same.
        treedef = fields.pop("treedef")
        fields["numbered"] = treedef.unflatten(range(treedef.num_leaves))
    return fields


def _check_finite(thing: Any, where: str) -> None:
    """Refuse draws and priors that are not finite: a fit has failed."""
    if not isinstance(thing, Posterior | LaplacePosterior | Prior):
        return
    part = thing.draws if isinstance(thing, Posterior) else thing
    for leaf in jax.tree.leaves(eqx.filter(part, eqx.is_inexact_array)):
        bad = int(np.size(leaf) - np.isfinite(leaf).sum())
        if bad:
            raise ValueError(
                f"{where} is a {type(thing).__name__} of which {bad} weights are NaN or infinite"
            )


def _what(thing: Any) -> str:
    kind = f"{type(thing).__module__}.{type(thing).__qualname__}"
    if isinstance(thing, eqx.Module):
        return f"a {kind} is none of goodprior's own classes, and no network"
    if callable(thing):
        name = getattr(thing, "__qualname__", repr(thing))
        return f"{name} is a function of your own, and only goodprior's are known by name"
    return f"a {kind} is nothing that files can hold"
