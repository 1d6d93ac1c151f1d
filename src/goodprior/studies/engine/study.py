"""What a study is: a grid of jobs, a function from a job to a row, tables and figures."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from goodprior import checks
from goodprior.studies.engine.store import Job

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    Frame = pd.DataFrame
    Figures = dict[str, Figure]
else:  # pandas and matplotlib are imported when a report is made
    Frame = Figures = Any
Settings = dict[str, Any]
Row = dict[str, Any]

PER_PARAMETER = (2, 3, 5, 9)  # a finer grid has all points of a coarser one
DISTANCES = ("wasserstein", "energy")  # the paper's, and this package's default
PIXELS = ("0-255", "standardised")  # units of a belief about images: the paper's, most likely


@dataclass(frozen=True)
class Choice:
    """Which part of a study's grid to run; `splits` is how many, None for the paper's number."""

    preset: str
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    depths: tuple[int, ...] = ()
    splits: int | None = None
    distance: str = "wasserstein"
    per_parameter: int | None = None  # values of each scale, where a study has a grid of them
    networks: tuple[str, ...] = ()  # for images
    sizes: tuple[int, ...] = ()  # of training sets
    pixels: str = "0-255"


@dataclass(frozen=True)
class Against:
    """A column of our rows, and the paper's table to hold it against (none: it has a figure)."""

    metric: str
    table: str
    name: str  # in words, for headings and axes
    decimals: int = 3
    scale: float = 1.0  # the paper prints percent where we have a share
    higher_is_better: bool = False
    unit: str = ""
    runs: int = 10  # of the paper: splits, or runs of an image network

    def paper_runs(self, dataset: str) -> int:
        """How many values the paper's mean for a data set is of."""
        return 5 if dataset == "protein" else self.runs

    @property
    def axis(self) -> str:
        """What stands at an axis."""
        return f"{self.name}\n({self.unit})" if self.unit else self.name


@cache
def _words() -> dict[str, dict[str, str]]:
    return tomllib.loads((files("goodprior.studies.experiments") / "words.toml").read_text("utf-8"))


def presets(*paper: Any, quick: Mapping[str, Any], **more: Any) -> dict[str, Choice]:
    """The paper's choice, and the quick one: some parts replaced, matching by energy distance."""
    whole = Choice("paper", *paper, **more)
    parts = {"preset": "quick", "distance": "energy", **quick}
    return {"paper": whole, "quick": replace(whole, **parts)}


@dataclass(frozen=True)
class Study:
    """One experiment of the paper.

    `presets["paper"]` is the paper's protocol and the whole grid; `presets["quick"]` fits a laptop.
    `grid(choice)` gives the settings of the jobs,
    `run(settings)` the row of one. Against the paper's tables (`against`) rows are grouped by
    `keys`; `figures(rows)` draws what the paper shows, `rows` being a data frame with settings and
    results in columns, and `table(rows)` is a further table. A study that reports jobs of other
    studies has no `run`: `reuses` names those studies, and so does `study` in its settings.
    """

    name: str
    presets: Mapping[str, Choice]
    grid: Callable[[Choice], list[Settings]]
    figures: Callable[[Frame], Figures] = field(default=lambda rows: {})
    run: Callable[[Settings], Row] | None = None
    table: Callable[[Frame], Frame] | None = None
    reuses: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()  # the results worth a place in the report's table
    keys: tuple[str, ...] = ("dataset", "depth", "method")
    against: tuple[Against, ...] = ()
    more_methods: tuple[str, ...] = ()  # that no preset has, but `--methods` may name
    pairs: tuple[tuple[str, str], ...] = ()  # methods to compare split by split: (better?, worse?)
    cost: Callable[[Settings], float] = field(default=lambda settings: 1.0)

    def words(self, about: str) -> str:
        """`title`, `shows`, `cuts` or `remarks`, as `experiments/words.toml` has them."""
        words = _words()
        return words[self.name].get(about, "").format_map(words["shared"])

    def choose(self, preset: str, **changes: Any) -> Choice:
        """Return a preset with some of its parts replaced.

        Parameters
        ----------
        preset
            `"paper"` or `"quick"`.
        **changes
            Fields of `Choice`; None and empty ones are those of the preset.

        Raises
        ------
        ValueError
            If the study does not have what is asked for.
        """
        checks.one_of("preset", preset, self.presets)
        base, everything = self.presets[preset], self.presets["paper"]
        changes = {name: given for name, given in changes.items() if given not in (None, ())}
        for name in ("datasets", "methods", "depths", "networks", "sizes"):
            known = getattr(everything, name) + (self.more_methods if name == "methods" else ())
            for word in changes.get(name, ()):
                if word not in known:
                    found = ", ".join(map(str, known)) or "none to choose from"
                    raise ValueError(f"{name} of {self.name} are {found}; got {word!r}")
        if "splits" in changes:
            checks.whole("splits", changes["splits"])
        for name, known in (("distance", DISTANCES), ("pixels", PIXELS)):
            if name in changes:
                checks.one_of(name, changes[name], known)
        if "per_parameter" in changes:
            if base.per_parameter is None:
                raise ValueError(f"{self.name} has no grid of scales, so no per_parameter")
            if changes["per_parameter"] not in PER_PARAMETER:
                raise ValueError(f"per_parameter is 2, 3, 5 or 9; got {changes['per_parameter']}")
        return replace(base, **changes)

    def jobs(self, choice: Choice) -> list[Job]:
        """The jobs of a choice."""
        return [Job({"study": self.name, **settings}) for settings in self.grid(choice)]

    def belonging(self, preset: str, found: Sequence[Mapping[str, Any]]) -> dict[str, None]:
        """Hashes of jobs with this preset's protocol, for the cells that occur in `found`.

        They stand in the order of the grid, the same job by other ways of matching side by side.
        """
        most = self.presets["paper"]

        def named(setting: str, known: tuple[Any, ...]) -> tuple[Any, ...]:
            there = {settings.get(setting) for settings in found}
            return tuple(one for one in known if one in there)

        cells = replace(
            most,
            preset=preset,
            datasets=named("dataset", most.datasets),
            methods=named("method", (*most.methods, *self.more_methods)),
            depths=named("depth", most.depths),
            networks=named("network", most.networks),
            sizes=named("rows", most.sizes),
            splits=1 + max((settings.get("split", 0) for settings in found), default=0),
        )
        units = PIXELS if any("network" in settings for settings in found) else PIXELS[:1]
        each = (replace(cells, distance=d, pixels=p) for d in DISTANCES for p in units)
        places = zip(*map(self.jobs, each), strict=True)
        return dict.fromkeys(job.hash for place in places for job in place)
