"""How many of the numbers that the paper prints in tables have ours beside them."""

from pathlib import Path

import pandas as pd

from goodprior.studies.catalogue import study
from goodprior.studies.engine.store import Store
from goodprior.studies.engine.study import Settings
from goodprior.studies.paper import table as paper_table
from goodprior.studies.protocols.method_names import LABELS
from goodprior.studies.reports.report import divide

STUDIES = ("uci-regression", "uci-classification", "cifar10", "active-learning", "hmc")
KEYS = ("dataset", "network", "depth", "method", "sampler")


def printed_cells(results: Path) -> pd.DataFrame:
    """Return for each printed table its cells, and of how many we have all splits, or some.

    What counts is the paper's protocol with its own critic; all splits are the paper's number.

    Parameters
    ----------
    results
        The folder with a folder for each study.

    Returns
    -------
    DataFrame
        `study`, `table`, `cells`, `whole` and `begun`, which includes the whole ones.

    Examples
    --------
    >>> import tempfile
    >>> int(printed_cells(Path(tempfile.mkdtemp()))["cells"].sum())
    556
    """
    found = []
    for name in STUDIES:
        one = study(name)
        current, _, _ = divide(Store(results / name, one.reuses).results())
        jobs = one.jobs(one.presets["paper"])
        for against in one.against:
            printed = paper_table(against.table)
            keys = [key for key in KEYS if key in printed]
            done: dict[tuple[str, ...], list[bool]] = {
                tuple(map(str, cell)): [] for cell in printed[keys].itertuples(index=False)
            }
            for job in jobs:
                cell = _cell(dict(job.settings), keys)
                if cell in done:
                    row = current[job.hash].row if job.hash in current else {}
                    done[cell].append(against.metric in row)
            found.append(
                {
                    "study": name,
                    "table": against.table,
                    "cells": len(done),
                    "whole": sum(bool(each) and all(each) for each in done.values()),
                    "begun": sum(any(each) for each in done.values()),
                }
            )
    return pd.DataFrame(found)


def _cell(settings: Settings, keys: list[str]) -> tuple[str, ...]:
    named = {**settings, "method": LABELS.get(settings["method"], settings["method"])}
    return tuple(str(named.get(key)) for key in keys)
