"""`goodprior calibrate`: whether a model's sampler finds answers that are known."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goodprior.commands import options
from goodprior.commands.console import (
    STOPPED,
    check_output,
    prepare,
    print_json,
    report_errors,
    report_warnings,
)

if TYPE_CHECKING:
    from goodprior.commands.model_file import ModelFile
    from goodprior.evaluation import Calibration

ENDINGS = (".png", ".html", ".json")


def calibrate(
    model: options.ModelPath,
    data: Annotated[
        Path | None,
        typer.Argument(
            help="The training table, which model files do not hold.", exists=True, dir_okay=False
        ),
    ] = None,
    simulations: Annotated[
        int, typer.Option(help="Data sets that are simulated and fitted.", min=2)
    ] = 100,
    posterior: Annotated[
        bool,
        typer.Option("--posterior", help="Simulate around the fitted model, not from its prior."),
    ] = False,
    rows: Annotated[
        int, typer.Option(help="Of more rows so many are used, evenly spread.", min=2)
    ] = 200,
    points: Annotated[int, typer.Option(help="Rows at which functions are ranked.", min=1)] = 3,
    budget: Annotated[
        float | None,
        typer.Option(
            help="Seconds after which it ends with what there is.", callback=options.seconds
        ),
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="A picture (.png), a page (.html) or numbers (.json, for `goodprior show`); "
            "repeat it for several. Default: calibration.png.",
            dir_okay=False,
        ),
    ] = None,
    seed: options.Seed = 0,
    as_json: options.AsJSON = False,
    quiet: options.Quiet = False,
) -> None:
    """Simulation-based calibration: would the sampler find answers that are known?

    Targets are simulated at the rows of the table with draws of the model's prior, and fitted with
    the model's own settings, again and again. Where the sampler is right, ranks of the truth among
    its draws are uniform. It takes as long as so many fits; Ctrl-C ends it with those so far.
    """
    paths = out or [Path("calibration.png")]
    for path in paths:
        check_output(path, *ENDINGS)
    with report_errors(), report_warnings():
        from goodprior.commands.model_file import open_model

        prepare()
        file = open_model(model)
        file.model.set_params(random_state=seed, verbose=int(not quiet))
        found = _calibration(file, data, posterior, simulations, rows, points, budget)
        if found.simulations + found.failed < simulations:
            typer.echo(
                f"warning: it ended early: {found.simulations} of {simulations} simulations",
                err=True,
            )
        for path in paths:
            _write(path, model.name, found)
        written = ", ".join(map(str, paths))
        if not quiet:
            typer.echo(f"{found.about}\n{found}\ncalibration: {written}", err=as_json)
        if as_json:
            print_json(found.to_dict() | {"out": [str(path) for path in paths]})


def _calibration(
    file: "ModelFile", data: Path | None, posterior: bool, *options: Any
) -> "Calibration":
    from goodprior.inference import StopSampling

    if data is None:
        raise ValueError("model files hold no rows: give the training table after the model")
    frame = file.read(data)
    targets = file.known_targets(frame) if posterior else None
    if posterior and targets is None:
        raise ValueError(f"--posterior needs the targets, which {data} does not have")
    simulations, rows, points, budget = options
    try:
        return file.model.calibrate(
            file.inputs(frame),
            targets,
            simulations=simulations,
            rows=rows,
            points=points,
            budget=budget,
        )
    except StopSampling as reason:
        typer.echo(str(reason), err=True)
        raise typer.Exit(STOPPED) from None


def _write(path: Path, name: str, found: "Calibration") -> None:
    from goodprior import html
    from goodprior.plots import plot_calibration
    from goodprior.storage import replace_file

    ending = path.suffix.lower()
    if ending == ".json":
        replace_file(path, json.dumps(found.to_dict(), allow_nan=False).encode())
        return
    picture = html.png(plot_calibration(found))
    if ending == ".html":
        page = html.render("calibration.html", name=name, found=found, picture=picture)
        picture = page.encode()
    replace_file(path, picture)


def read_calibration(path: Path) -> "Calibration":
    """Return what `goodprior calibrate --out FILE.json` wrote."""
    from goodprior.evaluation import Calibration

    try:
        return Calibration.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ValueError(f"{path} cannot be used: {error}") from None
