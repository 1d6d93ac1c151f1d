"""What happens between two examples of the gallery."""

from typing import Any

import jax


def forget_compiled_programs(gallery_conf: Any, name: str) -> None:
    """Forget them: they hold memory maps, of which a process has only so many."""
    jax.clear_caches()
