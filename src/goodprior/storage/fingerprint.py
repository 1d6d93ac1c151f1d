"""Fingerprints: whether two things are the same, down to the values of their arrays."""

import copyreg
import hashlib
import json
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from goodprior.storage import arrays as stored_arrays
from goodprior.storage.tree import Packer, Spec


def fingerprint(thing: Any) -> str:
    """The SHA-256 of a thing's description and of the values of its arrays.

    Equal things give the same fingerprint in every process: no memory address enters.

    Parameters
    ----------
    thing
        What `storage.write` takes, or objects of any other class. Those are described by their
        class's name and their state, as pickle would see it; functions by name, bytecode,
        defaults and closure. The source of classes and global variables are not looked at.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    ValueError
        If some part has no state that can be described, such as an open file or a lock.

    Examples
    --------
    >>> import numpy as np
    >>> fingerprint({"scale": np.ones(3)}) == fingerprint({"scale": np.ones(3)})
    True
    >>> fingerprint({"scale": np.ones(3)}) == fingerprint({"scale": np.array([1, 1, 2.0])})
    False
    """
    spec = _Describer().pack(thing, "the thing", 0)
    return hashlib.sha256(json.dumps(spec, separators=(",", ":")).encode()).hexdigest()


class _Describer(Packer):
    """Packs everything: arrays by their digest, and objects of unknown classes by their state."""

    def __init__(self):
        super().__init__()
        self.above: list[int] = []  # the objects being described, to notice cycles

    def pack(self, thing: Any, where: str, depth: int) -> Spec:
        if type(thing) is dict:
            pairs = [(self.pack(key, where, depth + 1), value) for key, value in thing.items()]
            pairs.sort(key=lambda pair: json.dumps(pair[0]))
            return {"dict": [[k, self.pack(v, f"{where}[{k!r}]", depth + 1)] for k, v in pairs]}
        return super().pack(thing, where, depth)

    def _array(self, array: Any, where: str) -> Spec:
        if isinstance(array, np.ndarray) and array.dtype.kind == "O":
            return {"objects": self.pack(array.tolist(), where, 1), "shape": list(array.shape)}
        note, plain = stored_arrays.pack(array)
        digest = hashlib.sha256(np.ascontiguousarray(plain).data).hexdigest()
        return {"array": digest, "of": str(plain.dtype), "size": list(plain.shape), **note}

    def _user_network(self, network: Any, where: str, depth: int) -> Spec:
        return self._other(network, where, depth)  # its static parts and functions count as well

    def _other(self, thing: Any, where: str, depth: int) -> Spec:
        if id(thing) in self.above:
            return {"cycle": self.above.index(id(thing))}
        self.above.append(id(thing))
        try:
            return {"kind": _name(type(thing)), "state": self._state(thing, where, depth)}
        finally:
            self.above.pop()

    def _state(self, thing: Any, where: str, depth: int) -> Spec:
        if isinstance(thing, type | ModuleType):
            return _name(thing)
        if isinstance(thing, bytes):
            return thing.hex()
        if isinstance(thing, complex) or thing is ...:
            return repr(thing)
        if isinstance(thing, np.ndarray):  # a subclass, such as a table on disk
            return self._array(np.asarray(thing), where)
        if isinstance(thing, set | frozenset):
            return sorted((self.pack(v, where, depth) for v in thing), key=json.dumps)
        if isinstance(thing, CodeType):
            parts: Any = [thing.co_code.hex(), thing.co_names, thing.co_consts]
        elif isinstance(thing, FunctionType):
            cells = [cell.cell_contents for cell in thing.__closure__ or ()]
            defaults = thing.__defaults__, thing.__kwdefaults__
            parts = [_name(thing), thing.__code__, *defaults, cells]
        elif callable(thing) and hasattr(thing, "__wrapped__"):  # a compiled function, say
            parts = getattr(thing, "__wrapped__")  # noqa: B009
        else:
            try:
                reduce = copyreg.dispatch_table.get(type(thing))
                parts = thing.__reduce_ex__(4) if reduce is None else reduce(thing)
            except TypeError as error:
                raise ValueError(
                    f"{where} has no fingerprint, which a checkpoint needs: a {_name(type(thing))} "
                    f"cannot be described ({error})"
                ) from None
            if isinstance(parts, tuple):  # further entries iterate over its items
                parts = [*parts[:3], *(list(items) for items in parts[3:5] if items is not None)]
        return self.pack(parts, where, depth)


def _name(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', thing.__name__)}"
