"""Methods that train instead of sampling: a mode, Laplace around it, an ensemble, fBNN."""

from collections.abc import Callable

from jaxtyping import PRNGKeyArray

from goodprior.baselines import (
    LaplacePosterior,
    MarginalLikelihood,
    fit_ensemble,
    fit_fbnn,
    fit_laplace,
    fit_map,
)
from goodprior.baselines.gauss_newton import weights_elsewhere
from goodprior.beliefs import GaussianProcess
from goodprior.beliefs.fit import fit_belief
from goodprior.beliefs.spec import LEAST_VARIANCE
from goodprior.inference import Binary, Categorical, Gaussian, Likelihood, Posterior
from goodprior.pipeline.problem import Problem
from goodprior.priors import GaussianPrior, Prior

MODE_STEPS = 5000  # Adam steps, at most, to a mode
MODE_BATCH = 64
ENSEMBLE_STEPS = (1000, 5000)  # at least, at most; between them the paper's 50 epochs
ENSEMBLE_BATCH = 32
FBNN_STEPS = 4000
FBNN_BATCH = 32
EVIDENCE = MarginalLikelihood(burn_in=5, every=5, learn_noise=True, learn_prior=False)

NO_PRIOR = ("ensemble", "fbnn")  # methods without a prior over weights
NO_ROW_WEIGHTS = ("laplace", "fbnn")
LIKELIHOODS = {
    "laplace": (
        (Gaussian, Categorical, Binary),
        "classes, or numbers with the same noise everywhere",
    ),
    "fbnn": ((Gaussian,), "regression with the same noise everywhere"),
}


def check(problem: Problem) -> None:
    """Refuse what the method cannot do, before any work is done."""
    settings, likelihood = problem.settings, problem.model.likelihood
    method = settings.method
    if problem.weights is not None and method in NO_ROW_WEIGHTS:
        raise ValueError(f"method {method} takes no sample_weight: all rows count alike")
    kinds, words = LIKELIHOODS.get(method, ((Likelihood,), ""))
    if not isinstance(likelihood, kinds):
        raise ValueError(f"method {method} is for {words}, not for {type(likelihood).__name__}")
    if method == "ensemble" and problem.model.wrap is not None:
        raise ValueError(
            "an ensemble does not learn one noise level for all rows: give a noise_variance, or "
            'use likelihood="heteroscedastic"'
        )
    if method == "laplace" and not (
        settings.prior in ("fg", "gpi-g")
        if isinstance(settings.prior, str)
        else isinstance(settings.prior, GaussianPrior)
    ):
        raise ValueError(
            f"method laplace needs a Gaussian prior, fg or gpi-g; prior is {settings.prior!r}"
        )
    if method == "fbnn" and not (
        settings.belief is None or isinstance(problem.belief, GaussianProcess)
    ):
        raise ValueError(
            "method fbnn needs a belief with a density: a table such as {'lengthscale': 2.0}, a "
            "GaussianProcess, or None to fit one to the rows; the presets, whose lengths are "
            "uncertain, have none"
        )


def find_modes(
    problem: Problem, prior: Prior | None, key: PRNGKeyArray, members: int = 1
) -> Posterior:
    """A mode, or one near which each chain starts: low noise is a long way from a prior draw."""
    assert prior is not None
    batch, epochs = _mode_course(problem.rows)
    task = "finding the mode" if problem.settings.method == "map" else "finding where to start"
    with problem.tracking(task) as track:
        return fit_map(
            prior,
            problem.model.likelihood,
            problem.X,
            problem.y,
            key=key,
            members=members,
            epochs=epochs,
            learning_rate=_settling(epochs),
            batch_size=batch,
            scaling=problem.scaling,
            row_weights=problem.weights,
            on_progress=track,
        )


def laplace(problem: Problem, prior: Prior | None, key: PRNGKeyArray) -> LaplacePosterior:
    """A Gaussian around the mode; a noise level that is to be learned by its evidence."""
    assert isinstance(prior, GaussianPrior)  # `check` has seen to it
    batch, epochs = _mode_course(problem.rows)
    with problem.tracking("finding the mode") as track:
        return fit_laplace(
            prior,
            problem.model.likelihood,
            problem.X,
            problem.y,
            key=key,
            structure="full" if weights_elsewhere(prior.architecture) else "kron",
            marginal_likelihood=EVIDENCE if problem.model.learn_noise else False,
            epochs=max(epochs, EVIDENCE.burn_in + 1),
            learning_rate=_settling(epochs),
            batch_size=batch,
            draws=problem.settings.chains * problem.settings.draws,
            scaling=problem.scaling,
            on_progress=track,
        )


def ensemble(problem: Problem, prior: None, key: PRNGKeyArray) -> Posterior:
    """As many networks as there would be chains; the weight decay by validation."""
    batch = max(1, min(ENSEMBLE_BATCH, problem.rows // 2))
    least, most = ENSEMBLE_STEPS
    steps = min(max(50 * problem.rows // batch, least), most)
    with problem.tracking("training the ensemble") as track:
        return fit_ensemble(
            problem.network(),
            problem.model.likelihood,
            problem.X,
            problem.y,
            key=key,
            members=problem.settings.chains,
            epochs=max(1, steps * batch // problem.rows),
            batch_size=batch,
            scaling=problem.scaling,
            row_weights=problem.weights,
            on_progress=track,
        )


def with_fitted_belief(problem: Problem, key: PRNGKeyArray) -> Problem:
    """For fBNN: a belief and a noise variance fitted to the rows, where they were not given."""
    given, model = problem.settings.belief is not None, problem.model
    if given and not model.learn_noise:
        return problem
    x, y = problem.scaling.inputs(problem.X), problem.scaling.targets(problem.y)
    fitted = fit_belief(x, y, key=key)
    if model.learn_noise:
        variance = max(fitted.noise_variance, LEAST_VARIANCE)
        model = model._replace(likelihood=Gaussian(variance), learn_noise=False)
    return problem._replace(belief=problem.belief if given else fitted.belief, model=model)


def fbnn(problem: Problem, prior: None, key: PRNGKeyArray) -> Posterior:
    """Variational functions under the belief."""
    likelihood, belief = problem.model.likelihood, problem.belief
    assert isinstance(likelihood, Gaussian)  # `check` has seen to both
    assert isinstance(belief, GaussianProcess)
    batch = min(FBNN_BATCH, problem.rows)
    with problem.tracking("training the variational posterior") as track:
        return fit_fbnn(
            problem.network(),
            likelihood,
            problem.X,
            problem.y,
            key=key,
            belief=belief,
            epochs=max(1, FBNN_STEPS * batch // problem.rows),
            batch_size=batch,
            draws=problem.settings.chains * problem.settings.draws,
            scaling=problem.scaling,
            on_progress=track,
        )


METHODS: dict[str, Callable[..., Posterior | LaplacePosterior]] = {
    "map": find_modes,
    "laplace": laplace,
    "ensemble": ensemble,
    "fbnn": fbnn,
}


def _mode_course(rows: int) -> tuple[int, int]:
    """The batch size, and how many epochs."""
    batch = min(MODE_BATCH, rows)
    return batch, max(1, min(200, MODE_STEPS * batch // rows))


def _settling(epochs: int) -> Callable[[int], float]:
    """A learning rate that falls in the second half."""
    return lambda epoch: 0.01 * min(1.0, 2 * (1 - epoch / epochs) + 0.02)
