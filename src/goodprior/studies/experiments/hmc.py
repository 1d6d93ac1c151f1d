"""Full-batch NUTS beside SGHMC (appendix B.4): table 11."""

from goodprior.studies.engine.study import Against, Choice, Figures, Frame, Settings, Study, presets
from goodprior.studies.experiments.uci_regression import run
from goodprior.studies.protocols import tables

RMSE = Against("rmse", "hmc_rmse", "test RMSE", unit="target's units")
NUTS = {
    "paper": {"sampler": "nuts", "burn_in": 200, "draws": 200, "thinning": 1, "chains": 4},
    "quick": {"sampler": "nuts", "burn_in": 50, "draws": 20, "thinning": 1, "chains": 2},
}


def grid(choice: Choice) -> list[Settings]:
    """Each job of the UCI protocol once by SGHMC and once by NUTS."""
    jobs = []
    for settings in tables.table_jobs(choice):
        jobs.append({**settings, "sampler": "sghmc"})
        jobs.append({**settings, **NUTS[choice.preset]})
    return jobs


def cost(settings: Settings) -> float:
    """A NUTS transition, some hundred full-batch gradients, takes about as long as 1,000 steps."""
    if settings["sampler"] == "sghmc":
        return tables.table_cost(settings)
    transitions = settings["chains"] * (settings["burn_in"] + settings["draws"])
    return tables.table_cost({**settings, "burn_in": 1000 * transitions, "draws": 0})


def figures(rows: Frame) -> Figures:
    """RMSE by data set, prior and sampler."""
    import numpy as np

    from goodprior import plots
    from goodprior.studies.reports.compare import beside
    from goodprior.studies.reports.figures import marks_legend

    table = beside(rows, RMSE, STUDY.keys)
    datasets = list(dict.fromkeys(table["dataset"]))
    figure = plots.new_figure(1, len(datasets), panel=(2.4, 2.6))
    axes = figure.subplots(1, len(datasets), squeeze=False)[0]
    for ax, dataset in zip(axes, datasets, strict=True):
        part = table[table["dataset"] == dataset]
        names = [f"{m}, {s.upper()}" for m, s in zip(part["method"], part["sampler"], strict=True)]
        y = np.arange(len(part))
        for k, method in enumerate(part["method"]):
            cell, style = part.iloc[k], {"color": plots.COLOURS[method], "linestyle": ""}
            mark = plots.MARKS[method]
            error = 0.0 if np.isnan(cell["spread"]) else cell["spread"]
            ax.errorbar(cell["ours"], k, xerr=error, marker=mark, **style)
            ax.errorbar(
                cell["paper"],
                k + 0.2,
                xerr=cell["paper_spread"],
                marker=mark,
                fillstyle="none",
                linewidth=0.8,
                **style,
            )
        ax.set_yticks(y, names, fontsize="small")
        ax.set_ylim(len(part) - 0.5, -0.5)
        ax.set_title(dataset, fontsize="small")
        ax.set_xlabel("test RMSE ± spread\n(target's units)", fontsize="small")
    marks_legend(figure)
    return {"samplers": figure}


STUDY = Study(
    name="hmc",
    presets=presets(
        ("boston", "energy", "concrete", "wine", "power"),
        ("fg", "gpi-g"),
        (2,),
        quick={"datasets": ("boston",), "splits": 1},
    ),
    grid=grid,
    run=run,
    figures=figures,
    columns=("rmse", "nll_moment", "rhat_max", "ess_min", "divergences", "acceptance"),
    keys=("dataset", "method", "sampler"),
    against=(RMSE,),
    cost=cost,
)
