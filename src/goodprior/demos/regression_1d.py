"""The paper's one-dimensional example (section 5.1), as `goodprior demo` shows it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from goodprior import plots
from goodprior.beliefs import GaussianProcess, Grid, Near, rbf
from goodprior.demos.data import Example, gap_1d
from goodprior.evaluation import diagnose, nll, rmse
from goodprior.inference import SGHMC, Gaussian, Posterior
from goodprior.inference.predictive import Prediction
from goodprior.matching import Distance, MatchSchedule, compare
from goodprior.pipeline import (
    Hooks,
    NetworkSpec,
    ObservationModel,
    Problem,
    Sampled,
    fit_posterior,
)
from goodprior.pipeline.keys import stage_key
from goodprior.pipeline.prior import unmatched_prior
from goodprior.priors import PAPER_NAMES, GaussianPrior, is_matched, named_prior

NOISE_VARIANCE = 0.1
BELIEF = GaussianProcess(rbf(lengthscale=0.6, variance=1.0))
POINTS = Grid([-6.0], [6.0], per_input=200)
# Units of the first layer bend where their bias is minus their weight times x. With biases as wide
# as the range is, they bend all over it, and functions are as rough at the rim as in the middle;
# tuned with the rest, the two scales end where the middle is too rough and the rim too smooth.
# With such weights functions cross zero nearly as often as the belief's; biases reach to the end.
SPREAD_OUT = {"layers.0.weight": 1.75 / 0.6, "layers.0.bias": 6 * 1.75 / 0.6}
# Chains find their way in the gap slowly. With twice the usual step they get further, and for
# Gaussian priors the effective temperature of most weights is still between 0.94 and 1.02.
LONG_STEP = 0.02
FROM_PRIOR = partial(Sampled.by, start="prior")
# Over the whole range the energy distance hardly sees how rough functions are; over six
# lengthscales it does.
NEIGHBOURHOODS = Near(POINTS, size=60)
SCHEDULE = MatchSchedule(draws=128, learning_rate=0.1)


@dataclass(frozen=True)
class Panel:
    """What one column of the picture shows, and its row of the table."""

    name: str
    prior_draws: Float[np.ndarray, "draws points"]
    mean: Float[np.ndarray, " points"]
    std: Float[np.ndarray, " points"]
    interval: Float[np.ndarray, "2 points"]  # 95 % of the posterior
    distances: Float[np.ndarray, " steps"] | None
    row: dict[str, float | str]


def run(
    methods: tuple[str, ...] = ("fg", "gpi-g"),
    *,
    distance: str = "energy",
    seed: int = 0,
    draws: int = 120,
    thinning: int = 500,
    burn_in: int = 2000,
    quiet: bool = False,
) -> tuple[Example, list[Panel]]:
    """The exact GP and the posterior of a network under each prior, on the same data."""
    data = gap_1d()
    panels = [exact_panel(data, seed)]
    for i, method in enumerate(methods):
        key = jax.random.fold_in(jax.random.key(seed), i)
        lengths = (burn_in, draws, thinning)
        chosen = distance == "energy"
        panels.append(network_panel(data, method, distance, key, lengths, quiet, chosen=chosen))
    return data, panels


def exact_panel(data: Example, seed: int) -> Panel:
    """The belief and its exact posterior."""
    x = POINTS.points
    mean, covariance = BELIEF.posterior(data.X, data.y, NOISE_VARIANCE, x)
    std = jnp.sqrt(jnp.maximum(jnp.diag(covariance), 0))
    at, covariance_at = BELIEF.posterior(data.X, data.y, NOISE_VARIANCE, data.grid)
    variance = jnp.maximum(jnp.diag(covariance_at), 0) + NOISE_VARIANCE
    prediction = Prediction(at[None], jnp.sqrt(variance)[None, :, None])
    functions = BELIEF.sample(jax.random.key(seed), x, 500)[..., 0]
    return Panel(
        "GP",
        np.asarray(functions),
        np.asarray(mean[:, 0]),
        np.asarray(std),
        np.asarray(mean[:, 0] + 1.96 * jnp.stack([-std, std])),
        None,
        {"prior": "GP (exact)", "distance": 0.0, **_scores(prediction, data)},
    )


def _scores(prediction: Prediction, data: Example) -> dict[str, float | str]:
    noise = NOISE_VARIANCE**0.5 * jax.random.normal(jax.random.key(99), data.truth.shape)
    return {"rmse": rmse(prediction, data.truth), "nll": nll(prediction, data.truth + noise)}


def network_panel(
    data: Example,
    method: str,
    distance: str | Distance,
    key: Array,
    lengths: tuple[int, int, int],
    quiet: bool = True,
    schedule: MatchSchedule | None = None,
    *,
    chosen: bool = False,
    sampled: Callable[[SGHMC], Sampled] = FROM_PRIOR,
) -> Panel:
    """A network under one prior: its functions, the course of the match and its posterior.

    The network is the paper's, or for priors that are matched the one `chosen` for the belief.
    """
    started, name = time.perf_counter(), PAPER_NAMES[method]
    problem = _problem(data, method, distance, schedule, stage_key(key, "prior"))
    if chosen and is_matched(method):
        problem = replace(
            problem, network=NetworkSpec(), prior=method, schedule=None, points=POINTS
        )
    first = unmatched_prior(problem, key)
    key_draws = stage_key(key, "compare")
    before = compare(first, BELIEF, POINTS, key=key_draws, draws=1000)
    burn_in, draws, thinning = lengths
    step_size = LONG_STEP if isinstance(first, GaussianPrior) else 0.01
    sampler = SGHMC(step_size=step_size, burn_in=burn_in, thinning=thinning)
    fit = fit_posterior(
        problem,
        sampled(sampler),
        chains=4,
        draws=draws,
        key=key,
        hooks=Hooks(verbose=not quiet),
    )
    prior, posterior = fit.prior, fit.posterior
    assert prior is not None
    assert isinstance(posterior, Posterior)
    after = compare(prior, BELIEF, POINTS, key=key_draws, draws=1000)
    functions = posterior.functions(POINTS.points)[..., 0]
    summary = diagnose(posterior).summary
    prior_draws = eqx.filter_jit(prior.functions)(key_draws, POINTS.points, 500)
    row = {
        "prior": name,
        "distance before": before.energy_distance,
        "distance": after.energy_distance,
        **_scores(posterior.predict(data.grid), data),  # type: ignore[arg-type]
        "rhat": summary["rhat_max"],
        "ess": summary["ess_min"],
        "seconds": time.perf_counter() - started,
    }
    return Panel(
        name,
        np.asarray(prior_draws[..., 0]),
        np.asarray(functions.mean(0)),
        np.asarray(functions.std(0)),
        np.quantile(functions, [0.025, 0.975], axis=0),
        None if fit.history is None else fit.history.distance,
        row,
    )


def _problem(
    data: Example,
    method: str,
    distance: str | Distance,
    schedule: MatchSchedule | None,
    key: Array,
) -> Problem:
    """The example's data, belief and network under the prior of this name."""
    network = NetworkSpec((50, 50, 50))
    built = network.build((1,), 1)
    prior = named_prior(method, built, key=key, refresh_every=20)
    fast = distance == "energy"
    if method == "gpi-g" and fast:
        prior = GaussianPrior(built, SPREAD_OUT, fixed=tuple(SPREAD_OUT))
    return Problem(
        np.asarray(data.X),
        np.asarray(data.y),
        ObservationModel(Gaussian(NOISE_VARIANCE), 1),
        BELIEF,
        network=network,
        prior=prior,
        match_given=is_matched(method),
        hierarchical_form="gibbs",
        distance=distance,
        schedule=SCHEDULE if fast else schedule,
        points=NEIGHBOURHOODS if fast else POINTS,
    )


def picture(data: Example, panels: list[Panel]) -> Figure:
    """A column per prior; prior draws, the course of the match, the posterior."""
    figure = plots.new_figure(3, len(panels))
    axes = figure.subplots(3, len(panels), squeeze=False)
    x = np.asarray(POINTS.points[:, 0])
    observed = (np.asarray(data.X[:, 0]), np.asarray(data.y[:, 0]))
    truth = np.interp(x, data.grid[:, 0], data.truth[:, 0], left=np.nan, right=np.nan)
    for column, panel in enumerate(panels):
        colour = plots.COLOURS[panel.name]
        top, middle, bottom = axes[:, column]
        plots.plot_functions(top, x, panel.prior_draws, colour=colour)
        title = "belief: Gaussian process" if panel.name == "GP" else f"{panel.name} prior"
        top.set(title=title, xlim=(-6, 6), ylim=(-4, 4))
        if panel.distances is not None and len(panel.distances):
            plots.plot_history(middle, panel.distances, colour=colour)
            middle.set_title("matching: distance to the belief", fontsize="medium")
        elif len(panel.prior_draws) < 100:
            middle.set_axis_off()  # too few to tell correlations
        else:
            _plot_correlations(middle, x, panel.prior_draws, colour)
        plots.plot_posterior(
            bottom, x, panel.mean, panel.interval, observed, colour=colour, truth=truth
        )
        title = "exact GP posterior" if panel.name == "GP" else f"{panel.name} posterior"
        bottom.set(title=title, xlim=(-3, 3), ylim=(-4, 4), xlabel="x")
    axes[0, 0].set_ylabel("prior draws")
    axes[2, 0].set_ylabel("function, 95 % interval")
    return figure


def _plot_correlations(
    axes: Axes, x: np.ndarray, functions: Float[np.ndarray, "draws points"], colour: str
) -> None:
    """Correlations with the values at three points; the belief's are dashed."""
    points = POINTS.points
    for place in (len(x) // 6, len(x) // 2, 5 * len(x) // 6):
        found = functions.T @ functions[:, place] / len(functions)
        scale = np.sqrt((functions**2).mean(axis=0))
        axes.plot(x, found / scale / scale[place], color=colour, linewidth=1.2)
        believed = np.asarray(BELIEF.kernel(points, points[place : place + 1]))[:, 0]
        axes.plot(x, believed, color="black", linestyle="--", linewidth=0.8)
    axes.set(xlim=(-6, 6), ylim=(-0.5, 1.1))
    axes.set_title("correlations (dashed: belief)", fontsize="medium")
