"""All methods by name."""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from goodprior.inference import MCLMC, Sampler
from goodprior.pipeline.methods.automatic import Automatic
from goodprior.pipeline.methods.base import Method
from goodprior.pipeline.methods.ensemble import Ensemble
from goodprior.pipeline.methods.fbnn import FBNN
from goodprior.pipeline.methods.laplace import Laplace
from goodprior.pipeline.methods.sampled import Sampled, default_nuts, default_sghmc
from goodprior.pipeline.methods.trained import MAP, EarlyStopping

METHODS: dict[str, Callable[[], Method]] = {
    "auto": Automatic,
    "mclmc": lambda: Sampled.by(MCLMC()),
    "sghmc": lambda: Sampled(default_sghmc),
    "nuts": lambda: Sampled(default_nuts, default_chains=4, default_draws=100),
    "laplace": Laplace,
    "ensemble": Ensemble,
    "fbnn": FBNN,
    "map": MAP,
    "early-stopping": EarlyStopping,
}


def parse_method(method: Any) -> Method:
    """The method of this name, of this sampler, or the method itself.

    Raises
    ------
    ValueError
        With the names that there are, if it is none of these.

    Examples
    --------
    >>> parse_method("laplace").name
    'laplace'
    """
    if isinstance(method, Method):
        return method
    if isinstance(method, Sampler):
        return Sampled.by(method)
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]()
    near = closest_method(method)
    meant = f" (did you mean {near!r}?)" if near else ""
    raise ValueError(
        f"method must be one of {', '.join(METHODS)}, a sampler such as SGHMC(step_size=0.01) or a "
        f"method such as Laplace(); got {method!r}{meant}"
    )


def closest_method(method: Any) -> str | None:
    """The name that was most likely meant."""
    return next(iter(get_close_matches(str(method), METHODS, n=1)), None)
