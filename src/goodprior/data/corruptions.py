"""Corrupted pictures, as in CIFAR-10-C: sixteen kinds at five severities.

The kinds and all constants are those of CIFAR-10-C (Hendrycks and Dietterich, 2019, "Benchmarking
Neural Network Robustness to Common Corruptions and Perturbations"; `make_cifar_c.py`). Of its
nineteen kinds three are left out: frost, which is laid over from photographs; spatter, which needs
OpenCV's edge detector; and saturate, whose severities are not in an order (the first two take
colour away, the others add it). The random numbers are our own, so that pictures are alike in kind
and not pixel by pixel.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import UInt8
from numpy.random import Generator

from goodprior import checks
from goodprior.data import corruption_kinds as kinds
from goodprior.data.corruption_kinds import Pictures

BLOCK = 500  # images that are worked on at once


class Corruption(NamedTuple):
    """A kind of corruption: what it does, and its constants at the five severities."""

    apply: Callable[[Pictures, Any, Generator], Pictures]
    constants: tuple[Any, ...]


def corrupt(X: object, name: str, severity: int, seed: int = 0) -> UInt8[np.ndarray, "n 32 32 3"]:
    """The pictures, in bytes, under a corruption.

    Parameters
    ----------
    X : array_like
        Pictures of 32 by 32 pixels with three colours, in bytes.
    name : str
        A key of `CORRUPTIONS`.
    severity : int
        From 1 to 5.
    seed : int
        Of the random numbers.

    Returns
    -------
    ndarray
        As `X`.

    Examples
    --------
    >>> import numpy as np
    >>> grey = np.full((2, 32, 32, 3), 128, np.uint8)
    >>> corrupt(grey, "brightness", 5)[0, 0, 0].tolist()
    [204, 204, 204]
    """
    images = np.asarray(X)
    if (
        images.dtype != np.uint8
        or images.ndim != 4
        or images.shape[1:] != (kinds.SIDE, kinds.SIDE, 3)
    ):
        raise ValueError(
            "X must hold pictures in bytes, 32 by 32 pixels with three colours; it has "
            f"{images.dtype} of shape {images.shape}"
        )
    checks.one_of("corruption", name, CORRUPTIONS)
    if checks.whole("severity", severity) > 5:
        raise ValueError(f"severity must be from 1 to 5, got {severity}")
    kind = CORRUPTIONS[name]
    place = list(CORRUPTIONS).index(name)
    corrupted = np.empty_like(images)
    for start in range(0, len(images), BLOCK):
        rng = np.random.default_rng([seed, place, severity, start])
        block = images[start : start + BLOCK] / 255
        corrupted[start : start + BLOCK] = kinds.to_bytes(
            kind.apply(block, kind.constants[severity - 1], rng)
        )
    return corrupted


CORRUPTIONS = {
    "gaussian_noise": Corruption(kinds.gaussian_noise, (0.04, 0.06, 0.08, 0.09, 0.1)),
    "shot_noise": Corruption(kinds.shot_noise, (500.0, 250.0, 100.0, 75.0, 50.0)),
    "impulse_noise": Corruption(kinds.impulse_noise, (0.01, 0.02, 0.03, 0.05, 0.07)),
    "speckle_noise": Corruption(kinds.speckle_noise, (0.06, 0.1, 0.12, 0.16, 0.2)),
    "gaussian_blur": Corruption(kinds.gaussian_blur, (0.4, 0.6, 0.7, 0.8, 1.0)),
    "defocus_blur": Corruption(
        kinds.defocus_blur, ((0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1.0, 0.2), (1.5, 0.1))
    ),
    "glass_blur": Corruption(
        kinds.glass_blur, ((0.05, 1, 1), (0.25, 1, 1), (0.4, 1, 1), (0.25, 1, 2), (0.4, 1, 2))
    ),
    "motion_blur": Corruption(
        kinds.motion_blur, ((6, 1.0), (6, 1.5), (6, 2.0), (8, 2.0), (9, 2.5))
    ),
    "zoom_blur": Corruption(kinds.zoom_blur, (1.06, 1.11, 1.16, 1.21, 1.26)),
    "snow": Corruption(
        kinds.snow,
        (
            (0.1, 0.2, 1.0, 0.6, 8, 3.0, 0.95),
            (0.1, 0.2, 1.0, 0.5, 10, 4.0, 0.9),
            (0.15, 0.3, 1.75, 0.55, 10, 4.0, 0.9),
            (0.25, 0.3, 2.25, 0.6, 12, 6.0, 0.85),
            (0.3, 0.3, 1.25, 0.65, 14, 12.0, 0.8),
        ),
    ),
    "fog": Corruption(kinds.fog, ((0.2, 3.0), (0.5, 3.0), (0.75, 2.5), (1.0, 2.0), (1.5, 1.75))),
    "brightness": Corruption(kinds.brightness, (0.05, 0.1, 0.15, 0.2, 0.3)),
    "contrast": Corruption(kinds.contrast, (0.75, 0.5, 0.4, 0.3, 0.15)),
    "elastic_transform": Corruption(
        kinds.elastic_transform,
        (
            (0.0, 0.0, 0.08),
            (0.05, 0.2, 0.07),
            (0.08, 0.06, 0.06),
            (0.1, 0.04, 0.05),
            (0.1, 0.03, 0.03),
        ),
    ),
    "pixelate": Corruption(kinds.pixelate, (0.95, 0.9, 0.85, 0.75, 0.65)),
    "jpeg_compression": Corruption(kinds.jpeg_compression, (80, 65, 58, 50, 40)),
}
