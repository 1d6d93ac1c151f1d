"""What the page asks for: each endpoint takes a table of JSON and returns one."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodprior import devices
from goodprior.beliefs.file import belief_from_json
from goodprior.studio import settings, sketch
from goodprior.studio.channels import Channels
from goodprior.studio.export import exports
from goodprior.studio.pictures import POINTS, Answer, Pictures, Request

if TYPE_CHECKING:  # imported when it is needed
    from goodprior.studio.fitting import Fitting

MOST_PEOPLE = 8


class Studio(Pictures):
    """One page's table, beliefs and fits.

    Parameters
    ----------
    table
        A file with a table (None: ranges are typed in).
    target
        The column that functions are about, to begin with.
    """

    def __init__(self, table: Path | None = None, target: str | None = None):
        devices.prepare()
        super().__init__(table, target)
        self.channels = Channels()
        self.endpoints: dict[str, Callable[[Request], Any]] = {
            name: getattr(self, name)
            for name in (
                *("space", "draws", "network", "matching_progress", "report", "surface"),
                *("sketch", "like", "rows", "load", "people", "check", "export"),
                *("prior_file", "fit", "fit_progress", "posterior", "model_file"),
            )
        }

    # Sketches and imagined rows

    def sketch(self, request: Request) -> Answer:
        """Judge sketched curves, after fitting the belief to those that could be true if asked."""
        space, column = self._space(request), str(request.get("column"))
        true, false = (
            sketch.read_curves(space, column, request.get("row"), request.get(kind) or [])
            for kind in ("true", "false")
        )
        now = dict(request["settings"])
        if request.get("fit"):
            now = sketch.fit_curves(space, now, column, true)
        belief = settings.parse(settings.spec_of(now, space), space).belief
        noise = sketch.pen_noise(space)
        ranks = {
            name: [sketch.rank(belief, curve, noise) for curve in curves]
            for name, curves in (("true", true), ("false", false))
        }
        return {"settings": now, "ranks": ranks}

    def like(self, request: Request) -> Answer:
        """Move the belief towards one of the functions shown, or away from it."""
        space, column = self._space(request), str(request.get("column"))
        curve = sketch.read_curve(space, column, request.get("row"), request.get("curve"))
        more = bool(request.get("more"))
        return {"settings": sketch.move(space, request["settings"], column, curve, more=more)}

    def rows(self, request: Request) -> Answer:
        """Fit the belief to imagined rows."""
        space = self._space(request)
        found, judged = sketch.fit_rows(space, request["settings"], request.get("rows"))
        return {"settings": found, "rows": judged}

    # Several people

    def load(self, request: Request) -> Answer:
        """Read a belief file; what is wrong with it is an error."""
        stored = belief_from_json(str(request.get("text", "")))
        about = {"name": stored.name, "spec": stored.spec, "noise": stored.noise}
        about |= {"columns": stored.columns, "target": stored.target}
        if request.get("space") is None:
            return about
        space = self._space(request)
        sentence = settings.parse(stored.spec, space).sentence
        found = settings.settings_of(stored.spec, space)
        if found is not None:
            found["noise"] = stored.noise
        return about | {"sentence": sentence, "settings": found}

    def people(self, request: Request) -> Answer:
        """Functions of several beliefs, each by itself and mixed."""
        space, people = self._space(request), request.get("people")
        if not isinstance(people, list) or not 1 <= len(people) <= MOST_PEOPLE:
            raise ValueError(f"compare from one to {MOST_PEOPLE} beliefs")
        x, points = space.line(request.get("column"), request.get("row"), POINTS)
        parsed = [settings.parse(person["spec"], space) for person in people]
        mixture = {"mixture": [person["spec"] for person in people]}
        mixed = settings.parse(mixture, space)
        each = [self.lines(space, one.belief, points, request) for one in (*parsed, mixed)]
        sentences = [one.sentence for one in (*parsed, mixed)]
        names = [str(person["name"]) for person in people]
        shown = zip([*names, "their mixture"], sentences, each, strict=True)
        return {
            "x": x,
            "spec": mixture,
            "beliefs": [{"name": n, "sentence": s, **lines} for n, s, lines in shown],
        }

    # The data, and the way out

    def check(self, request: Request) -> Answer:
        """Hold the belief against the rows; only if the request says that this is wanted."""
        from goodprior.studio.check import check_against_rows

        if request.get("use_data") is not True:
            raise ValueError("the data are not used unless the switch is on")
        space = self._space(request)
        belief = settings.parse(self._spec(request, space), space).belief
        return check_against_rows(space, belief, self._noise(request))

    def export(self, request: Request) -> Answer:
        """The belief as a sentence, Python, commands and a file."""
        space = self._space(request)
        name = str(request.get("name") or "my belief")[:100]
        table = self.table if space.y is not None else None
        return exports(space, self._spec(request, space), self._noise(request), name, table)

    def prior_file(self, request: Request) -> bytes:
        """The matched prior as a model file."""
        from goodprior.studio.fitting import prior_file

        space = self._space(request)
        return prior_file(space, self._spec(request, space), self._noise(request))

    @cached_property
    def fitting(self) -> "Fitting":
        """The fit of this page."""
        from goodprior.studio.fitting import Fitting

        return Fitting()

    def fit(self, request: Request) -> Answer:
        """Begin a fit to the table."""
        space = self._space(request)
        self.fitting.start(space, self._spec(request, space), self._noise(request))
        return self.fitting.state

    def fit_progress(self, request: Request) -> Answer:
        """How far the fit is."""
        return self.fitting.state

    def posterior(self, request: Request) -> Answer:
        """The fitted function along a column."""
        return self.fitting.picture(str(request.get("column")), request.get("row"))

    def model_file(self, request: Request) -> bytes:
        """The fitted model as a file."""
        return self.fitting.file()

    def answer(self, name: str, request: Request) -> Any:
        """What an endpoint says; of several requests that wait for it, the newest alone counts."""
        return self.channels.newest(name, request, self.endpoints[name])
