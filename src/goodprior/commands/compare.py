"""`goodprior compare`: several priors, beliefs or methods on the same cross-validation folds."""

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from goodprior.commands import compare_options, options
from goodprior.commands.console import (
    check_output,
    json_text,
    prepare,
    print_json,
    report_errors,
    report_warnings,
    split_commas,
    wrong_option,
)
from goodprior.commands.fit import belief_from_option
from goodprior.commands.model_settings import quick_settings
from goodprior.commands.options import MethodName, PriorName, TaskName
from goodprior.commands.training_table import describe_table, read_training_table

if TYPE_CHECKING:
    from goodprior.commands.training_table import TrainingTable
    from goodprior.comparison import ModelComparison

DEFAULT_PRIORS = ("fg", "gpi-g", "gpi-h")
MOST = 20  # settings


def compare(
    data: options.TrainingData,
    target: options.Target,
    prior: compare_options.Priors = None,
    belief: compare_options.Beliefs = None,
    method: compare_options.Methods = None,
    folds: compare_options.Folds = 5,
    peers: compare_options.Peers = True,
    task: options.Task = TaskName.AUTO,
    drop: options.Drop = None,
    impute: options.Impute = False,
    quick: options.Quick = False,
    draws: options.Draws = None,
    budget: compare_options.Budget = None,
    checkpoint: compare_options.Checkpoint = None,
    out: compare_options.ReportOut = None,
    seed: options.Seed = 0,
    as_json: options.AsJSON = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare priors, beliefs or methods by what they say of rows that they have not seen.

    Each setting is fitted once per fold. Ctrl-C ends it with what is done. Of several --prior,
    --belief and --method all combinations are compared.
    """
    if out is not None:
        check_output(out, ".html", ".json")

    def say(text: str) -> None:
        if not quiet:
            typer.echo(text, err=as_json)

    kept = "the same command goes on from there" if checkpoint else "no fit was done"
    with report_errors(f"stopped; {kept}"), report_warnings():
        wanted = _combinations(prior, belief, method)
        encode = "impute" if impute else True
        common: dict[str, Any] = {"random_state": seed, "encode": encode}
        common |= {} if draws is None else {"draws": draws}
        table = read_training_table(data, target, drop or [], impute, task.value)
        models = _models(table, wanted, common, quick)
        say(describe_table(table, belief_stated=bool(belief)))
        say(_plan(models, folds, peers, quick))
        prepare()
        from goodprior.comparison import compare_models

        found = compare_models(
            table.rows,
            table.targets,
            models,
            folds=folds,
            peers=peers,
            budget=budget,
            checkpoint=checkpoint,
            random_state=seed,
            verbose=not quiet,
        )
        say(f"\n{found}")
        if out is not None:
            _write(out, data, target, found)
            say(f"\nreport: {out}")
        if as_json:
            print_json(found.to_dict() | {"out": None if out is None else str(out)})


def _combinations(
    priors: list[str] | None, beliefs: list[str] | None, methods: list[str] | None
) -> dict[str, dict[str, Any]]:
    """The settings to compare by name: all combinations of what is given."""
    known = {"--prior": PriorName, "--method": MethodName}
    given = {"--prior": split_commas(priors), "--method": split_commas(methods)}
    for option, words in given.items():
        names = [name.value for name in known[option]]
        if unknown := [word for word in words if word not in names]:
            raise typer.BadParameter(
                f"must be of {', '.join(names)}; got {unknown[0]!r}", param_hint=option
            )
    texts = list(dict.fromkeys(beliefs or []))
    if not any((*given.values(), texts)):
        given["--prior"] = DEFAULT_PRIORS
    found = {}
    for prior, text, method in product(
        given["--prior"] or [None], texts or [None], given["--method"] or [None]
    ):
        parts = {"prior": prior, "belief": text, "method": method}
        varying = [part for part in parts.values() if part is not None]
        settings = {name: value for name, value in parts.items() if value is not None}
        found[", ".join(varying)] = settings
    if len(found) > MOST:
        raise typer.BadParameter(f"these are {len(found)} settings, and at most {MOST} are taken")
    return found


def _models(
    table: "TrainingTable", wanted: dict[str, dict[str, Any]], common: dict[str, Any], quick: bool
) -> dict[str, Any]:
    """An estimator for each of the settings."""
    from goodprior.estimators import BNNClassifier, BNNRegressor

    estimator: Any = BNNRegressor if table.task == "regression" else BNNClassifier
    found = {}
    for name, one in wanted.items():
        settings = dict(one)
        if "belief" in settings:
            with wrong_option("--belief"):
                settings["belief"] = belief_from_option(settings["belief"])
        method = MethodName(settings.get("method", MethodName.AUTO.value))
        shortened = quick_settings(method) if quick else {}
        found[name] = estimator(**{**shortened, **common, **settings})
    return found


def _plan(models: dict[str, Any], folds: int, peers: bool, quick: bool) -> str:
    """What is going to be done, in words."""
    words = f"{len(models)} settings on {folds} folds, {len(models) * folds} fits"
    words += ", and the references gp-ard and boosting" * peers
    words += " (--quick: short chains, for a first look only)" * quick
    return f"{words}: {'; '.join(models)}"


def _write(out: Path, data: Path, targets: list[str], found: "ModelComparison") -> None:
    """Write the page, or all of it as JSON; as a whole or not at all."""
    from goodprior.storage import replace_file

    if out.suffix.lower() == ".json":
        replace_file(out, (json_text(found.to_dict()) + "\n").encode())
        return
    from goodprior import html

    page = html.render(
        "comparison.html",
        name=f"{', '.join(targets)} of {data.name}",
        comparison=found,
        table=found.table.reset_index(),
        scores=found.scores,
        picture=html.png(found.plot()),
    )
    replace_file(out, page.encode())
