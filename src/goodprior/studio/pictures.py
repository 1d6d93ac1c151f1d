"""Tables, and the pictures of beliefs and networks that the page asks for."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goodprior.beliefs import Belief, as_terms
from goodprior.studio import draws, settings
from goodprior.studio.space import Space, read_space, typed_space

if TYPE_CHECKING:  # imported when it is needed, so that the first picture is there soon
    from goodprior.studio.network import Networks

POINTS = 81  # along a column
DRAWS = 120  # behind a band
CERTAIN_DRAWS = 480  # of a belief without uncertain lengths, whose draws cost little
LINES = 8  # that are shown
GRID = 21  # points of each column of a surface
SPACES = 16  # that are remembered

Request = Mapping[str, Any]
Answer = dict[str, Any]


class Pictures:
    """What a page needs to show functions: each endpoint takes a table of JSON and returns one.

    Parameters
    ----------
    table
        A file with a table (None: ranges are typed in).
    target
        The column that functions are about, to begin with.
    """

    def __init__(self, table: Path | None = None, target: str | None = None):
        self.table, self.target = table, target
        self.spaces: dict[int, Space] = {}

    def space(self, request: Request) -> Answer:
        """Read the table, or take typed ranges; the columns and where sliders begin."""
        typed = request.get("typed")
        if typed is None and self.table is None:
            return {"typed": True}
        if typed is not None:
            space = typed_space(typed.get("columns"), typed.get("target"))
        else:
            assert self.table is not None
            space = read_space(self.table, request.get("target") or self.target)
        number = max(self.spaces, default=0) + 1
        self.spaces[number] = space
        self.spaces.pop(number - SPACES, None)
        return {
            "space": number,
            "table": None if typed else str(self.table),
            "rows": 0 if space.y is None else len(space.X),
            "columns": [vars(column) for column in space.columns],
            "target": vars(space.target),
            "targets": space.targets,
            "left_out": space.left_out,
            "settings": settings.default_settings(space),
        }

    def _space(self, request: Request) -> Space:
        number = request.get("space")
        if not isinstance(number, int) or number not in self.spaces:
            raise ValueError("the table is not known any more: reload the page")
        return self.spaces[number]

    def _spec(self, request: Request, space: Space) -> Any:
        """The belief of a request: that of its sliders, or one that was loaded or mixed."""
        if request.get("spec") is not None:
            return request["spec"]
        return settings.spec_of(request.get("settings"), space)

    def _noise(self, request: Request) -> float | None:
        return settings.noise_of(request.get("settings") or {"noise": request.get("noise")})

    def draws(self, request: Request) -> Answer:
        """Functions of the belief along a column."""
        space = self._space(request)
        parsed = settings.parse(self._spec(request, space), space)
        x, points = space.line(request.get("column"), request.get("row"), POINTS)
        return {
            "x": x,
            "sentence": parsed.sentence,
            **self.lines(space, parsed.belief, points, request, self._noise(request)),
        }

    def lines(
        self,
        space: Space,
        belief: Belief,
        points: np.ndarray,
        request: Request,
        noise: float | None = None,
    ) -> Answer:
        """Functions of a belief at points, with their band."""
        seed = int(request.get("seed", 0))
        certain = getattr(as_terms(belief, points.shape[1]), "is_certain", False)
        n = CERTAIN_DRAWS if certain else DRAWS
        functions = space.target_units(draws.sample(belief, points, n, seed))
        found = _picture(functions)
        if noise is not None:
            scatter = noise * np.random.default_rng(seed).standard_normal(functions.shape)
            found["noise_band"] = np.quantile(functions + scatter, [0.025, 0.975], axis=0)
        return found

    @cached_property
    def networks(self) -> "Networks":
        """Matched priors; what they need is imported when the first is asked for."""
        from goodprior.studio.network import Networks

        return Networks()

    def _matched(self, request: Request, space: Space) -> Any:
        spec = self._spec(request, space)
        return self.networks.matched(space, spec, str(request.get("network", "auto")))

    def network(self, request: Request) -> Answer:
        """Functions of the matched prior along a column, and of N(0, 1) weights."""
        from goodprior.studio.network import functions

        space, seed = self._space(request), int(request.get("seed", 0))
        _, prior = self._matched(request, space)
        x, points = space.line(request.get("column"), request.get("row"), POINTS)
        both = (
            functions(prior, points, DRAWS, seed),
            self.networks.standard(points, DRAWS, seed),
        )
        ours, usual = (_picture(space.target_units(each)) for each in both)
        return {"x": x, "matched": ours, "standard": usual}

    def matching_progress(self, request: Request) -> Answer:
        """How far a match in steps is."""
        return {**self.networks.progress}

    def report(self, request: Request) -> Answer:
        """How like the belief the matched prior is, in words."""
        from goodprior.studio.network import report

        space = self._space(request)
        found = report(space, *self._matched(request, space))
        return {
            "summary": str(found),
            "distance": found.distance / found.scale,
            "warnings": [text for column in found.columns if (text := column.warning())],
            "how": found.how,
            "columns": [
                {"name": c.name, "belief": c.belief._asdict(), "prior": c.prior._asdict()}
                for c in found.columns
            ],
        }

    def surface(self, request: Request) -> Answer:
        """One function of belief, matched prior and N(0, 1) weights over two columns."""
        from goodprior.studio.network import functions

        space, seed = self._space(request), int(request.get("seed", 0))
        first, second = request.get("column"), request.get("second")
        points = space.grid(first, second, request.get("row"), GRID)
        belief = settings.parse(self._spec(request, space), space).belief
        _, prior = self._matched(request, space)
        grids = {
            "belief": draws.sample(belief, points, 1, seed),
            "matched": functions(prior, points, 1, seed),
            "standard": self.networks.standard(points, 1, seed),
        }
        each = {name: space.target_units(grid[0]) for name, grid in grids.items()}
        return {"points": GRID, **each}


def _picture(functions: np.ndarray) -> Answer:
    return {
        "lines": functions[:LINES],
        "band": np.quantile(functions, [0.025, 0.975], axis=0),
    }
