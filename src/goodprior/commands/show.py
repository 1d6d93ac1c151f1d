"""`goodprior show`: a model file as a page or a picture, and in a few lines."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goodprior.commands.console import check_output, prepare, report_errors, report_warnings
from goodprior.commands.model_summary import pareto_warning, relevance_lines, summary_lines
from goodprior.commands.options import ModelPath

if TYPE_CHECKING:
    from goodprior.commands.model_file import ModelFile


def show(
    model: ModelPath,
    data: Annotated[
        Path | None,
        typer.Argument(
            help="The training table, or another with its columns: to be drawn as dots, and to "
            "say which columns matter.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="A page (.html) or the pictures alone (.png).", dir_okay=False)
    ] = Path("report.html"),
    calibration: Annotated[
        Path | None,
        typer.Option(
            help="What `goodprior calibrate --out FILE.json` wrote, to be shown as well.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
) -> None:
    """Show what a model believes and predicts, and whether its draws can be trusted.

    The page needs nothing else: send it to anyone.
    """
    check_output(out, ".html", ".png")
    with report_errors(), report_warnings():
        from goodprior.commands.calibrate import read_calibration
        from goodprior.commands.model_file import open_model
        from goodprior.commands.report import report_page, stack_pictures
        from goodprior.html import png
        from goodprior.plots import plot_calibration
        from goodprior.storage import replace_file

        prepare()
        file = open_model(model)
        ranked = None if calibration is None else read_calibration(calibration)
        X, y = _rows_to_draw(file, data)
        relevance, unsure = relevance_lines(file, X), pareto_warning(file, X, y)
        typer.echo("\n".join([summary_lines(file), *relevance]))
        if unsure:
            typer.echo(f"warning: {unsure}")
        pictures = {"posterior": png(file.model.plot_posterior(X, y))}
        if hasattr(file.model, "prior_"):  # some methods have none
            pictures = {"prior": png(file.model.plot_prior()), **pictures}
        if ranked is not None:
            typer.echo(f"calibration: {ranked.verdict}")
            pictures["calibration"] = png(plot_calibration(ranked))
        if out.suffix.lower() == ".png":
            replace_file(out, stack_pictures(list(pictures.values())))
        else:
            page = report_page(model.name, file, pictures, relevance, unsure, ranked)
            replace_file(out, page.encode())
        typer.echo(f"report: {out}")


def _rows_to_draw(file: "ModelFile", data: Path | None) -> tuple[Any, Any]:
    """Inputs and targets to draw, if there are any."""
    if data is None:
        return None, None
    frame = file.read(data)
    targets = file.known_targets(frame)
    if targets is None:
        typer.echo(f"warning: {data} does not have the targets, so no dots are drawn", err=True)
    return file.inputs(frame), targets
