import importlib.util
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import jax
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from goodprior.baselines import MarginalLikelihood, fit_laplace, fit_map, laplace_at
from goodprior.data import Scaling
from goodprior.evaluation import accuracy, nll
from goodprior.inference import Categorical, Gaussian, StudentT
from goodprior.networks import MLP
from goodprior.priors import GaussianPrior, GibbsHierarchicalPrior
from tests.monte_carlo import assert_mean

RNG = np.random.default_rng(0)
ROWS, NOISE = 60, 0.5
X = RNG.normal(size=(ROWS, 2)) @ [[1.0, 0.5], [0.0, 1.0]]
X = X - X.mean(axis=0)
Y = X @ [1.0, -0.5] + 0.3 + np.sqrt(NOISE) * RNG.normal(size=ROWS)
NEW = RNG.normal(size=(7, 2))
SCALES = {"layers.0.weight": 1.5, "layers.0.bias": 0.7}
LINEAR = GaussianPrior(MLP(2, (), 1, key=jax.random.key(0)), SCALES)


def _features(x):
    return np.column_stack([x / np.sqrt(2), np.ones(len(x))])


def _fading(epoch):
    return 0.05 * 0.99**epoch


EXACT = {"epochs": 600, "learning_rate": _fading, "batch_size": None, "key": jax.random.key(1)}


@cache
def _mode():
    return fit_map(LINEAR, Gaussian(NOISE), X, Y, **EXACT)


@pytest.mark.slow
@pytest.mark.parametrize("structure", ["full", "kron"])
def test_linear_regression_has_its_exact_posterior_and_evidence(structure):
    """Kronecker factors are exact too: one output, and centred inputs part weights from bias."""
    laplace = laplace_at(_mode(), X, Y, structure=structure, key=jax.random.key(2))
    prior = np.diag([1.5**2, 1.5**2, 0.7**2])
    features, new = _features(X), _features(NEW)
    covariance = np.linalg.inv(features.T @ features / NOISE + np.linalg.inv(prior))
    mean = covariance @ features.T @ Y / NOISE
    variance = np.einsum("ni,ij,nj->n", new, covariance, new)
    found_mean, found_covariance = laplace.moments(NEW)
    np.testing.assert_allclose(found_mean[:, 0], new @ mean, atol=1e-4)
    np.testing.assert_allclose(found_covariance[:, 0, 0], variance, rtol=1e-5)
    evidence = multivariate_normal(
        np.zeros(ROWS), features @ prior @ features.T + NOISE * np.eye(ROWS)
    ).logpdf(Y)
    assert laplace.log_marginal_likelihood == pytest.approx(evidence, abs=1e-3)
    prediction = laplace.predict(NEW)
    np.testing.assert_allclose(prediction.function_std[:, 0], np.sqrt(variance), rtol=1e-4)
    np.testing.assert_allclose(prediction.std[:, 0], np.sqrt(variance + NOISE), rtol=1e-4)
    y_new = new @ mean + 1.0
    expected = -0.5 * (1 / (variance + NOISE) + np.log(2 * np.pi * (variance + NOISE)))
    assert nll(prediction, y_new) == pytest.approx(-expected.mean(), abs=1e-3)


def test_functions_are_drawn_jointly():
    laplace = laplace_at(_mode(), X, Y, draws=4000, key=jax.random.key(2))
    mean, covariance = laplace.moments(NEW)
    functions = np.asarray(laplace.functions(NEW))
    assert functions.shape == (4000, 7, 1)
    assert_mean(functions, mean)
    assert_mean((functions[..., 0] - mean[:, 0]) ** 2, covariance[:, 0, 0])
    # Straight lines: three draws' values fix the rest.
    inside, *_ = np.linalg.lstsq(_features(NEW), functions[..., 0].T, rcond=None)
    np.testing.assert_allclose(_features(NEW) @ inside, functions[..., 0].T, atol=1e-3)


@pytest.mark.slow
def test_the_evidence_is_maximised_by_the_prior_that_is_found():
    """The closed form of linear regression, maximised over both scales on a grid."""
    laplace = fit_laplace(
        LINEAR, Gaussian(NOISE), X, Y, structure="full",
        marginal_likelihood=MarginalLikelihood(steps=20), **EXACT | {"epochs": 150},
    )  # fmt: skip
    features = _features(X)

    def evidence(weight, bias):
        prior = np.diag([weight**2, weight**2, bias**2])
        covariance = features @ prior @ features.T + NOISE * np.eye(ROWS)
        return multivariate_normal(np.zeros(ROWS), covariance).logpdf(Y)

    best = max(
        (evidence(w, b), w, b) for w in np.geomspace(0.3, 6, 25) for b in np.geomspace(0.05, 2, 25)
    )
    scales = laplace.prior.scales
    assert laplace.log_marginal_likelihood == pytest.approx(best[0], abs=0.03)
    assert scales["layers.0.weight"] == pytest.approx(best[1], rel=0.15)
    assert scales["layers.0.bias"] == pytest.approx(best[2], rel=0.2)
    values = laplace.report["evidence"]
    assert len(values) == 150
    assert values[0] < values[-1]
    assert laplace.log_marginal_likelihood == pytest.approx(max(values), abs=1e-3)


def test_of_an_evidence_that_goes_up_and_down_the_best_is_kept():
    laplace = fit_laplace(
        LINEAR, Gaussian(NOISE), X, Y, structure="full", epochs=10, learning_rate=0.5,
        batch_size=10, marginal_likelihood=MarginalLikelihood(steps=1, burn_in=2),
        key=jax.random.key(1),
    )  # fmt: skip
    values = laplace.report["evidence"]
    assert len(values) == 8  # one for each epoch after burn-in
    assert max(values) - values[-1] > 1
    assert laplace.log_marginal_likelihood == pytest.approx(max(values), abs=1e-3)


@pytest.mark.slow
def test_the_noise_can_be_learned_with_the_prior():
    network = MLP(2, (5,), 1, key=jax.random.key(0))
    laplace = fit_laplace(
        GaussianPrior(network), Gaussian(0.01), X, Y, batch_size=None, learning_rate=0.03,
        marginal_likelihood=MarginalLikelihood(burn_in=10, every=5, steps=10, learn_noise=True),
        epochs=150, key=jax.random.key(1),
    )  # fmt: skip
    assert laplace.likelihood.noise_variance == pytest.approx(NOISE, rel=0.35)
    # The optimised prior is one like any other: it can be sampled, and its posterior too.
    assert isinstance(laplace.prior, GaussianPrior)
    assert laplace.prior.scales != GaussianPrior(network).scales
    assert np.isfinite(laplace.prior.log_prob(laplace.mode))


@pytest.mark.slow
def test_classes_become_less_certain_away_from_the_data():
    labels = (X[:, 0] > 0).astype(int) + (X[:, 0] > 1)
    network = MLP(2, (10,), 3, key=jax.random.key(0))
    laplace = fit_laplace(
        GaussianPrior(network), Categorical(3), X, labels, epochs=100, key=jax.random.key(1)
    )
    prediction = laplace.predict(X)
    assert accuracy(prediction, labels) > 0.85
    sure = np.asarray(jax.nn.softmax(laplace.moments(X)[0])).max(-1).mean()
    assert prediction.probabilities.max(-1).mean() < sure


def test_predictions_are_on_the_scale_of_the_data():
    wide = 100 * Y + 7
    scaling = Scaling.fit(X, wide)
    scaled = fit_laplace(
        LINEAR, Gaussian(NOISE), X, wide, scaling=scaling, **EXACT | {"epochs": 300}
    )
    inside = fit_laplace(
        LINEAR, Gaussian(NOISE), scaling.inputs(X), scaling.targets(wide), **EXACT | {"epochs": 300}
    )
    ours, theirs = scaled.predict(NEW), inside.predict(scaling.inputs(NEW))
    np.testing.assert_allclose(ours.mean, theirs.mean * scaling.y_std + scaling.y_mean, rtol=1e-4)
    np.testing.assert_allclose(ours.std, theirs.std * scaling.y_std, rtol=1e-4)


def test_rows_with_other_columns_are_refused(as_users_run_it):
    laplace = laplace_at(_mode(), X, Y, key=jax.random.key(2))
    for ask in (laplace.predict, laplace.functions):
        with pytest.raises(ValueError, match="does not take rows of X, which has 3 columns"):
            ask(np.ones((4, 3)))


def test_what_cannot_be_done_is_refused(as_users_run_it):
    network = MLP(2, (5,), 1, key=jax.random.key(0))
    key = jax.random.key(0)
    with pytest.raises(ValueError, match="prior is a GibbsHierarchicalPrior"):
        fit_laplace(GibbsHierarchicalPrior(network), Gaussian(NOISE), X, Y, key=key)
    with pytest.raises(ValueError, match=r"concave in the outputs: .*, not StudentT"):
        fit_laplace(GaussianPrior(network), StudentT(0.3), X, Y, key=key)
    with pytest.raises(ValueError, match="structure must be one of full, kron; got 'diag'"):
        fit_laplace(LINEAR, Gaussian(NOISE), X, Y, structure="diag", key=key)
    with pytest.raises(ValueError, match="burn_in is 5, but there are only 5 epochs"):
        fit_laplace(
            LINEAR, Gaussian(NOISE), X, Y, epochs=5, key=key,
            marginal_likelihood=MarginalLikelihood(burn_in=5),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"burn_in": -1}, "burn_in must be a whole number of at least 0, got -1"),
        ({"every": 0}, "every must be a whole number of at least 1, got 0"),
        ({"steps": 0}, "steps must be a whole number of at least 1, got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be a finite number above zero, got 0.0"),
    ],
)
def test_bad_schedules_of_the_evidence_are_refused(settings, message, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        MarginalLikelihood(**settings)


def _peer() -> str | None:
    """The Python that has laplace-torch: named in GOODPRIOR_BENCH_PYTHON, or this one."""
    named = os.environ.get("GOODPRIOR_BENCH_PYTHON")
    return named or (sys.executable if importlib.util.find_spec("laplace") else None)


@pytest.mark.skipif(_peer() is None, reason="laplace-torch is not installed (extra `bench`)")
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_laplace_torch_agrees_on_the_same_weights(task, tmp_path):
    outputs = 1 if task == "regression" else 3
    network = MLP(2, (6, 5), outputs, key=jax.random.key(0))
    scales = dict(zip([p.name for p in GaussianPrior(network).architecture.parameters],
                      [1.5, 0.7, 0.9, 1.2, 2.0, 0.5], strict=True))  # fmt: skip
    labels = (X[:, 0] > 0).astype(int) + (X[:, 0] > 1)
    likelihood, y = (Gaussian(0.2), Y) if outputs == 1 else (Categorical(3), labels)
    mode = fit_map(GaussianPrior(network, scales), likelihood, X, y, key=jax.random.key(1))
    layers = [jax.tree.map(lambda leaf: leaf[0, 0], layer) for layer in mode.draws.layers]
    given = {f"weight{i}": layer.weight.astype(float) for i, layer in enumerate(layers)}
    given |= {f"bias{i}": layer.bias.astype(float) for i, layer in enumerate(layers)}
    np.savez(
        tmp_path / "in.npz", task=task, layers=3, X=X, y=y[:, None] if outputs == 1 else y, new=NEW,
        precisions=np.array(list(scales.values())) ** -2.0,
        noise_variance=0.2 if outputs == 1 else 1, **given,
    )  # fmt: skip
    program = Path(__file__).with_name("laplace_torch_peer.py")
    subprocess.run(
        [_peer(), str(program), tmp_path / "in.npz", tmp_path / "out.npz"],
        check=True, env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
    )  # fmt: skip
    theirs = np.load(tmp_path / "out.npz")
    for structure in ("full", "kron"):
        ours = laplace_at(mode, X, y, structure=structure, key=jax.random.key(2))
        mean, covariance = ours.moments(NEW)
        np.testing.assert_allclose(mean, theirs[f"{structure}_mean"], atol=1e-4)
        largest = float(np.abs(theirs[f"{structure}_variance"]).max())
        np.testing.assert_allclose(
            covariance, theirs[f"{structure}_variance"], rtol=1e-3, atol=1e-4 * largest
        )
        evidence = float(theirs[f"{structure}_evidence"])
        assert ours.log_marginal_likelihood == pytest.approx(evidence, rel=1e-3)
