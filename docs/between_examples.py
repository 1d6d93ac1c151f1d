"""What happens between two examples of the gallery."""

import warnings
from typing import Any

import jax
from sklearn.exceptions import ConvergenceWarning


def forget_compiled_programs(gallery_conf: Any, name: str) -> None:
    """Forget them: they hold memory maps, of which a process has only so many.

    Warnings of the next example are shown, also where this one has left them out, without the place
    in the builder's files.
    """
    jax.clear_caches()
    warnings.simplefilter("always", ConvergenceWarning)
    warnings.formatwarning = lambda message, category, *_, **__: f"{category.__name__}: {message}\n"
