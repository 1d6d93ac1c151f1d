"""What `goodprior fit` reports when it is done: a summary, and what to do next."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from goodprior.commands.model_summary import LIMITATIONS, posterior_form

if TYPE_CHECKING:
    from goodprior.commands.training_table import TrainingTable


TOO_MANY = 0.05  # share of the rows with a high Pareto k, from which LOO is no longer quoted


def fit_result(model: Any, table: "TrainingTable", warned: list[str]) -> dict[str, Any]:
    """Return what `--json` prints of a fitted estimator."""
    from goodprior.evaluation.loo import LEAST_DRAWS

    posterior, found = model.posterior_, model.diagnostics_
    chains, draws = getattr(posterior, "chains", None), getattr(posterior, "draws_per_chain", None)
    enough = found is not None and (chains or 0) * (draws or 0) >= LEAST_DRAWS
    return {
        "task": table.task,
        "targets": table.names,
        "rows": len(table.inputs),
        "inputs": list(table.inputs.columns),
        "belief": model.belief_.sentence,
        "match": str(model.match_report_) if hasattr(model, "match_report_") else None,
        "prior": model.prior,
        "method": model.method_name,
        "chains": chains,
        "draws_per_chain": draws,
        "made_of": posterior_form(model),
        "stopped": model.stopped_,
        "diagnostics": None if found is None else found.summary,
        "convergence": [] if found is None else found.warnings,
        "is_improving": None if found is None else found.is_improving,
        "loo": _loo_figures(model, table) if enough else None,
        "warnings": warned,
    }


def _loo_figures(model: Any, table: "TrainingTable") -> dict[str, Any]:
    """PSIS-LOO without the figure of each row."""
    known = {} if table.noise is None else {"noise_std": table.noise}
    found = model.loo(table.rows, table.targets, **known)._asdict()
    del found["pareto_k"]
    return found


def summary_text(result: dict[str, Any]) -> str:
    """Return the summary of a result: one line a figure."""
    lines = [("posterior", result["made_of"])]
    if result["match"] is not None:
        lines.insert(0, ("prior", result["match"]))
    if (limitation := LIMITATIONS.get(result["method"])) is not None:
        lines.append(("", limitation))
    if (found := result["diagnostics"]) is not None:
        lines.append(("worst R-hat", f"{found['rhat_max']:.2f} (1.00 is best)"))
        lines.append(("fewest effective draws", f"{found['ess_min']:.0f}"))
    if (loo := result["loo"]) is not None:
        lines.append(("log density of new rows", loo_text(loo, result["rows"])))
    lines.append(("time", f"{result['seconds']:.0f} s"))
    return "\n" + "\n".join(f"  {name:<24} {value}" for name, value in lines) + "\n"


def loo_text(loo: dict[str, Any], rows: int) -> str:
    """Return what PSIS-LOO says of new rows, and no more than it can say."""
    mean, error = loo["elpd"] / rows, loo["se"] / rows
    share, limit = loo["pareto_k_high"], loo["pareto_k_limit"]
    bad = f"{share:.0%} of the rows (Pareto k > {limit:.2f})"
    if share > TOO_MANY:
        return (
            f"not known: PSIS-LOO, {mean:.3f} per row, is too good where draws cannot tell, as for "
            f"{bad}; hold rows out, or cross-validate"
        )
    unsure = f"; unreliable for {bad}" if share > 0 else ""
    return f"{mean:.3f} ± {error:.3f} per row (PSIS-LOO{unsure})"


def next_steps(result: dict[str, Any], data: Path, checkpoint: Path | None) -> str:
    """Return the commands that one may want to run after a fit."""
    model = quote(result["out"])
    lines = [f"model: {result['out']}"]
    if result["stopped"] and result["method"] in LIMITATIONS:
        lines.append("  to train longer: the same command with a longer --budget")
    elif result["stopped"]:
        lines.append(
            "  to go on from here: the same command"
            if checkpoint
            else "  with --checkpoint FOLDER the same command could go on from here"
        )
    elif result["convergence"] and (result["quick"] or result["is_improving"]):
        seconds = max(60, round(4 * result["seconds"], -1))
        longer = "leave out --quick" if result["quick"] else f"--budget {seconds:.0f}"
        lines.append(f"  to sample longer: {longer}")
    elif result["convergence"]:
        lines.append(f"  sampling longer did not help; instead: {_instead(result)}")
    lines.append(f"next:  goodprior show {model} {quote(str(data))} --out report.html")
    lines.append(f"       goodprior predict {model} NEW.csv --out predictions.csv")
    return "\n".join(lines)


def _instead(result: dict[str, Any]) -> str:
    """Return what to try where chains stay in different modes, whatever their length."""
    if result["task"] == "regression" and result["method"] != "mclmc":
        return "--method mclmc --likelihood gaussian, or a --belief that you can state"
    return "a --belief that you can state, or --method ensemble or laplace, which need no chains"
