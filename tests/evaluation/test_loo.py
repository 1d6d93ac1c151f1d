import numpy as np
import pytest
from scipy import stats

from goodprior.evaluation.loo import LEAST_DRAWS, loo

RNG = np.random.default_rng(0)
Y = RNG.normal(size=40)


def _conjugate(chains=4, draws=250, y=Y):
    """Draws of a mean with a flat prior, and the log densities of rows with unit noise."""
    mean = y.mean() + RNG.normal(size=(chains, draws, 1)) / len(y) ** 0.5
    return stats.norm.logpdf(y, mean)


def test_the_estimate_is_the_exact_leave_one_out_density():
    found = loo(_conjugate())
    others = (Y.sum() - Y) / 39
    exact = stats.norm.logpdf(Y, others, (1 + 1 / 39) ** 0.5)
    assert found.elpd == pytest.approx(exact.sum(), abs=0.1)
    assert found.se == pytest.approx(exact.std() * 40**0.5, rel=0.05)
    assert found.p_loo == pytest.approx(1, abs=0.4)
    assert found.pareto_k.shape == (40,)
    assert found.pareto_k_high == 0
    assert found.reliable


@pytest.mark.parametrize(
    ("draws", "limit"), [(25, 1 - 1 / np.log10(100)), (250, 1 - 1 / 3), (1250, 0.7)]
)
def test_the_limit_of_k_grows_with_the_draws(draws, limit):
    """Vehtari et al. (2024): min(0.7, 1 - 1 / log10(S)), with the draws of all four chains."""
    assert loo(_conjugate(draws=draws)).pareto_k_limit == pytest.approx(limit)


def test_a_row_that_moves_the_posterior_is_unreliable():
    found = loo(_conjugate(y=np.append(Y, 40.0)))
    assert found.pareto_k[-1] > found.pareto_k_limit
    assert found.pareto_k_high == pytest.approx(1 / 41)
    assert not found.reliable


def test_draws_must_be_enough_for_a_tail():
    loo(_conjugate(1, LEAST_DRAWS))
    with pytest.raises(ValueError, match=r"at least 25 draws .*, there are 24: increase draws"):
        loo(_conjugate(2, 12))
