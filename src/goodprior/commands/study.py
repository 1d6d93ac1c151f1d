"""`goodprior study …`: list, run, report and verify the paper's experiments."""

import signal
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from goodprior.commands.console import check_folder, report_warnings, split_commas, wrong_option
from goodprior.commands.options import DistanceName

if TYPE_CHECKING:
    from goodprior.studies.engine.dask_cluster import Dask
    from goodprior.studies.engine.local import Local
    from goodprior.studies.engine.run import Outcome
    from goodprior.studies.engine.store import Job
    from goodprior.studies.engine.study import Choice, Study

app = typer.Typer(
    help="The paper's experiments: run them anywhere, resume, and compare with the paper.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


class Preset(StrEnum):
    QUICK = "quick"
    PAPER = "paper"


class Pixels(StrEnum):
    BYTES = "0-255"
    STANDARDISED = "standardised"


class EngineName(StrEnum):
    LOCAL = "local"
    DASK = "dask"


Name = Annotated[str, typer.Argument(help="A study; `goodprior study list` names them.")]
Results = Annotated[Path, typer.Option(help="Folder with one folder per study.", file_okay=False)]


@app.command("list")
def list_studies() -> None:
    """All studies and what of the paper they show."""
    from goodprior.studies.catalogue import MODULES, study

    for name in MODULES:
        one = study(name)
        typer.echo(f"{name:23}{one.words('title')} ({one.words('shows')})")


@app.command()
def run(
    name: Name,
    preset: Annotated[
        Preset, typer.Option(help="paper: the paper's protocol. quick: minutes on a laptop.")
    ] = Preset.QUICK,
    engine: Annotated[EngineName, typer.Option(help="Where jobs run.")] = EngineName.LOCAL,
    address: Annotated[str, typer.Option(help="Scheduler of a Dask cluster, tcp://…")] = "",
    workers: Annotated[
        int | None,
        typer.Option(help="Local processes, one thread each. Default: one per core.", min=1),
    ] = None,
    splits: Annotated[int | None, typer.Option(help="How many splits.", min=1)] = None,
    datasets: Annotated[list[str] | None, typer.Option(help="Such as boston,concrete.")] = None,
    methods: Annotated[list[str] | None, typer.Option(help="Such as fg,gpi-g.")] = None,
    depths: Annotated[list[str] | None, typer.Option(help="Hidden layers, such as 1,2.")] = None,
    networks: Annotated[list[str] | None, typer.Option(help="For images, such as lenet5.")] = None,
    sizes: Annotated[list[str] | None, typer.Option(help="Of training sets, such as 500.")] = None,
    distance: Annotated[
        DistanceName | None, typer.Option(help="How priors are matched. Default: the preset's.")
    ] = None,
    pixels: Annotated[
        Pixels | None, typer.Option(help="Units of a belief about images. Default: 0-255.")
    ] = None,
    per_parameter: Annotated[
        int | None, typer.Option(help="Of cross-validation: values of each scale, 2, 3, 5 or 9.")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed jobs again.")] = False,
    results: Results = Path("results"),
) -> None:
    """Run what is missing of a study. Finished jobs are kept and never run again."""
    study = _study(name)
    with wrong_option():
        choice = study.choose(
            preset.value,
            datasets=split_commas(datasets),
            methods=split_commas(methods),
            depths=_whole_numbers("--depths", depths),
            networks=split_commas(networks),
            sizes=_whole_numbers("--sizes", sizes),
            splits=splits,
            distance=distance.value if distance else None,
            pixels=pixels.value if pixels else None,
            per_parameter=per_parameter,
        )
    if (engine is EngineName.DASK) != bool(address):
        raise typer.BadParameter("--engine dask and --address go together", param_hint="--address")
    jobs = _available(study, choice, local=engine is EngineName.LOCAL)
    where = _engine(engine, address, workers)
    if preset is Preset.QUICK:
        typer.echo(f"The quick preset is not the paper's protocol. It cuts: {study.words('cuts')}.")
    typer.echo(f"{name}: {len(jobs)} jobs, {where.workers} workers, results in {results / name}")
    outcome = _drive(study, jobs, where, results / name, retry)
    typer.echo(f"{outcome.before} jobs were there, {outcome.finished} finished now")
    for failure in outcome.failures:
        typer.echo(f"\nFAILED {failure.job}\n{failure.traceback or failure.error}", err=True)
    if outcome.failures:
        typer.echo(f"{len(outcome.failures)} jobs failed; --retry runs them again", err=True)
        raise typer.Exit(1)


@app.command()
def report(
    name: Annotated[
        str | None, typer.Argument(help="A study; `goodprior study list` names them.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="All studies of which something has been run.")
    ] = False,
    preset: Annotated[
        Preset | None, typer.Option(help="Default: the paper's if anything of it has been run.")
    ] = None,
    superseded: Annotated[
        bool, typer.Option("--superseded", help="Report rows that no longer count as if they did.")
    ] = False,
    results: Results = Path("results"),
) -> None:
    """Our numbers beside the paper's: an HTML page, figures, and a CSV with all rows."""
    from goodprior.studies.catalogue import MODULES

    if every == (name is not None):
        raise typer.BadParameter("give either the name of a study or --all", param_hint="NAME")
    studies = [_study(one) for one in (MODULES if name is None else (name,))]
    with report_warnings():
        written = [_report(study, results, preset, superseded) for study in studies]
    if not any(written):
        command = f"goodprior study run {name or 'NAME'}"
        typer.echo(f"nothing of {name or 'any study'} has been run: {command}", err=True)
        raise typer.Exit(1)


def _report(study: "Study", results: Path, preset: Preset | None, superseded: bool) -> bool:
    """Write a study's report; returns whether there is anything to report."""
    from goodprior.studies.engine.store import Store
    from goodprior.studies.reports.report import gather, write

    folder = results / study.name
    store, named = Store(folder, study.reuses), preset.value if preset else None
    found = gather(study, store, named, superseded=superseded)
    if not len(found.rows):
        return False
    for path in write(found, folder):
        typer.echo(path)
    return True


@app.command()
def reproduction(
    out: Annotated[
        Path, typer.Option(help="Folder for index.md and a page for each study.", file_okay=False)
    ] = Path("build/reproduction"),
    results: Results = Path("results"),
) -> None:
    """The paper's claims and what was seen of them, what was run, and a page for each study."""
    from goodprior.studies.reports.reproduction import write_pages

    check_folder(results, "--results")
    with report_warnings(), wrong_option("--results"):
        for path in write_pages(results, out):
            typer.echo(path)


@app.command()
def verify(
    name: Name,
    count: Annotated[int, typer.Option("--jobs", help="How many stored jobs.", min=1)] = 5,
    seed: Annotated[int, typer.Option(help="Which ones; another seed picks others.")] = 0,
    longest: Annotated[
        float | None, typer.Option(help="Only jobs that took at most so many seconds.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Local processes.", min=1)] = None,
    results: Results = Path("results"),
) -> None:
    """Run some stored jobs of a study again, and say whether they agree with what is stored."""
    from tempfile import TemporaryDirectory

    from goodprior.studies.engine.local import Local
    from goodprior.studies.engine.store import Store
    from goodprior.studies.engine.verify import compare, pick
    from goodprior.studies.reports.report import divide

    study = _study(name)
    stored, _, _ = divide(Store(results / name, study.reuses).results())
    jobs = pick(stored, count, seed, longest)
    if not jobs:
        typer.echo(f"no row of {name} that counts is stored in {results}", err=True)
        raise typer.Exit(1)
    with TemporaryDirectory() as folder:
        outcome = _drive(study, jobs, Local(workers), Path(folder) / name, retry=False)
        again = Store(Path(folder) / name, study.reuses).results()
    metrics = dict.fromkeys((*(a.metric for a in study.against), *study.columns))
    kept = [m for m in metrics if "seconds" not in m]
    checks = [c for key, new in again.items() for c in compare(stored[key], new, stored, kept)]
    for check in checks:
        mark = {True: "agrees ", False: "DIFFERS", None: "unknown"}[check.agrees]
        typer.echo(f"{mark} {check.metric} {check.stored:.6g} -> {check.again:.6g}: {check.reason}")
        typer.echo(f"        {check.job}")
    failed = sum(check.agrees is False for check in checks) + len(outcome.failures)
    for failure in outcome.failures:
        typer.echo(f"FAILED {failure.job}\n{failure.traceback or failure.error}", err=True)
    typer.echo(f"{len(again)} jobs ran again, {len(checks)} numbers, {failed} differ or failed")
    if failed:
        raise typer.Exit(1)


def _study(name: str) -> "Study":
    from goodprior.studies.catalogue import study

    with wrong_option("NAME"):
        return study(name)


def _whole_numbers(option: str, given: list[str] | None) -> tuple[int, ...]:
    words = split_commas(given)
    for word in words:
        if not word.isdecimal():
            raise typer.BadParameter(f"takes whole numbers; got {word!r}", param_hint=option)
    return tuple(map(int, words))


def _available(study: "Study", choice: "Choice", *, local: bool) -> "list[Job]":
    """The choice's jobs, without those whose data are not here; says which."""
    from goodprior.data.registry import file_of

    absent = set()
    for dataset in choice.datasets if local else ():
        try:
            file_of(dataset)
        except FileNotFoundError as error:
            absent.add(dataset)
            typer.echo(f"left out: {error}", err=True)
    return [job for job in study.jobs(choice) if job.settings.get("dataset") not in absent]


def _engine(name: EngineName, address: str, workers: int | None) -> "Local | Dask":
    from goodprior.studies.engine.dask_cluster import Dask
    from goodprior.studies.engine.local import Local

    if name is EngineName.LOCAL:
        return Local(workers)
    try:
        return Dask(address)
    except (OSError, RuntimeError) as error:
        typer.echo(f"no Dask cluster at {address}: {error}", err=True)
        raise typer.Exit(1) from None


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _drive(
    study: "Study", jobs: "list[Job]", engine: "Local | Dask", folder: Path, retry: bool
) -> "Outcome":
    from goodprior.progress import tracking
    from goodprior.studies.engine.run import run_jobs
    from goodprior.studies.engine.store import Store

    before = signal.signal(signal.SIGTERM, _stop)  # or `kill` would leave workers at their jobs
    try:
        with tracking(study.name) as track:
            return run_jobs(
                "goodprior.studies.catalogue:run_job",
                jobs,
                Store(folder, study.reuses),
                engine,
                retry=retry,
                cost=lambda job: study.cost(dict(job.settings)),
                on_progress=track,
            )
    except KeyboardInterrupt:
        typer.echo("stopped; what has finished is kept, the same command goes on", err=True)
        raise typer.Exit(130) from None
    except ConnectionError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    finally:
        signal.signal(signal.SIGTERM, before)
