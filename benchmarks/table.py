"""A table on disk to which a run adds a row per job; a rerun does only what is missing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd


class Table:
    """Rows that are told apart by the columns `names`, in a CSV file."""

    def __init__(self, path: Path, names: tuple[str, ...]):
        self.path, self.names = path, names
        self.rows = pd.read_csv(path).to_dict("records") if path.exists() else []

    def __contains__(self, wanted: Mapping[str, Any]) -> bool:
        return any(all(row[n] == wanted[n] for n in self.names) for row in self.rows)

    def add(self, row: Mapping[str, Any]) -> None:
        """Keep a row, at once also on disk."""
        self.rows.append(dict(row))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(self.rows).to_csv(self.path, index=False)
        print(*[row[n] for n in self.names], _short(row), flush=True)

    @property
    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(self.rows)


def _short(row: Mapping[str, Any]) -> str:
    shown = ("rmse", "nll", "nll_moment", "squared_mmd", "seconds")
    return " ".join(f"{n} {row[n]:.4g}" for n in shown if n in row)
