"""The constructor that both estimators share, and whether what it was given makes sense."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from goodprior import checks
from goodprior.matching import Distance, MatchSchedule
from goodprior.matching.match import DISTANCES
from goodprior.networks import ACTIVATIONS, IMAGE_NETWORKS
from goodprior.pipeline import Method, NetworkSpec, parse_method
from goodprior.pipeline.methods.registry import closest_method
from goodprior.pipeline.network import HIDDEN
from goodprior.priors import PAPER_NAMES, Prior


@dataclass(eq=False, repr=False)  # equality and the way it is printed are scikit-learn's
class Settings(BaseEstimator):
    """What `BNNRegressor` and `BNNClassifier` share; the former says what each is for."""

    # Settings that some methods take no notice of.
    _METHOD_SETTINGS: ClassVar[tuple[str, ...]] = (
        *("prior", "belief", "chains", "draws", "rhat", "ess", "temperature", "budget"),
    )

    prior: Any = "gpi-g"
    _: KW_ONLY
    belief: Any = None
    method: Any = "auto"
    hidden: Any = None
    activation: Any = "tanh"
    network: Any = None
    likelihood: Any = "auto"
    distance: Any = "energy"
    match_schedule: Any = None
    chains: Any = None
    draws: Any = None
    rhat: Any = 1.05
    ess: Any = 400
    temperature: Any = 1.0
    budget: Any = None
    encode: Any = "auto"
    keep_rows: Any = False
    random_state: Any = None
    verbose: Any = 0

    def check_settings(self, **given: Any) -> Method:
        """The method, once all settings are known to make sense; `given` are those of `fit`.

        Raises
        ------
        ValueError
            That names everything that is wrong.
        """
        method, problems = self._parse_method()
        problems += [text for text in self._each_problem() if text]
        problems += self._likelihood_problems(method)
        if method is not None:
            defaults = {field.name: field.default for field in fields(self)}
            changed = {
                name: getattr(self, name)
                for name in self._METHOD_SETTINGS
                if getattr(self, name) is not defaults[name]
                and getattr(self, name) != defaults[name]
            }
            changed |= {name: value for name, value in given.items() if value is not None}
            problems += method.unused(changed)
        refuse(problems)
        assert method is not None
        return method

    @property
    def method_name(self) -> str:
        """What the method is called, whether it was given by name or as an object."""
        return parse_method(self.method).name

    def _parse_method(self) -> tuple[Method | None, list[str]]:
        """The method, or the one that was most likely meant and what is wrong with it."""
        try:
            return parse_method(self.method), []
        except ValueError as error:
            near = closest_method(self.method)
            return None if near is None else parse_method(near), [str(error)]

    def _likelihood_problems(self, method: Method | None) -> list[str]:
        raise NotImplementedError

    def _each_problem(self) -> list[str | None]:
        """What is wrong with each setting by itself."""
        return [
            _problem(checks.whole, "chains", self.chains) if self.chains is not None else None,
            _problem(checks.whole, "draws", self.draws) if self.draws is not None else None,
            _problem(checks.above_one, "rhat", self.rhat),
            _problem(checks.positive, "ess", self.ess),
            _problem(checks.positive, "temperature", self.temperature),
            _problem(checks.positive, "budget", self.budget) if self.budget is not None else None,
            None if isinstance(self.prior, Prior) else _word("prior", self.prior, PAPER_NAMES),
            None
            if isinstance(self.distance, Distance)
            else _word("distance", self.distance, DISTANCES),
            None
            if isinstance(self.match_schedule, MatchSchedule | None)
            else f"match_schedule must be a MatchSchedule or None; got {self.match_schedule!r}",
            *self._network_problems(),
            None
            if self.encode is True
            or self.encode is False
            or (isinstance(self.encode, str) and self.encode in ("auto", "impute"))
            else f"encode must be auto, impute, True or False; got {self.encode!r}",
        ]

    def _network_problems(self) -> list[str | None]:
        if self.network is not None:
            if isinstance(self.network, str):
                return [_word("network", self.network, IMAGE_NETWORKS)]
            return [None if callable(self.network) else "network must be a name or a module"]
        widths = self.hidden
        good = widths is None or (
            isinstance(widths, Sequence | np.ndarray)
            and all(isinstance(width, int | np.integer) and width > 0 for width in widths)
        )
        return [
            None
            if good
            else f"hidden must be None or a sequence of widths such as (50, 50); got {widths!r}",
            None
            if callable(self.activation)
            else _word("activation", self.activation, ACTIVATIONS),
        ]

    def network_spec(self) -> Any:
        """The network that the settings describe, or the given one."""
        if self.network is None:
            widths = self.hidden
            if widths is None and self.activation != "tanh":
                widths = HIDDEN  # an activation is asked for, so an MLP is
            hidden = None if widths is None else tuple(int(width) for width in widths)
            return NetworkSpec(hidden, self.activation)
        return NetworkSpec(name=self.network) if isinstance(self.network, str) else self.network


def refuse(problems: list[str]) -> None:
    """Raise a `ValueError` that names all problems, if there are any."""
    if len(problems) == 1:
        raise ValueError(problems[0])
    if problems:
        lines = "\n".join(f"- {text}" for text in problems)
        raise ValueError(f"{len(problems)} settings are wrong:\n{lines}")


def _problem(check: Callable[[str, Any], Any], name: str, value: Any) -> str | None:
    try:
        check(name, value)
    except ValueError as error:
        return str(error)
    return None


def _word(name: str, value: Any, known: Any) -> str | None:
    if isinstance(value, str) and value in known:
        return None
    return f"{name} must be one of {', '.join(sorted(known))}; got {value!r}"
