"""Tables in files that are not text: Excel workbooks, Parquet and Feather."""

import io
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import pandas as pd

from goodprior.data.table.decimals import convert_commas
from goodprior.data.table.names import check_names

BINARY = (".xlsx", ".xlsm", ".parquet", ".feather")
_NEEDS = {".xlsx": "openpyxl", ".xlsm": "openpyxl", ".parquet": "pyarrow", ".feather": "pyarrow"}
_EMPTY = {"", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None"}


def parse_binary(
    path: Path, suffix: str, data: bytes, least_columns: int, decimal: str | None
) -> pd.DataFrame:
    """The table in the contents of a file of one of these kinds.

    Parameters
    ----------
    path
        Of the file, for messages.
    suffix
        Which kind it is.
    data
        What is in it.
    least_columns, decimal
        As of `read_table`.

    Raises
    ------
    ValueError
        If a package is missing, or the file is not what its name says.
    """
    package = _NEEDS[suffix]
    try:
        import_module(package)
    except ImportError:
        raise ValueError(
            f"{path} needs the package {package} to be read: pip install 'goodprior[tables]', or "
            "save the table as CSV"
        ) from None
    try:
        if package == "openpyxl":
            frame = _first_sheet(path, data)
            frame = convert_commas(frame, lambda: frame, decimal)
        else:
            read = pd.read_parquet if suffix == ".parquet" else pd.read_feather
            frame = _without_index(read(io.BytesIO(data)))
        if not len(frame):
            raise ValueError("it has no rows")
        if len(frame.columns) < least_columns:
            raise ValueError(f"it has only {len(frame.columns)} column")
        check_names(list(frame.columns))
    except (ValueError, OSError, BadZipFile, KeyError) as error:
        raise ValueError(f"{path} cannot be read as a table: {error}") from None
    return frame


def _without_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows that are counted; an index with a name is a column, as it would be in a CSV file."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    frame = frame.rename(columns=str)
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="row")
    return frame


def _first_sheet(path: Path, data: bytes) -> pd.DataFrame:
    """The first sheet of a workbook that holds anything; its index is the sheet's own rows."""
    openpyxl: Any = import_module("openpyxl")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of formats and charts that play no part here
        try:
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        except (openpyxl.utils.exceptions.InvalidFileException, BadZipFile, KeyError):
            raise ValueError("it is no Excel workbook, or has a password") from None
        sheets = {sheet.title: _cells(sheet) for sheet in book.worksheets}
    full = {title: rows for title, rows in sheets.items() if rows}
    if not full:
        raise ValueError("it is empty")
    (title, rows), *others = full.items()
    if others:
        ignored = ", ".join(repr(name) for name, _ in others[:5])
        warnings.warn(
            f"{path}: only its first sheet is read, {title!r}, not {ignored}", stacklevel=6
        )
    (_, header), *body = rows
    width = max(i + 1 for _, row in rows for i, cell in enumerate(row) if cell is not None)
    names = ["" if name is None else str(name).strip() for name in [*header, *[None] * width]]
    kept = [
        i for i in range(width) if names[i] or any(len(r) > i and r[i] is not None for _, r in body)
    ]
    cells = {k: [row[i] if i < len(row) else None for _, row in body] for k, i in enumerate(kept)}
    frame = pd.DataFrame(cells, dtype=object).infer_objects()
    frame.columns = [names[i] for i in kept]
    check_names(list(frame.columns))
    frame.index = pd.Index([number for number, _ in body], name="row")
    return frame


def _cells(sheet: Any) -> list[tuple[int, list[Any]]]:
    """The rows that are not empty, with their numbers; texts without spaces around them."""
    if hasattr(sheet, "reset_dimensions"):
        sheet.reset_dimensions()  # some programs write wrong ones
    rows = []
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        cells = [_cell(value) for value in row]
        if any(value is not None for value in cells):
            rows.append((number, cells))
    return rows


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = value.strip()
    is_error = text.startswith("#") and text.endswith(("!", "?", "/A"))  # such as #DIV/0!
    return None if is_error or text in _EMPTY else text
