"""`goodprior fit`: from a table in a text file to a model file."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from goodprior.commands import options
from goodprior.commands.console import (
    check_output,
    prepare,
    print_json,
    report_errors,
    report_warnings,
    wrong_option,
)
from goodprior.commands.fit_summary import fit_result, next_steps, summary_text
from goodprior.commands.options import MethodName, PriorName, TaskName
from goodprior.commands.training_table import describe_table, read_training_table, with_noise

if TYPE_CHECKING:
    from goodprior.commands.training_table import TrainingTable

# For a first look. What it cuts is printed when it is used.
QUICK = {"chains": 4, "draws": 10}


def fit(
    data: options.TrainingData,
    target: options.Target,
    prior: options.Prior = PriorName.GPI_G,
    belief: options.Belief = None,
    belief_file: options.BeliefFile = None,
    task: options.Task = TaskName.AUTO,
    method: options.Method = MethodName.SGHMC,
    drop: options.Drop = None,
    impute: options.Impute = False,
    noise_std_column: options.NoiseColumn = None,
    quick: options.Quick = False,
    draws: options.Draws = None,
    budget: options.Budget = None,
    checkpoint: options.Checkpoint = None,
    out: options.ModelOut = Path("model.safetensors"),
    seed: options.Seed = 0,
    as_json: options.AsJSON = False,
    quiet: options.Quiet = False,
) -> None:
    """Fit a network to a table, under a prior that says what functions are like.

    It first says what it understood, then works. Ctrl-C ends it early: the draws so far are saved
    (exit code 0). A second Ctrl-C ends it at once (130). Other exit codes: 1, the fit failed; 2,
    something is wrong with the command or the table.
    """
    check_output(out, ".safetensors")
    if budget is not None and not budget > 0:
        raise typer.BadParameter("must be a number of seconds above zero", param_hint="--budget")

    def say(text: str) -> None:
        if not quiet:
            typer.echo(text, err=as_json)

    started = time.monotonic()
    kept = "the same command goes on from there" if checkpoint else "nothing was kept"
    with report_errors(f"stopped; {kept}"), report_warnings() as warned:
        settings: dict[str, Any] = {
            "prior": prior.value,
            **_belief_of(belief, belief_file),
            "method": method.value,
            "budget": budget,
            "random_state": seed,
            "verbose": int(not quiet),
            **(quick_settings(method) if quick else {}),
            **({} if draws is None else {"draws": draws}),
        }
        known = [] if noise_std_column is None else [noise_std_column]
        table = read_training_table(data, target, [*(drop or []), *known], impute, task.value)
        if noise_std_column is not None:
            table = with_noise(table, data, noise_std_column)
        _standardise_noise(settings, table)
        say(describe_table(table))
        if quick:
            say(f"--quick, for a first look only: {_describequick_settings(method)}")
        prepare()
        model = _fit_and_save(table, settings, checkpoint, out)
    with report_errors(f"stopped; the model is saved: {out}"), report_warnings():
        run = {"seed": seed, "quick": quick, "seconds": time.monotonic() - started}
        result = fit_result(model, table, warned) | run | {"out": str(out)}
        say(f"{summary_text(result)}\n{next_steps(result, data, checkpoint)}")
        if as_json:
            print_json(result)


def _belief_of(text: str | None, file: Path | None) -> dict[str, Any]:
    """The value of `--belief` as the estimators take it, or what `--belief-file` holds."""
    from goodprior.beliefs.file import read_belief

    if text is not None and file is not None:
        raise typer.BadParameter("give one of --belief and --belief-file, not both")
    if file is not None:
        with wrong_option("--belief-file"):
            stored = read_belief(file)
        return {"belief": stored.spec} | ({} if stored.noise is None else {"noise": stored.noise})
    with wrong_option("--belief"):
        return {"belief": None if text is None else belief_from_option(text)}


def belief_from_option(text: str) -> Any:
    """Return the value of `--belief` as the estimators take it."""
    from goodprior.beliefs.text import belief_from_text

    return _with_curves(belief_from_text(text))


def _standardise_noise(settings: dict[str, Any], table: "TrainingTable") -> None:
    """Put a noise in the target's units as the variance of standardised targets."""
    import numpy as np

    noise = settings.pop("noise", None)
    if noise is None:
        return
    if table.task != "regression" or len(table.names) > 1:
        raise ValueError("the belief file has a noise, which is for one target that is a number")
    settings["noise_variance"] = float((noise / np.std(table.targets)) ** 2)


def _with_curves(spec: Any) -> Any:
    """The specification with the tables of curves whose files it names."""
    from goodprior.data.table.read import read_table

    if isinstance(spec, list):
        return [_with_curves(part) for part in spec]
    if not isinstance(spec, dict) or "curves" not in spec:
        return spec
    path = Path(spec["curves"])
    if not path.is_file():
        raise ValueError(f"curves={path} names no file: give a table of points and curves")
    return spec | {"curves": read_table(path).to_dict("list")}


def _fit_and_save(
    table: "TrainingTable", settings: dict[str, Any], checkpoint: Path | None, out: Path
) -> Any:
    from goodprior.estimators import BNNClassifier, BNNRegressor

    estimator: Any = BNNRegressor if table.task == "regression" else BNNClassifier
    model = estimator(**settings)
    noise = {} if table.noise is None else {"noise_std": table.noise}
    model.fit(table.inputs, table.targets, checkpoint=checkpoint, **noise)
    model.save(out, columns=table.to_dict())
    return model


def quick_settings(method: MethodName) -> dict[str, Any]:
    """Return the settings of a first look, of those that the method takes notice of."""
    from goodprior.pipeline import parse_method

    uses = parse_method(method.value).uses
    return {name: value for name, value in QUICK.items() if name == "hidden" or name in uses}


def _describe_quick(method: MethodName) -> str:
    """What `--quick` cuts."""
    from goodprior.estimators import BNNRegressor
    from goodprior.pipeline import parse_method

    full = parse_method(method.value)
    hidden = BNNRegressor().hidden or "chosen for the belief"
    usual = {"hidden": hidden, "chains": full.chains, "draws": full.draws}
    return ", ".join(
        f"{name} {value} instead of {usual[name]}" for name, value in quick_settings(method).items()
    )
