"""`goodprior fit`: from a table in a text file to a model file."""

import os
import time
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir
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
from goodprior.commands.model_settings import (
    model_settings,
    quick_in_words,
    quick_settings,
    with_units,
)
from goodprior.commands.options import LikelihoodName, MethodName, PriorName, TaskName
from goodprior.commands.training_table import describe_table, read_training_table

if TYPE_CHECKING:
    from goodprior.commands.training_table import TrainingTable


def fit(
    data: options.TrainingData,
    target: options.Target,
    prior: options.Prior = PriorName.GPI_G,
    belief: options.Belief = None,
    belief_file: options.BeliefFile = None,
    task: options.Task = TaskName.AUTO,
    method: options.Method = MethodName.AUTO,
    drop: options.Drop = None,
    impute: options.Impute = False,
    noise_std_column: options.NoiseColumn = None,
    quick: options.Quick = False,
    draws: options.Draws = None,
    budget: options.Budget = None,
    checkpoint: options.Checkpoint = None,
    likelihood: options.LikelihoodOf = LikelihoodName.AUTO,
    noise: options.Noise = None,
    hidden: options.Hidden = None,
    activation: options.Activation = None,
    chains: options.Chains = None,
    step_size: options.StepSize = None,
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
            "encode": "impute" if impute else True,
            **(quick_settings(method) if quick else {}),
            **model_settings(likelihood.value, noise, hidden, activation, chains, draws),
        }
        table = read_training_table(data, target, drop or [], impute, task.value, noise_std_column)
        settings = with_units(settings, step_size, table)
        stated = belief is not None or belief_file is not None
        say(describe_table(table, belief_stated=stated))
        if quick:
            say(f"--quick, for a first look only: {quick_in_words(method)}")
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
    known = {} if table.noise is None else {"noise_std": table.noise}
    model.fit(table.rows, table.targets, checkpoint=checkpoint, **known)
    _save(model, out, table.to_dict())
    return model


def _save(model: Any, out: Path, table: dict[str, Any]) -> None:
    """Write the model file, or else one elsewhere: hours of work are not lost to a full disk."""
    try:
        model.save(out, table=table)
    except OSError as error:
        for folder in (Path(gettempdir()), Path.home()):
            elsewhere = folder / f"{out.stem}-{os.getpid()}{out.suffix}"
            with suppress(OSError):
                model.save(elsewhere, table=table)
                why = f"{error.strerror}; the model is saved in {elsewhere} instead"
                break
        else:
            raise
        raise OSError(error.errno, why) from error
