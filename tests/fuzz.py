"""Trees of JSON that are nearly right: something good with a few small changes."""

import copy
import random
from typing import Any

NASTY: list[Any] = [
    *(None, True, False, 0, -1, 1, 3, 0.0, -2.5, 1e-300, 1e29, 1e300, 2**31, 2**63, -(2**63)),
    *("", "a", "age", "dose", "smooth", "40 x/ 2", "1e999 x/ 2", "x/", "nan", "NaN", "inf"),
    *("rbf", "linear", "periodic", "similar", "increasing", "\0", "ü" * 50, "__class__", "0", "1"),
    *([], {}, [[]], [None], {"": None}, {"a": {"a": {}}}, [1, 2, 3], ["age"], ["age", "dose"]),
    *({"age": 1}, {"dose": "2 x/ 3"}, {"age": None}, {"age": []}, {"class": "Posterior"}),
]


def mutated(tree: Any, chance: random.Random, changes: int) -> Any:
    """A copy with so many changes: values replaced, left out, repeated, renamed or exchanged."""
    root = {"root": copy.deepcopy(tree)}
    for _ in range(changes):
        inside, key = chance.choice(list(_places(root)))
        value = inside[key]
        what = chance.randrange(6)
        if what == 0 and isinstance(inside, dict) and inside is not root:
            del inside[key]
        elif what == 0 and isinstance(inside, list):
            inside.pop(key)
        elif what == 1 and isinstance(inside, list):
            inside.insert(key, copy.deepcopy(value))
        elif what == 1 and isinstance(inside, dict) and inside is not root:
            inside[chance.choice([f"{key}x", key[:-1], key.upper(), ""])] = inside.pop(key)
        elif what == 2 and isinstance(value, int | float) and not isinstance(value, bool):
            inside[key] = chance.choice([-value, value + 1, value * 1e6, value / 3, str(value)])
        elif what == 3:
            inside[key] = chance.choice([[value], {"age": value}, [value, value], str(value)])
        elif what == 4:
            other, other_key = chance.choice(list(_places(root)))
            inside[key] = copy.deepcopy(other[other_key])
        else:
            inside[key] = copy.deepcopy(chance.choice(NASTY))
    return root["root"]


def _places(tree: Any):
    """Each value of a tree as (what it is in, key or index)."""
    if isinstance(tree, dict | list):
        for key, value in list(tree.items()) if isinstance(tree, dict) else enumerate(tree):
            yield tree, key
            yield from _places(value)


def scrambled(data: bytes, chance: random.Random) -> bytes:
    """Bytes with some flipped, cut out, repeated or replaced."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at, length = chance.randrange(len(changed) + 1), chance.choice([1, 1, 2, 8, 100])
        what = chance.randrange(4)
        if what == 0 and at < len(changed):
            changed[at] ^= 1 << chance.randrange(8)
        elif what == 1:
            del changed[at : at + length]
        elif what == 2:
            changed[at:at] = changed[at : at + length]
        else:
            changed[at : at + length] = chance.randbytes(length)
    return bytes(changed)
