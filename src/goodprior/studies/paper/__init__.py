"""The paper's tables as data: `mean` and `spread` of a metric by data set, method and depth.

`spread` is what the paper prints after ±: a standard deviation over splits. (Its captions say
standard error, but for ten splits the numbers are far too large for that.) CIFAR-10's NLL has none:
what the paper prints there is the accuracy's, divided by 100.
"""

from importlib.resources import files

import pandas as pd


def table(name: str) -> pd.DataFrame:
    """One of the paper's tables.

    >>> rmse = table("uci_regression_rmse")
    >>> rmse.query("dataset == 'boston' and depth == 1 and method == 'FG'")["mean"].item()
    3.124
    """
    return pd.read_csv(str(files("goodprior.studies.paper") / f"{name}.csv"))
