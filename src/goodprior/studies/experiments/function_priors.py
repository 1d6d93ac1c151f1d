"""What functions N(0, 1) weights mean, by depth, beside Gaussian processes: figure 1."""

from goodprior.studies.engine.study import Choice, Figures, Frame, Row, Settings, Study, presets
from goodprior.studies.protocols.method_names import LABELS, MATCHED, matched_by

KERNELS = ("rbf", "matern12")
RANGE, POINTS, SHOWN = 5.0, 100, 5


def grid(choice: Choice) -> list[Settings]:
    """Networks of each depth by prior, and the two processes."""
    draws = 2000 if choice.preset == "paper" else 500
    shared = {"width": 50, "lengthscale": 1.0, "draws": draws, "seed": 0}
    networks = [
        {
            "method": method,
            "depth": depth,
            **shared,
            **(matched_by(choice.distance) if method in MATCHED else {}),
        }
        for method in choice.methods
        if method != "gp"
        for depth in choice.depths
    ]
    processes = [{"method": "gp", "kernel": kernel, **shared} for kernel in KERNELS]
    return networks + (processes if "gp" in choice.methods else [])


def run(settings: Settings) -> Row:
    """Function draws on a line, their spread and how often they cross their own mean."""
    import jax
    import numpy as np

    from goodprior.beliefs import GaussianProcess, Grid
    from goodprior.beliefs.kernels import KERNELS as FAMILIES
    from goodprior.matching import compare, match
    from goodprior.networks import MLP
    from goodprior.priors import named_prior
    from goodprior.studies.protocols.problems import distance_of

    keys = jax.random.split(jax.random.key(settings["seed"]), 5)
    points = Grid([-RANGE], [RANGE], POINTS)
    belief = GaussianProcess(FAMILIES[settings.get("kernel", "rbf")](settings["lengthscale"], 1.0))
    found: Row = {}
    if settings["method"] == "gp":
        functions = belief.sample(keys[0], points.points, settings["draws"])
    else:
        network = MLP(1, (settings["width"],) * settings["depth"], 1, key=keys[1])
        prior = named_prior(settings["method"], network, key=keys[2])
        if settings.get("distance"):
            distance = distance_of(settings)
            prior = match(prior, belief, points, distance=distance, key=keys[3]).prior
        functions = prior.functions(keys[0], points.points, settings["draws"])
        found = compare(prior, belief, points, key=keys[4], draws=settings["draws"])._asdict()
    values = np.asarray(functions[..., 0])
    centred = values - values.mean(axis=1, keepdims=True)
    crossings = (centred[:, 1:] * centred[:, :-1] < 0).sum(axis=1)
    return {
        "mean_std": values.std(axis=0).mean(),
        "crossings": crossings.mean(),
        **found,
        "x": np.asarray(points.points[:, 0]).round(3),
        "functions": values[:SHOWN].round(3),
    }


def figures(rows: Frame) -> Figures:
    """A row per prior, a column per depth; the processes below."""
    import numpy as np

    from goodprior import plots

    names = list(dict.fromkeys(rows["method"]))
    columns = max(int((rows["method"] == name).sum()) for name in names)
    figure = plots.new_figure(len(names), columns, panel=(2.6, 2.0))
    axes = figure.subplots(len(names), columns, squeeze=False, sharey=True)
    for ax in axes.ravel():
        ax.set_axis_off()
    for i, name in enumerate(names):
        part = rows[rows["method"] == name]
        if name != "gp":
            part = part.sort_values("depth")
        for ax, (_, row) in zip(axes[i], part.iterrows(), strict=False):
            ax.set_axis_on()
            functions, label = np.array(row["functions"]), LABELS[name]
            ax.plot(row["x"], functions.T, color=plots.COLOURS[label], linewidth=0.9)
            layers = "" if name == "gp" else f", {int(row['depth'])} hidden layers"
            kernel = f", {row['kernel']} kernel" if name == "gp" else ""
            ax.set_title(f"{label}{layers}{kernel}", fontsize="small")
            ax.set_xlabel("x", fontsize="small")
            ax.set_ylabel("f(x)", fontsize="small")
    return {"functions": figure}


STUDY = Study(
    name="function-priors",
    presets=presets(methods=("fg", "gpi-g", "gp"), depths=(2, 4, 8), quick={}),
    grid=grid,
    run=run,
    figures=figures,
    columns=("mean_std", "crossings", "energy_distance", "std_ratio"),
    keys=("method", "depth", "kernel"),
    cost=lambda settings: (
        1.0 + settings.get("depth", 0) * (2.0 if settings.get("distance") else 1.0)
    ),
)
