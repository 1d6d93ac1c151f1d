"""A fitted model in a few lines: what it is, and whether its draws can be trusted."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from goodprior.commands.model_file import ModelFile

MOST_COLUMNS = 20  # whose relevance is shown: each takes six predictions of 300 rows
LIMITATIONS = {
    "map": "one network only: error bars are of the noise, not of the function",
    "early-stopping": "one network only: error bars are of the noise, not of the function",
    "ensemble": "the networks differ by where they started, which is no posterior",
    "laplace": "a Gaussian around one mode stands for the posterior",
    "fbnn": "independent weights stand for the posterior, which makes error bars too narrow",
}


def summary_lines(file: "ModelFile") -> str:
    """Return what the model is, and what is wrong with it, in a few lines."""
    lines = [one_sentence(file)]
    if file.columns is not None:
        lines.append(file.columns.describe())
    lines.append(f"belief: {file.model.belief_}")
    return "\n".join([*lines, *(f"warning: {text}" for text in model_warnings(file.model))])


def relevance_lines(file: "ModelFile", rows: "pd.DataFrame | None") -> list[str]:
    """Return how functions vary with each column of the table over these rows, a line each."""
    if rows is None or file.columns is None or len(rows) < 2:
        return []
    lines = [str(each) for each in file.model.relevance(rows, most=MOST_COLUMNS)]
    rest = len(file.columns.columns) - len(lines)
    return [*lines, f"and less with the other {rest} columns"] if rest > 0 else lines


def pareto_warning(file: "ModelFile", rows: "pd.DataFrame | None", targets: Any) -> str | None:
    """Return what Pareto k says of the draws on the training rows, if it says anything bad."""
    from goodprior.evaluation.loo import LEAST_DRAWS
    from goodprior.inference import KnownNoise

    model = file.model
    posterior = model.posterior_
    if rows is None or targets is None or len(rows) != file.rows or model.diagnostics_ is None:
        return None  # PSIS-LOO is about the rows that were trained on
    if posterior.chains * posterior.draws_per_chain < LEAST_DRAWS:
        return None
    noise = file.known_noise(rows)
    if noise is None and isinstance(posterior.likelihood, KnownNoise):
        return None  # the table does not have it
    known = {} if noise is None else {"noise_std": noise}
    found = model.loo(rows, targets, **known)
    if found.reliable:
        return None
    return (
        f"Pareto k is above {found.pareto_k_limit:.2f} for {found.pareto_k_high:.0%} of the "
        f"{len(rows)} rows (up to {found.pareto_k.max():.1f}): without such a row the posterior "
        "would be another, so leave-one-out cannot say how new rows are predicted; hold rows out"
    )


def one_sentence(file: "ModelFile") -> str:
    """Return targets, rows, prior and draws in one sentence."""
    model = file.model
    of = f" of {', '.join(file.targets)}" if file.targets else ""
    on = f" on {file.rows} rows" if file.rows else ""
    prior = model.prior if isinstance(model.prior, str) else type(model.prior).__name__
    under = f"prior {prior}, " if hasattr(model, "prior_") else ""
    return f"{model.TASK}{of}{on}: {under}{model.method_name}, {posterior_form(model)}"


def posterior_form(model: Any) -> str:
    """Return what stands for the posterior."""
    posterior, method = model.posterior_, model.method_name
    if method in ("map", "early-stopping"):
        return "one network"
    if method == "ensemble":
        return f"{posterior.chains} networks"
    if method == "laplace":
        return "a Gaussian around one network"
    if method == "fbnn":
        return f"{posterior.draws_per_chain} draws of a variational posterior"
    chains, draws = posterior.chains, posterior.draws_per_chain
    return f"{chains} chain{'s' * (chains > 1)} of {draws} draw{'s' * (draws > 1)}"


def model_warnings(model: Any) -> list[str]:
    """Return all that one should know before trusting the draws."""
    if model.diagnostics_ is not None:
        found = list(model.diagnostics_.warnings)
    elif model.method_name in LIMITATIONS:
        found = [LIMITATIONS[model.method_name]]
    else:
        found = ["there are too few draws to be diagnosed"]
    if getattr(model, "stopped_", None):
        found.append(f"sampling ended early because {model.stopped_}")
    return found
