import sys

import jax
import numpy as np
import pytest

from goodprior.evaluation import diagnose
from goodprior.inference import SGHMC, Gaussian, Heteroscedastic, Posterior, sample_posterior
from goodprior.inference.export import to_datatree
from goodprior.networks import MLP
from goodprior.priors import GaussianPrior, GibbsHierarchicalPrior, LearnedNoise

NETWORK = MLP(2, (4,), 1, key=jax.random.key(0))
PRIORS = {
    "gaussian": GaussianPrior(NETWORK),
    "hierarchical": GibbsHierarchicalPrior(NETWORK),
    "noise": LearnedNoise(GaussianPrior(NETWORK)),
}
X = np.random.default_rng(0).normal(size=(11, 2)).astype(np.float32)


def _posterior(prior):
    keys = jax.random.split(jax.random.key(1), (2, 3))
    draws = jax.jit(jax.vmap(jax.vmap(prior.sample)))(keys)
    return Posterior(prior, Gaussian(0.25), draws, np.zeros((2, 0, 0), np.float32), {})


@pytest.mark.parametrize("prior", PRIORS)
def test_the_exported_weights_are_those_of_the_functions(prior):
    """Networks put together by hand from the exported arrays."""
    pytest.importorskip("xarray")
    posterior = _posterior(PRIORS[prior])
    group = to_datatree(posterior)["posterior"]
    before = "network." if prior == "noise" else ""
    layers = [
        [group[f"{before}layers.{i}.{kind}"].values for kind in ("weight", "bias")] for i in (0, 1)
    ]
    assert layers[0][0].shape == (2, 3, 4, 2)
    found = posterior.functions(X)[..., 0].reshape(2, 3, 11)
    for chain in range(2):
        for draw in range(3):
            (w0, b0), (w1, b1) = ([a[chain, draw] for a in layer] for layer in layers)
            hidden = np.tanh(X @ w0.T / 2**0.5 + b0)
            by_hand = hidden @ w1.T / 4**0.5 + b1
            np.testing.assert_allclose(found[chain, draw], by_hand[:, 0], atol=1e-5)


@pytest.mark.slow
def test_arviz_sees_the_convergence_that_we_see(tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    posterior = sample_posterior(
        LearnedNoise(GaussianPrior(NETWORK)), Heteroscedastic(), X, X[:, 0],
        sampler=SGHMC(burn_in=100, thinning=100, batch_size=None),
        chains=2, draws=4, key=jax.random.key(2),
    )  # fmt: skip
    to_datatree(posterior).to_netcdf(tmp_path / "draws.nc", engine="h5netcdf")
    with xarray.open_datatree(tmp_path / "draws.nc", engine="h5netcdf") as tree:
        assert tree["posterior"]["log_variance"].dims[:2] == ("chain", "draw")
        function = tree["probe"]["function"]
        np.testing.assert_array_equal(function.values, posterior.probe)
        arviz_stats = pytest.importorskip("arviz_stats")
        pytest.importorskip("arviz_base")
        rhat = arviz_stats.rhat(tree, group="probe")["function"]
    np.testing.assert_allclose(rhat.values, diagnose(posterior).rhat, rtol=1e-6)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ImportError, match=r"package xarray: pip install \"goodprior\[arviz\]\""):
        to_datatree(_posterior(PRIORS["gaussian"]))
