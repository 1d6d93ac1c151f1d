"""Jobs of studies at a size for tests."""

from typing import Any

import equinox as eqx
import jax
import numpy as np
import pandas as pd

from goodprior.inference import Gaussian, Posterior, SamplerReport
from goodprior.networks import Dense
from goodprior.priors import GaussianPrior
from goodprior.studies.catalogue import study

SMALL = {"width": 5, "chains": 1, "burn_in": 50, "draws": 4, "thinning": 50, "batch_size": 10}


def job_of(name, *, method=None, **changes):
    """A job of the quick preset, with some settings changed; and the study."""
    one = study(name)
    jobs = one.jobs(one.choose("quick", methods=(method,) if method else ()))
    return one, {**jobs[-1].settings, **changes}


def row_of(one, settings):
    """As a report has it; what is found must not hide what tells sections and rows apart."""
    given = {k: v for k, v in settings.items() if k != "study"}
    found = one.run(given)
    assert found.keys().isdisjoint({"distance", "seconds", *(given.keys() & set(one.keys))})
    return pd.DataFrame([{**given, **found, "seconds": 1.0}])


class FakePosterior(Posterior):
    """A posterior that took no time, with predictions of the test's own."""

    answer: Any = eqx.field(static=True)

    def __init__(self, answer):
        prior = GaussianPrior(Dense(1, 1, key=jax.random.key(0)))
        draws = jax.tree.map(lambda leaf: leaf[None, None], prior.sample(jax.random.key(0)))
        self.prior, self.likelihood, self.draws = prior, Gaussian(1.0), draws
        self.probe = np.random.default_rng(0).normal(size=(1, 8, 1)).astype(np.float32)
        self.report = SamplerReport("sghmc", steps=0, temperature=1.0, step_size=0.01)
        self.scaling = self.run_state = self.reference = None
        self.answer = answer

    def predict(self, X):
        return self.answer(X)
