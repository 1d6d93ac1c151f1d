"""Tables in files: text, Excel, Parquet and Feather, with errors that say which line is wrong."""

import os
from pathlib import Path

import pandas as pd

from goodprior.data.table.binary import BINARY, parse_binary
from goodprior.data.table.text import SUFFIXES, parse_text
from goodprior.data.table.unpack import PACKED, unpack


def read_table(
    path: str | os.PathLike[str],
    *,
    least_columns: int = 2,
    as_text: bool = False,
    decimal: str | None = None,
) -> pd.DataFrame:
    """The table in a text file, an Excel workbook, or a Parquet or Feather file.

    Text files (`.csv`, `.tsv`, `.txt`) begin with the names of columns. Columns are separated by
    commas, semicolons, tabs or bars, whichever the first line has most of; numbers may have
    decimal commas. All files may be compressed (`.gz`, `.bz2`, `.xz`, or `.zip` with one table).
    The index of the table is the line in the file, so that later messages can name it.

    Parameters
    ----------
    path
        Of the file; the ending of its name says what it is.
    least_columns
        How many columns there must be.
    as_text
        Whether cells of text files stay as they are written: 007, 1.50.
    decimal
        How numbers are to be read that can be read in two ways, such as 1,234: with a decimal
        comma (`","`), or with a decimal point (`"."`). None: such numbers stay text, unless others
        in the file decide. Where commas are decimal, the table says so in `attrs["decimal"]`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.csv")
    ...     _ = path.write_text("size;color\\n1,5;red\\n2;blue\\n")
    ...     read_table(path)
          size color
    line
    2      1.5   red
    3      2.0  blue
    """
    path = Path(path)
    _refuse_other_kinds(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    name, data = unpack(path, (*SUFFIXES, *BINARY))
    if name.suffix.lower() in BINARY:
        return parse_binary(path, name.suffix.lower(), data, least_columns, decimal)
    return parse_text(path, name.suffix.lower(), data, least_columns, as_text, decimal)


def _refuse_other_kinds(path: Path) -> None:
    suffix = path.suffix.lower()
    inner = Path(path.stem).suffix.lower() if suffix in PACKED else suffix
    if suffix == ".zip" or inner in (*SUFFIXES, *BINARY):
        return
    spreadsheet = "; save spreadsheets as .xlsx or CSV" * (inner in (".xls", ".xlsb", ".ods"))
    raise ValueError(
        f"{path} must be a table with a name ending in {', '.join((*SUFFIXES, *BINARY))}, or with "
        f"{', '.join(PACKED)} after it{spreadsheet}"
    )
