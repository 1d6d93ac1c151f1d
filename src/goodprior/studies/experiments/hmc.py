"""Full-batch NUTS beside SGHMC (appendix B.4): table 11."""

from goodprior.studies.engine.study import Against, Choice, Settings, Study, presets
from goodprior.studies.experiments.uci_classification import run
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
    columns=("rmse", "nll_moment", "rhat_max", "ess_min", "divergences", "acceptance"),
    keys=("dataset", "method", "sampler"),
    against=(RMSE,),
    cost=cost,
)
