"""Large tables of text files, some rows at a time."""

import gzip
import os
import re
import warnings
from collections.abc import Generator, Iterator
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pandas as pd

from goodprior.data.table.read import read_table
from goodprior.data.table.text import SUFFIXES

ROWS = 20_000  # read at once
_GIVEN = re.compile(rb"sep=.\r?\n")  # before the names, in files that spreadsheets write
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class Block(NamedTuple):
    """Some rows of a table.

    Parameters
    ----------
    frame
        What is in their cells.
    text
        The cells as they are written; `attrs` says of both tables whether commas are decimal.
    read, size
        Bytes of the file that have been read, and in all.
    only
        Whether these are all rows of the table.
    """

    frame: pd.DataFrame
    text: pd.DataFrame
    read: int
    size: int
    only: bool


def read_blocks(
    path: str | os.PathLike[str], rows: int = ROWS, *, decimal: str | None = None
) -> Generator[Block, None, None]:
    """The rows of a table in blocks, of which one is in memory at a time.

    Blocks are read as `read_table` reads tables; their index is the line in the whole file. Once
    a block has decimal commas, those after it are read so where they could be read in two ways.
    Files of other kinds than text, those that are compressed but not by gzip, and those with no
    more rows than a block are read as a whole.

    Parameters
    ----------
    path
        Of the file.
    rows
        Of a block.
    decimal
        As in `read_table`.

    Examples
    --------
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.csv")
    ...     _ = path.write_text("size,color\\n1.5,red\\n2,blue\\n3,red\\n")
    ...     for block in read_blocks(path, rows=2):
    ...         print(block.frame)
          size color
    line
    2      1.5   red
    3      2.0  blue
          size color
    line
    4        3   red
    """
    path = Path(path)
    if not _is_text(path):
        yield _whole(path, decimal)
        return
    packed = path.suffix == ".gz"
    with path.open("rb") as raw, TemporaryDirectory() as folder:
        records = _records(gzip.GzipFile(fileobj=raw) if packed else raw)
        part = Path(folder, path.stem if packed else path.name)
        try:
            header = _header(records)
            lines, block = header.count(b"\n"), list(islice(records, rows))
            following = next(records, None)
            if following is None or header.startswith(_UTF16):
                yield _whole(path, decimal)
                return
            while block:
                part.write_bytes(header + b"".join(block))
                frames = _frames(path, part, lines - header.count(b"\n"), decimal)
                decimal = frames[0].attrs.get("decimal", decimal)
                yield Block(*frames, raw.tell(), path.stat().st_size, False)
                lines += sum(record.count(b"\n") for record in block)
                rest = records if following is None else chain([following], records)
                block, following = list(islice(rest, rows)), None
        except (EOFError, gzip.BadGzipFile) as error:
            raise ValueError(f"{path} is no complete gzip file: {error}") from None


def _is_text(path: Path) -> bool:
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    return path.exists() and suffix.lower() in SUFFIXES


def _whole(path: Path, decimal: str | None) -> Block:
    size = path.stat().st_size if path.exists() else 0
    return Block(*_read(path, decimal), size, size, True)


def _read(path: Path, decimal: str | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The table, and its cells as they are written."""
    frame = read_table(path, least_columns=1, decimal=decimal)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said once is enough
        text = read_table(path, least_columns=1, as_text=True, decimal=decimal)
    text.attrs.update(frame.attrs)
    return frame, text


def _frames(
    path: Path, part: Path, before: int, decimal: str | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A block that is in a file of its own, its rows numbered by the lines of the whole one."""

    def of_whole(message: object) -> str:
        words = re.sub(r"\bline (\d+)", lambda m: f"line {int(m[1]) + before}", str(message))
        return words.replace(str(part), str(path))

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            frame, text = _read(part, decimal)
        except ValueError as error:
            raise ValueError(of_whole(error)) from None
    for each in warned:
        warnings.warn(of_whole(each.message), each.category, stacklevel=3)
    frame.index = text.index = pd.Index(frame.index + before, name="line")
    return frame, text


def _records(stream: Any) -> Iterator[bytes]:
    """Rows as bytes: lines, but for those that go on within a quoted cell."""
    parts: list[bytes] = []
    for line in stream:
        parts.append(line)
        if sum(part.count(b'"') for part in parts) % 2 == 0:
            yield b"".join(parts)
            parts = []
    if parts:
        yield b"".join(parts)


def _header(records: Iterator[bytes]) -> bytes:
    """The names of the columns, with what stands before them."""
    found = b""
    for record in records:
        found += record
        if record.strip() and not _GIVEN.fullmatch(record.removeprefix(b"\xef\xbb\xbf")):
            break
    return found
