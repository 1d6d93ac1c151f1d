"""What a prior says about classes before any data (section 6.4): figure 9."""

from typing import TYPE_CHECKING, Any

from goodprior.studies.engine.study import Choice, Figures, Frame, Row, Settings, Study, presets
from goodprior.studies.protocols import images
from goodprior.studies.protocols.method_names import MATCHED

if TYPE_CHECKING:
    import numpy as np

METHODS = ("gp", "fg", "gpi-g", "fh", "gpi-h")
SHOWN = 3
BLOCK = 500  # images at a time


def grid(choice: Choice) -> list[Settings]:
    """The belief, and each prior."""
    quick = choice.preset == "quick"
    return [
        {
            **{"dataset": "mnist", "network": "lenet5", "method": method, "split": 0, "seed": 0},
            **{"draws": 200, "lengthscale": 256.0, "variance": 1.0},
            "rows": 2000 if quick or method == "gp" else 60_000,
            **(images.image_matching(choice) if method in MATCHED else {}),
            **(images.pixels(choice) if method == "gp" else {}),
        }
        for method in choice.methods
    ]


def run(settings: Settings) -> Row:
    """The class probabilities of every draw, averaged over the images."""
    import jax
    import numpy as np

    from goodprior.beliefs import GaussianProcess, rbf
    from goodprior.data import load
    from goodprior.studies.protocols.data import balanced
    from goodprior.studies.protocols.problems import image_problem, matched_prior

    X, y, _, _ = load(settings["dataset"]).split(0)
    belief = GaussianProcess(rbf(settings["lengthscale"], settings["variance"]), outputs=10)
    problem = image_problem(X, y, settings, belief=belief)
    assert problem.scaling is not None
    images = problem.scaling.inputs(X[balanced(y, settings["rows"], seed=settings["seed"])])
    key_draws, key_prior = jax.random.split(jax.random.key(settings["seed"]))
    found: Row = {}
    if settings["method"] == "gp":
        functions = problem.belief.sample(key_draws, images, settings["draws"])
        shares = np.asarray(jax.nn.softmax(functions).mean(axis=1), np.float64)
    else:
        prior, history = matched_prior(settings["method"], problem, key_prior)
        if history is not None and history.after is not None:
            found = {f"match_{k}": v for k, v in history.after._asdict().items()}
        shares = _shares(prior, images, key_draws, settings["draws"])
    entropies = -(shares * np.log(np.maximum(shares, 1e-30))).sum(axis=1)
    return {
        "entropy": entropies.mean(),
        "top_share": shares.max(axis=1).mean(),
        "mean_top_share": shares.mean(axis=0).max(),
        "draws_above_half": (shares.max(axis=1) > 0.5).mean(),
        **found,
        "shares": shares[:SHOWN].round(4),
        "mean_shares": shares.mean(axis=0).round(4),
    }


def _shares(prior: Any, images: "Any", key: Any, draws: int) -> "np.ndarray":
    """The mean class probabilities of draws of the prior, a block of images at a time."""
    import equinox as eqx
    import jax
    import numpy as np

    from goodprior.networks import outputs

    @eqx.filter_jit
    def of_block(x: Any) -> Any:
        def one(key: Any) -> Any:
            return jax.nn.softmax(outputs(prior.weights(prior.sample(key)), x)).sum(axis=0)

        return jax.lax.map(one, jax.random.split(key, draws))

    parts = [images[i : i + BLOCK] for i in range(0, len(images), BLOCK)]
    total = sum(np.asarray(of_block(part), np.float64) for part in parts)
    return np.asarray(total) / len(images)


def figures(rows: Frame) -> Figures:
    """A row per prior: the mean over all draws, and three draws."""
    from goodprior.studies.reports.image_figures import class_bars

    return {"classes": class_bars(rows)}


STUDY = Study(
    name="class-priors",
    presets=presets(("mnist",), METHODS, quick={}),
    grid=grid,
    run=run,
    figures=figures,
    columns=(
        *("entropy", "top_share", "mean_top_share", "draws_above_half"),
        *("match_energy_distance", "match_std_ratio"),
    ),
    keys=("method",),
    cost=lambda settings: (
        settings["rows"] * 1e-3 + settings.get("match_draws", 0) * 200 * 32 * 1e-3
    ),
)
