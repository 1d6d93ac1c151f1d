"""What happens between two examples of the gallery."""

import warnings
from typing import Any

import jax


def forget_compiled_programs(gallery_conf: Any, name: str) -> None:
    """Forget them: they hold memory maps, of which a process has only so many.

    Warnings of the next example are shown without the place in the builder's files.
    """
    jax.clear_caches()
    warnings.formatwarning = lambda message, category, *_, **__: f"{category.__name__}: {message}\n"
