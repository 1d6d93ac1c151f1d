"""Our numbers beside the paper's, on rows that are made up."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind_from_stats, ttest_rel

from goodprior.studies import paper
from goodprior.studies.experiments.uci_classification import ACCURACY
from goodprior.studies.experiments.uci_regression import NLL, RMSE
from goodprior.studies.protocols import images
from goodprior.studies.reports.compare import _holm, agreement, beside, paired, ranks, wins

KEYS = ("dataset", "depth", "method")


def _rows(values, dataset="boston", depth=2, metric="rmse"):
    """`values` by method, one per split."""
    return pd.DataFrame(
        {"dataset": dataset, "depth": depth, "method": method, "split": split, metric: value}
        for method, each in values.items()
        for split, value in enumerate(each)
    )


def _paper(table, **where):
    rows = paper.table(table)
    for name, value in where.items():
        rows = rows[rows[name] == value]
    (mean,), (spread,) = rows["mean"], rows["spread"]
    return mean, spread


def test_the_papers_tables_are_whole():
    for metric in ("nll", "rmse"):
        table = paper.table(f"uci_regression_{metric}")
        assert len(table) == 8 * 4 * 6
        assert set(table["depth"]) == {1, 2, 4, 8}
    assert len(paper.table("uci_classification_nll")) == 7 * 6
    assert _paper("hmc_rmse", dataset="wine", method="GPi-G", sampler="sghmc") == (0.609, 0.046)
    assert not paper.table("hmc_rmse").isna().any(axis=None)


def test_a_cell_has_welchs_interval_for_the_difference():
    mean, spread = _paper("uci_regression_rmse", dataset="boston", depth=2, method="GPi-G")
    ours = mean + 0.6 + np.array([-0.3, 0.0, 0.3])
    (cell,) = beside(_rows({"gpi-g": ours}), RMSE, KEYS).to_dict("records")
    assert (cell["n"], cell["method"]) == (3, "GPi-G")
    assert cell["difference"] == pytest.approx(0.6)
    assert cell["spread"] == pytest.approx(0.3)
    known = ttest_ind_from_stats(mean + 0.6, 0.3, 3, mean, spread, 10, equal_var=False)
    assert cell["p"] == pytest.approx(known.pvalue)
    assert cell["low"] < cell["difference"] < cell["high"]
    # at the interval's end the test is just at its level
    end = cell["high"] - cell["difference"]
    at_end = ttest_ind_from_stats(mean + end, 0.3, 3, mean, spread, 10, equal_var=False)
    assert at_end.pvalue == pytest.approx(0.05)
    assert not cell["differs"]


@pytest.mark.parametrize(("shift", "differs"), [(0.5, False), (1.5, True), (-1.5, True)])
def test_a_cell_whose_interval_excludes_zero_is_marked(shift, differs):
    mean, spread = _paper("uci_regression_nll", dataset="wine", depth=4, method="FH")
    values = mean + spread * (shift + np.linspace(-1, 1, 10))
    rows = _rows({"fh": values}, "wine", 4, "nll_moment")
    (cell,) = beside(rows, NLL, KEYS).to_dict("records")
    assert cell["differs"] is differs


def test_one_split_has_no_interval():
    (cell,) = beside(_rows({"fh": [99.0]}), RMSE, KEYS).to_dict("records")
    assert np.isnan(cell["low"])
    assert cell["differs"] is False


def _restless(rows, rhat):
    return rows.assign(burn_in=100, rhat_max=rhat, ess_min=50.0, temperature_50=0.9)


def test_a_cell_that_has_not_converged_is_marked_and_counts_for_nothing():
    mean, _ = _paper("uci_regression_rmse", dataset="boston", depth=2, method="FG")
    far = _rows({"fg": [mean + 90.0, mean + 90.1]})
    (good,) = beside(_restless(far, [1.0, 1.1]), RMSE, KEYS).to_dict("records")
    cells = beside(_restless(far, [1.0, 1.11]), RMSE, KEYS)
    (bad,) = cells.to_dict("records")
    assert (good["converged"], good["differs"]) == (True, True)
    assert (bad["converged"], bad["differs"]) == (False, False)
    assert (bad["rhat"], bad["ess"], bad["temperature"]) == (1.11, 50.0, 0.9)
    assert agreement(cells, far) == "0 of 0 converged cells agree; 1 have not converged"
    (one_chain,) = beside(_restless(far, np.nan), RMSE, KEYS).to_dict("records")
    assert not one_chain["converged"]
    rows = pd.concat([_restless(far, [1.0, 1.2]), _rows({"gpi-g": [1.0, 2.0]})])
    pairs = paired(rows, RMSE, [("gpi-g", "fg")])
    assert pairs["converged"].tolist() == [False]
    (row,) = wins(pairs).to_dict("records")
    assert (row["data sets"], row["not converged"], row["ours: first is better"]) == (1, 1, 0)


@pytest.mark.parametrize(("value", "differs"), [(0.0004, False), (0.0021, True)])
def test_without_a_printed_spread_the_printed_digits_decide(value, differs):
    assert _paper("uci_regression_rmse", dataset="naval", depth=2, method="GPi-G") == (0.0, 0.0)
    rows = _rows({"gpi-g": [value, value]}, "naval")
    (cell,) = beside(rows, RMSE, KEYS).to_dict("records")
    assert np.isnan(cell["low"])
    assert cell["differs"] is differs


def test_shares_are_held_against_percent():
    rows = _rows({"fg": [0.8226] * 2}, "eeg", metric="accuracy")
    (cell,) = beside(rows, ACCURACY, ("dataset", "method")).to_dict("records")
    assert cell["difference"] == pytest.approx(0.0, abs=1e-9)


def test_a_method_that_the_paper_lacks_is_shown_and_never_marked():
    (cell,) = beside(_rows({"gpi-nf": [99.0, 98.0]}), RMSE, KEYS).to_dict("records")
    assert cell["ours"] == 98.5
    assert np.isnan(cell["paper"])
    assert cell["differs"] is False


def test_ranks_are_averages_over_whole_cells():
    first = _rows({"fg": [3.0], "fh": [2.0], "gpi-g": [1.0]})
    second = _rows({"fg": [1.0], "fh": [2.0], "gpi-g": [3.0]}, "concrete")
    torn = _rows({"fg": [9.0], "fh": [1.0]}, "energy")
    both = ranks(pd.concat([first, second, torn]), RMSE, KEYS)
    assert both["ours"].to_dict() == {"FG": 2.0, "FH": 2.0, "GPi-G": 2.0}
    assert (both["cells"] == 2).all()
    only_first = ranks(first, RMSE, KEYS)
    assert only_first["ours"].to_dict() == {"FG": 3.0, "FH": 2.0, "GPi-G": 1.0}
    assert only_first["paper"].to_dict() == {"FG": 3.0, "FH": 2.0, "GPi-G": 1.0}
    upside_down = ranks(first, replace(RMSE, higher_is_better=True), KEYS)
    assert upside_down["ours"]["FG"] == 1.0


def test_ranks_beside_the_papers_are_among_its_methods():
    rows = _rows({"fg": [3.0], "fbnn": [2.0], "gpi-nf": [2.5], "gpi-g": [1.0]})
    more = pd.concat([rows, _rows({"fg": [1.0], "gpi-g": [2.0]}, "concrete")])
    found = ranks(more, RMSE, KEYS)
    assert found["ours"].dropna().to_dict() == {"FG": 1.5, "GPi-G": 1.5}
    assert found["paper"].dropna().to_dict() == {"FG": 2.0, "GPi-G": 1.0}
    assert found["cells"].dropna().to_dict() == {"FG": 2, "GPi-G": 2}
    assert found["ours_among_all"].to_dict() == {"FG": 4, "fBNN": 2, "GPi-NF": 3, "GPi-G": 1}
    assert (found["cells_of_all"] == 1).all()


def test_ranks_are_by_common_splits():
    rows = _rows({"fg": [1.0, 1.0, 9.0], "gpi-g": [2.0, 2.0]})
    assert ranks(rows, RMSE, KEYS)["ours"].to_dict() == {"FG": 1.0, "GPi-G": 2.0}


def test_without_any_spread_a_cell_neither_agrees_nor_differs():
    row = {"network": "lenet5", "method": "fg", "split": 0, "nll": 5.0}
    rows = pd.DataFrame([{**row, "distance": None}])
    cells = beside(rows, images.NLL, ("network", "method"))
    assert cells["paper"].notna().all()
    assert agreement(cells, rows) == "0 of 0 converged cells agree; 1 have no spread to judge by"


def test_agreement_counts_matched_priors_apart_and_says_what_chance_does():
    agreeing, _ = _paper("uci_regression_rmse", dataset="boston", depth=2, method="FG")
    rows = _rows({"fg": [agreeing, agreeing + 0.1], "gpi-g": [100.0, 100.1]})
    rows["distance"] = rows["method"].map({"gpi-g": "energy"})
    cells = beside(rows, RMSE, KEYS)
    assert agreement(cells, rows) == (
        "1 of 2 converged cells agree (0.1 would not by chance alone; 1 agree by Holm's "
        "correction), of those with a matched prior 0 of 1"
    )


def test_holm_rejects_fewer_than_single_tests_do():
    """The textbook's: 0.01 and 0.02 fall below 0.05 / 4 and not below 0.05 / 3."""
    p = pd.Series([0.02, 0.01, 0.03, 0.5])
    assert _holm(p) == 1
    assert _holm(pd.Series([0.01, 0.016, 0.024, 0.04])) == 4


def test_pairs_agree_with_a_paired_t_test():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=10), rng.normal(size=10)
    rows = _rows({"gpi-g": a, "fg": b})
    (pair,) = paired(rows, RMSE, [("gpi-g", "fg"), ("gpi-h", "fh")]).to_dict("records")
    interval = ttest_rel(a, b).confidence_interval(0.95)
    assert (pair["low"], pair["high"]) == pytest.approx((interval.low, interval.high))
    ours, theirs = (
        _paper("uci_regression_rmse", dataset="boston", depth=2, method=m)[0]
        for m in ("GPi-G", "FG")
    )
    assert pair["paper"] == pytest.approx(ours - theirs)


def test_pairs_use_common_splits_only():
    rows = pd.concat([_rows({"gpi-g": [1.0, 2.0, 50.0]}), _rows({"fg": [2.0, 4.0]})])
    (pair,) = paired(rows, RMSE, [("gpi-g", "fg")]).to_dict("records")
    assert (pair["n"], pair["difference"]) == (2, -1.5)


def test_wins_turn_round_where_higher_is_better():
    pairs = pd.DataFrame(
        {
            "pair": "GPi-G minus FG",
            "depth": 2,
            "n": 3,
            "difference": [1.0, 1.0, -1.0],
            "low": [0.8, -3.0, -1.2],
            "high": [1.2, 5.0, -0.8],
            "paper": [1.0, np.nan, 1.0],
            "converged": True,
        }
    )
    low, high = (wins(pairs, turned).iloc[0].tolist()[3:] for turned in (False, True))
    assert low == [3, 0, 1, 1, 1, 0]
    assert high == [3, 0, 2, 1, 1, 2]


def test_one_split_says_nothing_clearly():
    rows = _rows({"gpi-g": [1.0], "fg": [2.0]})
    (row,) = wins(paired(rows, RMSE, [("gpi-g", "fg")])).to_dict("records")
    assert row["ours: first is better"] == 1
    assert row["clearly"] is None
    assert row["clearly worse"] is None
