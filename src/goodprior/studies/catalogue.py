"""All studies by name. Their modules are imported when they are used."""

from importlib import import_module

from goodprior import checks
from goodprior.studies.engine.study import Row, Settings, Study

MODULES = {
    "function-priors": "function_priors",
    "regression-1d": "regression_1d",
    "banana": "banana",
    "wasserstein-vs-kl": "wasserstein_vs_kl",
    "uci-regression": "uci_regression",
    "uci-classification": "uci_classification",
    "cross-validation": "cross_validation",
    "empirical-bayes": "empirical_bayes",
    "active-learning": "active_learning",
    "map": "map",
    "hmc": "hmc",
    "converged": "converged",
    "joint-vs-separate": "joint_vs_separate",
    "convergence": "convergence",
    "class-priors": "class_priors",
    "cifar10": "cifar10",
    "cifar10-corrupted": "cifar10_corrupted",
    "small-data": "small_data",
    "out-of-distribution": "out_of_distribution",
    "empirical-bayes-images": "cifar10",
    "map-images": "cifar10",
    "convergence-images": "convergence",
}


def study(name: str) -> Study:
    """The study of this name.

    >>> study("hmc").words("shows")
    'table 11'
    """
    checks.one_of("study", name, MODULES)
    module = import_module(f"goodprior.studies.experiments.{MODULES[name]}")
    found = (one for one in vars(module).values() if isinstance(one, Study))
    return next(one for one in found if one.name == name)


def run_job(settings: Settings) -> Row:
    """In a worker: one job of the study that the settings name. Compiled programs are kept.

    A job whose score is not a finite number has failed: left out of a mean, it would flatter it.
    """
    import numpy as np

    from goodprior.devices import keep_compiled_programs

    keep_compiled_programs()
    settings = dict(settings)
    one = study(settings.pop("study"))
    if one.run is None:
        raise ValueError(f"{one.name} has no jobs: it reports those of {', '.join(one.reuses)}")
    row = one.run(settings)
    for against in one.against:
        if not np.isfinite(row.get(against.metric, 0.0)):
            raise FloatingPointError(f"{against.name} is {row[against.metric]}")
    return row
