"""`goodprior fit`: from a table in a text file to a model file."""

import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goodprior.commands.belief import read_belief
from goodprior.commands.console import (
    check_out,
    for_people,
    prepare,
    print_json,
    warnings_in_words,
)
from goodprior.commands.show import CONCERNS, made_of

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from goodprior.data.table.encode import Columns

# For a first look. What it cuts is said when it is used.
QUICK = {"hidden": (20, 20), "chains": 2, "burn_in": 1000, "draws": 20, "thinning": 100}


class PriorName(StrEnum):
    GPI_G = "gpi-g"
    GPI_H = "gpi-h"
    GPI_NF = "gpi-nf"
    FG = "fg"
    FH = "fh"


class TaskName(StrEnum):
    AUTO = "auto"
    REGRESSION = "regression"
    CLASSIFICATION = "classification"


class MethodName(StrEnum):
    SGHMC = "sghmc"
    NUTS = "nuts"
    LAPLACE = "laplace"
    ENSEMBLE = "ensemble"
    FBNN = "fbnn"
    MAP = "map"


@dataclass(frozen=True)
class Table:
    """What was understood of the file."""

    inputs: "pd.DataFrame"
    targets: "np.ndarray"
    names: list[str]  # of the targets
    columns: "Columns"
    constant: list[str]
    counters: list[str]  # inputs that go up by one from row to row
    task: str


def fit(
    data: Annotated[
        Path,
        typer.Argument(
            help="A CSV file (or .tsv, .txt, .gz) whose first line has the names of the columns.",
            exists=True,
            dir_okay=False,
        ),
    ],
    target: Annotated[
        list[str],
        typer.Option(metavar="NAME", help="The column to predict; repeat it for several."),
    ],
    prior: Annotated[
        PriorName,
        typer.Option(help="gpi-…: matched to the belief. fg, fh: the usual, knowing nothing."),
    ] = PriorName.GPI_G,
    belief: Annotated[
        str | None,
        typer.Option(
            help="What functions are like: smooth (the default), rough, or lengths and heights in "
            'the columns\' own units, such as "lengthscale.age=10, amplitude=3".'
        ),
    ] = None,
    task: Annotated[
        TaskName, typer.Option(help="auto: text and few whole numbers are classes.")
    ] = TaskName.AUTO,
    method: Annotated[
        MethodName,
        typer.Option(
            help="sghmc and nuts sample. laplace, ensemble and fbnn (for numbers) approximate. "
            "map: one network, fast, no error bars."
        ),
    ] = MethodName.SGHMC,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A column to leave out; repeat it for several."),
    ] = None,
    impute: Annotated[
        bool, typer.Option("--impute", help="Fill gaps with medians and most frequent values.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A first look: a small network and short chains.")
    ] = False,
    draws: Annotated[
        int | None, typer.Option(help="Draws to keep per chain; more of them take longer.", min=2)
    ] = None,
    budget: Annotated[
        float | None, typer.Option(help="Seconds after which sampling ends with what there is.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="A folder in which progress is kept: the same command goes on after a stop.",
            file_okay=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Where to write the model.", dir_okay=False)] = Path(
        "model.safetensors"
    ),
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.", min=0)] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object on stdout, the rest on stderr.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="No progress and no summary; warnings remain.")
    ] = False,
) -> None:
    """Fit a network to a table, under a prior that says what functions are like.

    It first says what it understood, then works. Ctrl-C ends it early: the draws so far are saved
    (exit code 0). A second Ctrl-C ends it at once (130). Other exit codes: 1, the fit failed; 2,
    something is wrong with the command or the table.
    """
    check_out(out, ".safetensors")
    if budget is not None and not budget > 0:
        raise typer.BadParameter("must be a number of seconds above zero", param_hint="--budget")
    again = "the same command goes on from there" if checkpoint else "nothing was kept"

    def say(text: str) -> None:
        if not quiet:
            typer.echo(text, err=as_json)

    with for_people(f"stopped; {again}"), warnings_in_words() as warned:
        started = time.monotonic()
        said = None if belief is None else read_belief(belief)
        table = read_training_table(data, target, drop or [], impute, task.value)
        say(_understood_table(table))
        say(_understood_belief(said, table, prior.value, method.value))
        if quick:
            say(_what_quick_cuts())
        prepare()
        settings: dict[str, Any] = {
            "prior": prior.value,
            "belief": said,
            "method": method.value,
            "budget": budget,
            "random_state": seed,
            "verbose": int(not quiet),
        }
        settings |= QUICK if quick else {}
        settings |= {} if draws is None else {"draws": draws}
        model = _estimator(table.task, settings)
        model.fit(table.inputs, table.targets, checkpoint=checkpoint)
        model.columns_ = describe(table)
        model.save(out)
    with for_people(f"stopped; the model is saved: {out}"), warnings_in_words():
        result = _result(model, table, warned) | {
            "seed": seed,
            "quick": quick,
            "seconds": time.monotonic() - started,
            "out": str(out),
        }
        for text in result["convergence"]:
            typer.echo(f"warning: {text}", err=True)
        say(_summary(result))
        say(_next_steps(result, data, checkpoint))
        if as_json:
            print_json(result)


def read_training_table(
    data: Path, targets: list[str], drop: list[str], impute: bool, task: str
) -> Table:
    """The file as inputs and targets. Columns with the same value in every row are left out."""
    import numpy as np
    import pandas as pd

    from goodprior.data.table.read import Columns, looks_like_classes, read_table, target_values

    frame = read_table(data)
    names = list(dict.fromkeys(targets))
    y = target_values(frame, names[0] if len(names) == 1 else names)
    others = [name for name in frame.columns if name not in (*names, *drop)]
    constant = [name for name in others if frame[name].nunique() == 1]
    if constant and len(constant) == len(others):
        raise ValueError(f"{', '.join(others)}: the same value in every row, nothing to learn from")
    columns = Columns.fit(frame, target=names, impute=impute, drop=[*drop, *constant])
    inputs = pd.DataFrame(columns.matrix(frame), columns=columns.names)
    if task == "auto":
        task = "classification" if looks_like_classes(y) else "regression"
    elif task == "regression" and y.dtype.kind not in "fiub":
        raise ValueError(
            f"--task regression needs numbers, and {names[0]} holds text such as {str(y[0])!r}"
        )
    elif task == "classification" and y.ndim > 1:
        raise ValueError("--task classification takes one --target")
    elif task == "classification" and y.dtype.kind == "f" and (y % 1).any():
        raise ValueError(
            f"--task classification needs labels, and {names[0]} holds {y[y % 1 != 0][0]:g}"
        )
    if task == "classification" and (classes := len(np.unique(y))) > len(y) / 2:
        raise ValueError(
            f"{names[0]} has {classes} different values in {len(y)} rows, such as {str(y[0])!r}: "
            "too many to be classes" + " (--task regression?)" * (y.dtype.kind in "fiu")
        )
    return Table(inputs, y, names, columns, constant, _counters(frame[others]), task)


def _counters(frame: Any) -> list[str]:
    numbers = frame.select_dtypes("integer")
    return [name for name in numbers if len(frame) > 2 and (numbers[name].diff()[1:] == 1).all()]


def describe(table: Table) -> dict[str, Any]:
    """What is kept of the table in the model file."""
    from goodprior.commands.model_file import describe_table

    return describe_table(table.columns, table.names, len(table.inputs))


def _estimator(task: str, settings: dict[str, Any]) -> Any:
    from goodprior.estimators import BNNClassifier, BNNRegressor

    return (BNNRegressor if task == "regression" else BNNClassifier)(**settings)


def _understood_table(table: Table) -> str:
    import numpy as np

    lines = [f"{len(table.inputs)} rows, {table.columns.describe()}"]
    if table.constant:
        lines.append(f"  left out, the same value in every row: {', '.join(table.constant)}")
    for name in table.counters:
        lines.append(f"  {name} only counts the rows? then leave it out: --drop {quote(name)}")
    names = ", ".join(table.names)
    if table.task == "regression":
        lines.append(f"regression: numbers for {names}")
    else:
        classes = [str(value) for value in np.unique(table.targets)]
        shown = ", ".join(classes[:10]) + ", …" * (len(classes) > 10)
        lines.append(f"classification: {names} is one of {shown}")
        if table.targets.dtype.kind in "fiu":
            lines.append("  (--task regression if these are amounts rather than labels)")
    return "\n".join(lines)


def _understood_belief(said: Any, table: Table, prior: str, method: str) -> str:
    """The belief in words, before any work begins; what is wrong with it is an error here."""
    from goodprior.beliefs.spec import parse_belief
    from goodprior.data import Scaling
    from goodprior.priors import is_matched

    scaling = Scaling.fit(table.inputs, table.targets if table.task == "regression" else None)
    names = list(table.inputs.columns)
    task: Any = table.task
    words = f"belief: {parse_belief(said, scaling, names, task=task, outputs=1)}"
    if method == "ensemble":
        return f"{words}\n  (an ensemble makes no use of it)"
    if method == "fbnn" and said is None:
        return "belief: a Gaussian process that will be fitted to the rows"
    if method == "fbnn" or is_matched(prior):
        return words
    return f"{words}\n  (the prior {prior} makes no use of it)"


def _what_quick_cuts() -> str:
    from goodprior.estimators import BNNRegressor

    usual = BNNRegressor().get_params()
    cuts = (f"{name} {value} instead of {usual[name]}" for name, value in QUICK.items())
    return f"--quick, for a first look only: {', '.join(cuts)}"


def _result(model: Any, table: Table, warned: list[str]) -> dict[str, Any]:
    from goodprior.evaluation.loo import LEAST_DRAWS
    from goodprior.pipeline.sampling import is_sampled

    posterior, found = model.posterior_, model.diagnostics_
    chains, draws = getattr(posterior, "chains", None), getattr(posterior, "draws_per_chain", None)
    enough = is_sampled(posterior) and posterior.chains * posterior.draws_per_chain >= LEAST_DRAWS
    return {
        "task": table.task,
        "targets": table.names,
        "rows": len(table.inputs),
        "inputs": list(table.inputs.columns),
        "belief": model.belief_.sentence,
        "prior": model.prior,
        "method": model.method,
        "chains": chains,
        "draws_per_chain": draws,
        "made_of": made_of(model),
        "stopped": model.stopped_,
        "diagnostics": None if found is None else found.summary,
        "convergence": [] if found is None else found.warnings,
        "loo": model.loo(table.inputs, table.targets) if enough else None,
        "warnings": warned,
    }


def _summary(result: dict[str, Any]) -> str:
    lines = [("posterior", result["made_of"])]
    if (concern := CONCERNS.get(result["method"])) is not None:
        lines.append(("", concern))
    if (found := result["diagnostics"]) is not None:
        lines.append(("worst R-hat", f"{found['rhat_max']:.2f} (1.00 is best)"))
        lines.append(("fewest effective draws", f"{found['ess_min']:.0f}"))
    if (loo := result["loo"]) is not None:
        rows = result["rows"]
        each = f"{loo['elpd'] / rows:.3f} ± {loo['se'] / rows:.3f} per row"
        lines.append(("log density of new rows", f"{each} (PSIS-LOO)"))
        if loo["pareto_k_high"] > 0:
            limit, share = loo["pareto_k_limit"], loo["pareto_k_high"]
            lines.append(("", f"unreliable for {share:.0%} of the rows (Pareto k > {limit:.2f})"))
    lines.append(("time", f"{result['seconds']:.0f} s"))
    return "\n" + "\n".join(f"  {name:<24} {value}" for name, value in lines) + "\n"


def _next_steps(result: dict[str, Any], data: Path, checkpoint: Path | None) -> str:
    model = quote(result["out"])
    lines = [f"model: {result['out']}"]
    if result["stopped"]:
        more = (
            "the same command goes on from there"
            if checkpoint
            else "with --checkpoint FOLDER the same command could go on from there"
        )
        lines.append(f"  sampling ended early because {result['stopped']}; {more}")
    elif result["convergence"]:
        longer = (
            "leave out --quick" if result["quick"] else f"--draws {4 * result['draws_per_chain']}"
        )
        lines.append(f"  to sample longer: {longer}")
    lines.append(f"next:  goodprior show {model} {quote(str(data))} --out report.html")
    lines.append(f"       goodprior predict {model} NEW.csv --out predictions.csv")
    return "\n".join(lines)
