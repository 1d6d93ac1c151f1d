"""UCI regression by a sampler that converges, beside the paper's SGHMC and Gibbs steps: is it the
prior or the sampler that makes the difference?"""

from goodprior.studies.engine.study import Choice, Figures, Frame, Settings, Study, presets
from goodprior.studies.experiments.uci_classification import run
from goodprior.studies.experiments.uci_regression import NLL, RMSE
from goodprior.studies.protocols import tables
from goodprior.studies.protocols.method_names import HIERARCHICAL

LENGTHS = ("chains", "burn_in", "draws", "thinning", "start", "batch_size")
UNTIL = {"sampler": "mclmc", "target_rhat": 1.05, "target_ess": 400}


def grid(choice: Choice) -> list[Settings]:
    """The jobs of UCI regression, by the estimators' sampler until it has converged.

    Under hierarchical priors, where that one does not, by the paper's chains in the form in which
    variances move.
    """
    return [
        {**settings, "sampler": "noncentred"}
        if settings["method"] in HIERARCHICAL
        else {**{k: v for k, v in settings.items() if k not in LENGTHS}, **UNTIL}
        for settings in tables.table_jobs(choice)
    ]


def figures(rows: Frame) -> Figures:
    """NLL and RMSE by data set and prior."""
    from goodprior.studies.reports.figures import dots

    return {"converged": dots(rows, (NLL, RMSE), STUDY.keys)}


STUDY = Study(
    name="converged",
    presets=presets(
        ("boston", "energy", "concrete", "wine"),
        tables.FOUR,
        (2,),
        quick={"datasets": ("boston",), "splits": 1},
    ),
    grid=grid,
    run=run,
    figures=figures,
    columns=("rmse", "nll_moment", "nll", "rhat_max", "ess_min", "sample_seconds"),
    against=(NLL, RMSE),
    pairs=(("gpi-g", "fg"), ("gpi-h", "fh")),
    cost=tables.table_cost,
)
