"""Tables in text files: CSV and its relatives, read with errors that say which line is wrong."""

import csv
import gzip
import io
import os
from pathlib import Path

import pandas as pd

SUFFIXES = (".csv", ".tsv", ".txt")
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}


def read_table(
    path: str | os.PathLike[str], *, least_columns: int = 2, as_text: bool = False
) -> pd.DataFrame:
    """The table in a `.csv`, `.tsv` or `.txt` file (or `.csv.gz`) that begins with column names.

    Columns are separated by commas, semicolons or tabs, whichever the first line has most of.
    The index of the table is the line in the file, so that later messages can name it.
    With `as_text`, cells stay as they are written: 007, 1.50.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.csv")
    ...     _ = path.write_text("size;color\\n1.5;red\\n2;blue\\n")
    ...     read_table(path)
          size color
    line
    2      1.5   red
    3      2.0  blue
    """
    path = Path(path)
    text = _text(path)
    try:
        header = next(csv.reader(io.StringIO(text)), None)
        if not text.strip() or header is None:
            raise ValueError("it is empty")
        separator = "\t" if ".tsv" in path.suffixes else _separator(text)
        lines = _lines(text, separator, least_columns)
        frame = pd.read_csv(
            io.StringIO(text),
            sep=separator,
            skipinitialspace=True,
            index_col=False,
            **({"dtype": str, "keep_default_na": False} if as_text else {}),
        )
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path} cannot be read as a table: {error}") from None
    frame.columns = frame.columns.str.strip()
    frame.index = pd.Index(lines if len(lines) == len(frame) else range(len(frame)), name="line")
    return frame


def _text(path: Path) -> str:
    packed = path.suffix == ".gz"
    if (Path(path.stem).suffix if packed else path.suffix).lower() not in SUFFIXES:
        raise ValueError(
            f"{path} must be a text file with a name ending in {', '.join(SUFFIXES)} (or with .gz "
            "after it); save spreadsheets as CSV"
        )
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        data = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
    except (EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is no complete gzip file: {error}") from None
    try:
        return data.decode("utf-8-sig")  # spreadsheets put a mark before the first name
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ValueError(
            f"{path} is not UTF-8 text: line {line} has the byte 0x{data[error.start]:02x}; "
            "save it as CSV in UTF-8"
        ) from None


def _separator(text: str) -> str:
    """The one that splits the first line into most columns; a comma if none does."""

    def columns(separator: str) -> int:
        return len(next(csv.reader(io.StringIO(text), delimiter=separator), []))

    return max(SEPARATORS, key=columns)


def _lines(text: str, separator: str, least_columns: int) -> list[int]:
    """The line of each row, once all rows have as many columns as there are names."""
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    names = _names([name.strip() for name in next(row for row in reader if row)], least_columns)
    lines, last = [], reader.line_num
    for row in reader:
        if row and len(row) != len(names):
            raise ValueError(
                f"line {last + 1} has {len(row)} columns, but there are {len(names)} names in the "
                f"first line (separated by {SEPARATORS[separator]}s)"
            )
        if row:
            lines.append(last + 1)  # where it begins: a quoted text can have several lines
        last = reader.line_num
    if not lines:
        raise ValueError("it has names of columns, but no rows")
    return lines


def _names(names: list[str], least: int) -> list[str]:
    if len(names) < least:
        raise ValueError(
            f"its first line has only {len(names)} column, {names[0]!r}; columns must be separated "
            f"by {', '.join(SEPARATORS.values())}"
        )
    if all(_is_number(name) for name in names):
        raise ValueError(f"its first line must have the names of the columns, found {names[:3]}")
    if "" in names:
        raise ValueError(
            f"column {names.index('') + 1} has no name in the first line; if it counts the rows, "
            "save the table without it"
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"several columns have the same name: {', '.join(twice)}")
    return names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
