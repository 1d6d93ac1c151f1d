"""Tables in text: CSV and its relatives."""

import csv
import io
import re
import warnings
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path

import pandas as pd

from goodprior.data.table.decimals import convert_commas
from goodprior.data.table.names import check_names

SUFFIXES = (".csv", ".tsv", ".txt")
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_GIVEN = re.compile(r"sep=(.)\r?\n")  # the first line of files for a spreadsheet
_ONE_NUMBER = re.compile(r"\s*[+-]?(\d+|\d*,\d+)\s*")


def parse_text(
    path: Path, suffix: str, data: bytes, least_columns: int, as_text: bool, decimal: str | None
) -> pd.DataFrame:
    """The table in the contents of a text file; the rest is as in `read_table`.

    >>> parse_text(Path("a.csv"), ".csv", b"x;y\\n1,5;2\\n", 2, False, None).values.tolist()
    [[1.5, 2.0]]
    """
    text = _decode(path, data)
    try:
        if not text.strip():
            raise ValueError("it is empty")
        given = _GIVEN.match(text)
        if given is not None:
            text = "\n" + text[given.end() :]  # an empty line, so that lines keep their numbers
        separator = given[1] if given else "\t" if suffix == ".tsv" else _separator(text)
        lines = _lines(text, separator, least_columns)
        frame = _parse(text, separator, lines, as_text)
        if as_text:
            return frame
        return convert_commas(frame, lambda: _parse(text, separator, lines, True), decimal)
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path} cannot be read as a table: {error}") from None


def _parse(text: str, separator: str, lines: list[int], as_text: bool) -> pd.DataFrame:
    frame = pd.read_csv(
        io.StringIO(text),
        sep=separator,
        skipinitialspace=True,
        index_col=False,
        **({"dtype": str, "keep_default_na": False} if as_text else {}),
    )
    frame.columns = frame.columns.str.strip()
    frame.index = pd.Index(lines if len(lines) == len(frame) else range(len(frame)), name="line")
    return frame


def _decode(path: Path, data: bytes) -> str:
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # "Unicode text" of spreadsheets
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")  # spreadsheets put a mark before the first name
    except UnicodeDecodeError as error:
        start = error.start
    number = data[:start].count(b"\n") + 1
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        raise ValueError(
            f"{path} is not UTF-8 text: line {number} has the byte 0x{data[start]:02x}; "
            "save it as CSV in UTF-8"
        ) from None
    line = text.splitlines()[number - 1].strip()
    warnings.warn(
        f"{path} is not UTF-8 text, so it was read as Windows-1252: is line {number} right, "
        f"{line[:80]!r}? If not, save it as CSV in UTF-8",
        stacklevel=4,
    )
    return text


def _separator(text: str) -> str:
    """The one that splits the first line into most columns; a comma if none does."""
    lines = [line for line in text.splitlines()[:50] if line.strip()]

    def columns(separator: str) -> int:
        return len(next(csv.reader(lines[:1], delimiter=separator), []))

    best = max(SEPARATORS, key=columns)
    if columns(best) == 1 and all(map(_ONE_NUMBER.fullmatch, lines[1:])):
        return ";"  # one column of numbers, which may have decimal commas
    return best


def _lines(text: str, separator: str, least_columns: int) -> list[int]:
    """The line of each row, once all rows have as many columns as there are names."""
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    names = [name.strip() for name in next(row for row in reader if row)]
    if len(names) < least_columns:
        raise ValueError(
            f"its first line has only {len(names)} column, {names[0]!r}; columns must be separated "
            f"by {', '.join(SEPARATORS.values())}, and nothing may stand above their names"
        )
    check_names(names)
    word = SEPARATORS.get(separator, repr(separator))
    lines, last = [], reader.line_num
    for row in reader:
        if row and len(row) != len(names):
            raise ValueError(
                f"line {last + 1} has {len(row)} columns, but there are {len(names)} names in the "
                f"first line (separated by {word}s)"
            )
        if row:
            lines.append(last + 1)  # where it begins: a quoted text can have several lines
        last = reader.line_num
    if not lines:
        raise ValueError("it has names of columns, but no rows")
    return lines
