"""What `goodprior fit` reports when it is done: a summary, and what to do next."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from goodprior.commands.model_summary import LIMITATIONS, posterior_form

if TYPE_CHECKING:
    from goodprior.commands.training_table import TrainingTable


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
        "loo": _loo_figures(model, table) if enough else None,
        "warnings": warned,
    }


def _loo_figures(model: Any, table: "TrainingTable") -> dict[str, Any]:
    """PSIS-LOO without the figure of each row."""
    noise = {} if table.noise is None else {"noise_std": table.noise}
    found = model.loo(table.inputs, table.targets, **noise)._asdict()
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
        rows = result["rows"]
        each = f"{loo['elpd'] / rows:.3f} ± {loo['se'] / rows:.3f} per row"
        lines.append(("log density of new rows", f"{each} (PSIS-LOO)"))
        if loo["pareto_k_high"] > 0:
            limit, share = loo["pareto_k_limit"], loo["pareto_k_high"]
            lines.append(("", f"unreliable for {share:.0%} of the rows (Pareto k > {limit:.2f})"))
    lines.append(("time", f"{result['seconds']:.0f} s"))
    return "\n" + "\n".join(f"  {name:<24} {value}" for name, value in lines) + "\n"


def next_steps(result: dict[str, Any], data: Path, checkpoint: Path | None) -> str:
    """Return the commands that one may want to run after a fit."""
    model = quote(result["out"])
    lines = [f"model: {result['out']}"]
    if result["stopped"]:
        lines.append(
            "  to go on from here: the same command"
            if checkpoint
            else "  with --checkpoint FOLDER the same command could go on from here"
        )
    elif result["convergence"]:
        seconds = max(60, round(4 * result["seconds"], -1))
        longer = "leave out --quick" if result["quick"] else f"--budget {seconds:.0f}"
        lines.append(f"  to sample longer: {longer}")
    lines.append(f"next:  goodprior show {model} {quote(str(data))} --out report.html")
    lines.append(f"       goodprior predict {model} NEW.csv --out predictions.csv")
    return "\n".join(lines)
