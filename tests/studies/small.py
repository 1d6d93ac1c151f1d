"""Jobs of studies at a size for tests."""

import pandas as pd

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
