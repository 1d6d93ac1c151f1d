"""Belief files: a belief as a small JSON file with a name, read without trusting it."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from goodprior.beliefs.table import FIELDS

KIND, VERSION = "belief", 1
MOST_BYTES = 200_000
MOST_DEPTH = 8
MOST_ITEMS = 1000  # of a list or table
MOST_LETTERS = 2000  # of a text
KEYS = ("goodprior", "version", "name", "belief", "noise", "target", "columns", "sentence")

Spec = str | dict[str, Any] | list[Any]


@dataclass(frozen=True)
class StoredBelief:
    """What a belief file holds.

    Attributes
    ----------
    name : str
        Whose belief it is, or what it is about.
    spec : str, dict or list
        What `parse_belief` and the estimators take.
    noise : float or None
        Standard deviation of the noise in the target's units (None: it is learned).
    target : str or None
        The column that the belief is about.
    columns : dict
        The range of each column, low and high, where it is known.
    sentence : str
        What the belief means, for people who open the file.

    Examples
    --------
    >>> text = StoredBelief("Ann", {"lengthscale": {"age": 10}, "amplitude": 3}).to_json()
    >>> belief_from_json(text).spec
    {'lengthscale': {'age': 10}, 'amplitude': 3}
    """

    name: str
    spec: Spec
    noise: float | None = None
    target: str | None = None
    columns: dict[str, tuple[float, float]] = field(default_factory=dict)
    sentence: str = ""

    def to_json(self) -> str:
        """The text of the file."""
        content = {"goodprior": KIND, "version": VERSION, "name": self.name, "belief": self.spec}
        rest = {
            "noise": self.noise,
            "target": self.target,
            "columns": {name: list(ends) for name, ends in self.columns.items()},
            "sentence": self.sentence,
        }
        content |= {key: value for key, value in rest.items() if value}
        return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_belief(path: str | PathLike[str]) -> StoredBelief:
    """The belief that a file holds; `BNNRegressor(belief=read_belief(path).spec)` takes it.

    Parameters
    ----------
    path
        A JSON file that `goodprior studio` or `StoredBelief.to_json` wrote.

    Raises
    ------
    ValueError
        If it is no such file; the message says what is wrong.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "ann.json")
    ...     _ = path.write_text(StoredBelief("Ann", "rough").to_json())
    ...     read_belief(path).spec
    'rough'
    """
    with Path(path).open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    try:
        return belief_from_json(data)
    except ValueError as error:
        raise ValueError(f"{path} is no belief file: {error}") from None


def belief_from_json(data: bytes | str) -> StoredBelief:
    """The belief of a file's text, once all of it is known to make sense.

    Parameters
    ----------
    data
        The text, or its bytes in UTF-8.

    Raises
    ------
    ValueError
        If it is too large or too deep, no JSON, or has keys or values that do not belong there.

    Examples
    --------
    >>> belief_from_json('{"goodprior": "belief", "version": 1, "belief": "smooth"}').spec
    'smooth'
    """
    content = _parsed(data)
    if not isinstance(content, dict) or content.get("goodprior") != KIND:
        raise ValueError('it must be a JSON object that begins with "goodprior": "belief"')
    if content.get("version") != VERSION:
        raise ValueError(f"it has version {content.get('version')!r}; this one reads {VERSION}")
    _refuse_unknown(content, KEYS, "a belief file")
    name, target = content.get("name", ""), content.get("target")
    for key in ("name", "target", "sentence"):
        if not isinstance(content.get(key, ""), str):
            raise ValueError(f"{key} must be a text, got {content[key]!r}")
    noise = content.get("noise")
    if noise is not None and not (_is_number(noise) and noise > 0):
        raise ValueError(f"noise must be a number above zero, got {noise!r}")
    if "belief" not in content:
        raise ValueError('it has no "belief"')
    _check_spec(content["belief"])
    columns = _columns(content.get("columns", {}))
    return StoredBelief(
        name, content["belief"], noise, target, columns, content.get("sentence", "")
    )


def _parsed(data: bytes | str) -> Any:
    raw = data.encode() if isinstance(data, str) else data
    if len(raw) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES:,} bytes; a belief is a few hundred")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 text ({error.reason} at byte {error.start})") from None
    if _depth(text) > MOST_DEPTH:
        raise ValueError(f"its brackets are nested more than {MOST_DEPTH} deep")
    try:
        content = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_table)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error.msg} in line {error.lineno}") from None
    _check_sizes(content)
    return content


def _depth(text: str) -> int:
    """How deep brackets are nested, at most; those within texts count as well."""
    depth = most = 0
    for letter in text:
        if letter in "[{":
            depth += 1
            most = max(most, depth)
        elif letter in "]}":
            depth -= 1
    return most


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"numbers must be finite, found {text}")


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"a key is given twice among {[key[:40] for key, _ in pairs][:8]}")
    return found


def _check_sizes(value: Any) -> None:
    if isinstance(value, str) and len(value) > MOST_LETTERS:
        raise ValueError(f"a text has more than {MOST_LETTERS} letters: {value[:40]!r} …")
    if isinstance(value, int | float) and not (abs(value) < 1e30):
        raise ValueError("numbers must be finite and below 1e30")
    if isinstance(value, list | dict):
        if len(value) > MOST_ITEMS:
            raise ValueError(f"a list or table has more than {MOST_ITEMS} entries")
        for item in value if isinstance(value, list) else [*value, *value.values()]:
            _check_sizes(item)


def _check_spec(spec: Any) -> None:
    """Refuse what has not the form of a belief; columns and numbers are `parse_belief`'s."""
    if isinstance(spec, dict) and "mixture" in spec:
        _refuse_unknown(spec, ("mixture", "weights"), "a mixture")
        parts = spec["mixture"]
        if not isinstance(parts, list) or not parts:
            raise ValueError("mixture must be a list of beliefs")
        for part in parts:
            _check_spec(part)
    elif isinstance(spec, list) and spec:
        for part in spec:
            if isinstance(part, list):
                raise ValueError("a list of beliefs must hold words and tables, found a list")
            _check_spec(part)
    elif isinstance(spec, dict):
        _refuse_unknown(spec, FIELDS, "a belief's table")
    elif not isinstance(spec, str):
        raise ValueError(f"belief must be a word, a table or a list of these, got {spec!r}")


def _refuse_unknown(table: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    if unknown := [key[:40] for key in table if key not in known]:
        raise ValueError(f"{what} may have {', '.join(known)}; found {unknown[:5]}")


def _columns(value: Any) -> dict[str, tuple[float, float]]:
    rule = 'columns must be a table such as {"age": [20, 80]}'
    if not isinstance(value, dict):
        raise ValueError(f"{rule}, got {type(value).__name__}")
    for name, ends in value.items():
        pair = isinstance(ends, list) and len(ends) == 2 and all(map(_is_number, ends))
        if not (pair and ends[0] < ends[1]):
            raise ValueError(f"{rule}; {name[:40]!r} has {str(ends)[:40]}")
    return {name: (float(ends[0]), float(ends[1])) for name, ends in value.items()}


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)
