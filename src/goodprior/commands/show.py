"""`goodprior show`: a model file as a page or a picture, and in a few lines of words."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goodprior.commands.console import check_out, for_people, prepare, warnings_in_words

if TYPE_CHECKING:
    from goodprior.commands.model_file import ModelFile

CONCERNS = {
    "map": "one network only: error bars are of the noise, not of the function",
    "ensemble": "the networks differ by where they started, which is no posterior",
    "laplace": "a Gaussian around one mode stands for the posterior",
    "fbnn": "independent weights stand for the posterior, which makes error bars too narrow",
}


def show(
    model: Annotated[
        Path, typer.Argument(help="A file that `goodprior fit` wrote.", exists=True, dir_okay=False)
    ],
    data: Annotated[
        Path | None,
        typer.Argument(
            help="The training table, or another with its columns, to be drawn as dots.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="A page (.html) or the pictures alone (.png).", dir_okay=False)
    ] = Path("report.html"),
) -> None:
    """Show what a model believes and predicts, and whether its draws can be trusted.

    The page needs nothing else: send it to anyone.
    """
    check_out(out, ".html", ".png")
    with for_people(), warnings_in_words():
        from goodprior.commands.model_file import open_model
        from goodprior.commands.report import report_page, stacked
        from goodprior.storage import replace_file
        from goodprior.studies.reports.page import png

        prepare()
        file = open_model(model)
        X, y = _dots(file, data)
        typer.echo(in_short(file))
        pictures = {"posterior": png(file.model.plot_posterior(X, y))}
        if hasattr(file.model, "prior_"):  # some methods have none
            pictures = {"prior": png(file.model.plot_prior()), **pictures}
        if out.suffix.lower() == ".png":
            replace_file(out, stacked(list(pictures.values())))
        else:
            replace_file(out, report_page(model.name, file, pictures).encode())
        typer.echo(f"report: {out}")


def in_short(file: "ModelFile") -> str:
    """What the model is, and what is wrong with it, in a few lines."""
    lines = [what_it_is(file)]
    if file.columns is not None:
        lines.append(file.columns.describe())
    lines.append(f"belief: {file.model.belief_}")
    return "\n".join([*lines, *(f"warning: {text}" for text in concerns(file.model))])


def what_it_is(file: "ModelFile") -> str:
    """One sentence: targets, rows, prior and draws."""
    model = file.model
    of = f" of {', '.join(file.targets)}" if file.targets else ""
    on = f" on {file.rows} rows" if file.rows else ""
    prior = model.prior if isinstance(model.prior, str) else type(model.prior).__name__
    under = f"prior {prior}, " if hasattr(model, "prior_") else ""
    return f"{model.TASK}{of}{on}: {under}{model.method}, {made_of(model)}"


def made_of(model: Any) -> str:
    """What stands for the posterior, in a few words."""
    posterior = model.posterior_
    if model.method == "map":
        return "one network"
    if model.method == "ensemble":
        return f"{posterior.chains} networks"
    if model.method == "laplace":
        return "a Gaussian around one network"
    if model.method == "fbnn":
        return f"{posterior.draws_per_chain} draws of a variational posterior"
    return f"{posterior.chains} chains of {posterior.draws_per_chain} draws"


def concerns(model: Any) -> list[str]:
    """All that one should know before trusting the draws, in words."""
    if model.diagnostics_ is not None:
        found = list(model.diagnostics_.warnings)
    elif model.method in CONCERNS:
        found = [CONCERNS[model.method]]
    else:
        found = ["there are too few draws to be diagnosed"]
    if getattr(model, "stopped_", None):
        found.append(f"sampling ended early because {model.stopped_}")
    return found


def _dots(file: "ModelFile", data: Path | None) -> tuple[Any, Any]:
    """Inputs and targets to draw, if there are any."""
    from goodprior.data.table.read import read_table

    if data is None:
        return None, None
    frame = read_table(data, least_columns=1)
    targets = file.known_targets(frame)
    if targets is None:
        typer.echo(f"warning: {data} does not have the targets, so no dots are drawn", err=True)
    return file.inputs(frame), targets
