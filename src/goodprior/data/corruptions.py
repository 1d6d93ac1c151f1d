"""Pictures that have been spoilt, as in CIFAR-10-C: sixteen kinds at five severities.

The kinds and all constants are those of CIFAR-10-C (Hendrycks and Dietterich, 2019, "Benchmarking
Neural Network Robustness to Common Corruptions and Perturbations"; `make_cifar_c.py`). Of its
nineteen kinds three are left out: frost, which is laid over from photographs; spatter, which needs
OpenCV's edge detector; and saturate, whose severities are not in an order (the first two take
colour away, the others add it). The random numbers are our own, so that pictures are alike in kind
and not pixel by pixel.
"""

from collections.abc import Callable
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, UInt8
from numpy.random import Generator
from scipy import ndimage

from goodprior import checks

SIDE = 32
BLOCK = 500  # images that are worked on at once
Pictures = Float[np.ndarray, "images 32 32 3"]  # from 0 to 1


class Corruption(NamedTuple):
    """A kind of corruption: what it does, and its constants at the five severities."""

    apply: Callable[[Pictures, Any, Generator], Pictures]
    constants: tuple[Any, ...]


def corrupt(X: object, name: str, severity: int, seed: int = 0) -> UInt8[np.ndarray, "n 32 32 3"]:
    """The pictures, in bytes, under the corruption of this name at a severity from 1 to 5.

    >>> import numpy as np
    >>> grey = np.full((2, 32, 32, 3), 128, np.uint8)
    >>> corrupt(grey, "brightness", 5)[0, 0, 0].tolist()
    [204, 204, 204]
    """
    images = np.asarray(X)
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[1:] != (SIDE, SIDE, 3):
        raise ValueError(
            "X must hold pictures in bytes, 32 by 32 pixels with three colours; it has "
            f"{images.dtype} of shape {images.shape}"
        )
    checks.one_of("corruption", name, CORRUPTIONS)
    if checks.whole("severity", severity) > 5:
        raise ValueError(f"severity must be from 1 to 5, got {severity}")
    kind = CORRUPTIONS[name]
    place = list(CORRUPTIONS).index(name)
    spoilt = np.empty_like(images)
    for start in range(0, len(images), BLOCK):
        rng = np.random.default_rng([seed, place, severity, start])
        block = images[start : start + BLOCK] / 255
        spoilt[start : start + BLOCK] = _bytes(kind.apply(block, kind.constants[severity - 1], rng))
    return spoilt


def _bytes(x: Pictures) -> UInt8[np.ndarray, "images 32 32 3"]:
    """Cut off to whole numbers, as CIFAR-10-C does; 1e-6 against rounding just below one."""
    return (np.clip(x, 0, 1) * 255 + 1e-6).astype(np.uint8)


# Noise


def gaussian_noise(x: Pictures, scale: float, rng: Generator) -> Pictures:
    return x + scale * rng.normal(size=x.shape)


def shot_noise(x: Pictures, photons: float, rng: Generator) -> Pictures:
    return rng.poisson(x * photons) / photons


def impulse_noise(x: Pictures, share: float, rng: Generator) -> Pictures:
    """A share of the values is set to darkest or brightest."""
    hit, bright = rng.random(x.shape) < share, rng.random(x.shape) < 0.5
    return np.where(hit, bright.astype(x.dtype), x)


def speckle_noise(x: Pictures, scale: float, rng: Generator) -> Pictures:
    return x + scale * x * rng.normal(size=x.shape)


# Blur


def gaussian_blur(x: Pictures, sigma: float, rng: Generator | None = None) -> Pictures:
    return ndimage.gaussian_filter(x, (0, sigma, sigma, 0), mode="nearest", truncate=4)


def glass_blur(x: Pictures, c: tuple[float, int, int], rng: Generator) -> Pictures:
    """Pixels take the value of a near one, between two blurs; `c` is (sigma, reach, times)."""
    sigma, reach, times = c
    x = np.floor(gaussian_blur(x, sigma) * 255) / 255
    every = np.arange(len(x))
    for _ in range(times):
        for h in range(SIDE - reach, reach, -1):
            for w in range(SIDE - reach, reach, -1):
                across, down = rng.integers(-reach, reach, size=(2, len(x)))
                x[:, h, w] = x[every, h + down, w + across]
    return gaussian_blur(x, sigma)


def defocus_blur(x: Pictures, c: tuple[float, float], rng: Generator) -> Pictures:
    """The mean over a disc, whose edge is softened; `c` is (radius, softness)."""
    radius, softness = c
    near = np.arange(-4, 5)
    disc = (near[:, None] ** 2 + near**2 <= radius**2).astype(float)
    edge = np.exp(-0.5 * (np.arange(-1, 2) / softness) ** 2)
    edge /= edge.sum()
    disc = ndimage.convolve(disc / disc.sum(), np.outer(edge, edge), mode="constant")
    return ndimage.correlate(x, disc[None, :, :, None], mode="mirror")


def motion_blur(x: Pictures, c: tuple[int, float], rng: Generator) -> Pictures:
    return _moved(x, c, rng.uniform(-45, 45, len(x)))


def _moved(
    x: Float[np.ndarray, "images 32 32 c"],
    c: tuple[int, float],
    degrees: Float[np.ndarray, " images"],
) -> Float[np.ndarray, "images 32 32 c"]:
    """A trail of half a Gaussian in the direction of the angle, after ImageMagick's motion blur."""
    radius, sigma = c
    steps = np.arange(2 * radius + 1)
    weights = np.exp(-0.5 * (steps / sigma) ** 2)
    angle = np.deg2rad(degrees)[:, None]
    across = np.ceil(steps * np.cos(angle) - 0.5).astype(int)
    down = np.ceil(steps * np.sin(angle) - 0.5).astype(int)
    every, at = np.arange(len(x))[:, None, None], np.arange(SIDE)
    trail = np.zeros_like(x)
    for k, weight in enumerate(weights / weights.sum()):
        rows = np.clip(at + down[:, k, None], 0, SIDE - 1)[:, :, None]
        columns = np.clip(at + across[:, k, None], 0, SIDE - 1)[:, None, :]
        trail += weight * x[every, rows, columns]
    return trail


def zoom_blur(x: Pictures, most: float, rng: Generator) -> Pictures:
    """The mean of the picture and of enlarged ones, up to the largest in steps of a hundredth."""
    factors = np.arange(1, most, 0.01)
    return (x + sum(_enlarged(x, factor) for factor in factors)) / (len(factors) + 1)


def _enlarged(
    x: Float[np.ndarray, "images 32 32 c"], factor: float
) -> Float[np.ndarray, "images 32 32 c"]:
    """The middle of the pictures at their whole size, by linear interpolation."""
    kept = int(np.ceil(SIDE / factor))
    edge, large = (SIDE - kept) // 2, round(kept * factor)
    at = np.linspace(0, kept - 1, large)[(large - SIDE) // 2 :][:SIDE]
    weights = np.maximum(1 - np.abs(at[:, None] - np.arange(kept)), 0)
    middle = x[:, edge : edge + kept, edge : edge + kept]
    wide = np.tensordot(middle, weights, (1, 1))  # images, columns, channels, new rows
    return np.moveaxis(np.tensordot(wide, weights, (1, 1)), (2, 3, 1), (1, 2, 3))


# Weather


def snow(
    x: Pictures, c: tuple[float, float, float, float, int, float, float], rng: Generator
) -> Pictures:
    """Flakes with their trails, over a picture that has gone pale.

    `c` is the flakes' mean, deviation, enlargement and threshold, the trail's radius and sigma, and
    how much of the picture's own colours stays.
    """
    mean, deviation, factor, least, radius, sigma, own = c
    flakes = _enlarged(rng.normal(mean, deviation, (*x.shape[:3], 1)), factor)
    flakes = np.where(flakes < least, 0, np.clip(flakes, 0, 1))
    flakes = _moved(flakes, (radius, sigma), rng.uniform(-135, -45, len(x)))
    grey = (x @ [0.299, 0.587, 0.114])[..., None]
    pale = own * x + (1 - own) * np.maximum(x, 1.5 * grey + 0.5)
    return pale + flakes + flakes[:, ::-1, ::-1]


def fog(x: Pictures, c: tuple[float, float], rng: Generator) -> Pictures:
    """Clouds, a random fractal, are added; `c` is (how much, how smooth)."""
    much, decay = c
    brightest = x.max(axis=(1, 2, 3), keepdims=True)
    clouds = _clouds(len(x), decay, rng)[..., None]
    return (x + much * clouds) * brightest / (brightest + much)


def _clouds(n: int, decay: float, rng: Generator) -> Float[np.ndarray, "n 32 32"]:
    """Diamonds and squares: means of four neighbours with noise that gets less from scale to scale.

    What leaves the square on one side comes back on the other.
    """
    field = np.zeros((n, SIDE, SIDE))
    step, wobble = SIDE, 100.0

    def noisy(total: np.ndarray) -> np.ndarray:
        return total / 4 + wobble * rng.uniform(-wobble, wobble, total.shape)

    while step >= 2:
        half = step // 2
        corners = field[:, ::step, ::step]
        across = corners + np.roll(corners, -1, axis=2)
        down = corners + np.roll(corners, -1, axis=1)
        middle = noisy(across + np.roll(across, -1, axis=1))
        field[:, half::step, half::step] = middle
        field[:, ::step, half::step] = noisy(middle + np.roll(middle, 1, axis=1) + across)
        field[:, half::step, ::step] = noisy(middle + np.roll(middle, 1, axis=2) + down)
        step, wobble = half, wobble / decay
    field -= field.min(axis=(1, 2), keepdims=True)
    return field / field.max(axis=(1, 2), keepdims=True)


# What cameras and files do


def brightness(x: Pictures, more: float, rng: Generator) -> Pictures:
    """The value of hue, saturation and value goes up: the same factor for the three colours."""
    value = x.max(axis=-1, keepdims=True)
    brighter = np.minimum(value + more, 1)
    return np.where(value > 0, x * brighter / np.where(value > 0, value, 1), brighter)


def contrast(x: Pictures, share: float, rng: Generator) -> Pictures:
    mean = x.mean(axis=(1, 2), keepdims=True)
    return (x - mean) * share + mean


def elastic_transform(x: Pictures, c: tuple[float, float, float], rng: Generator) -> Pictures:
    """A random affine map, then a smooth random field of shifts.

    `c` is the field's strength and smoothness and the reach of the affine map's corners, in sides.
    """
    strength, sigma, reach = (SIDE * share for share in c)
    middle, third = SIDE // 2, SIDE // 3
    corners = middle + third * np.array([[1, 1], [1, -1], [-1, -1]])
    here = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij"))
    moved = np.empty_like(x)
    for i, image in enumerate(x):
        targets = corners + rng.uniform(-reach, reach, corners.shape)
        back = np.linalg.solve(np.column_stack([targets, np.ones(3)]), corners)  # target to source
        source = np.einsum("dhw,de->ehw", here, back[:2]) + back[2][:, None, None]
        image = _looked_up(image, source, "mirror")
        shift = ndimage.gaussian_filter(
            rng.uniform(-1, 1, here.shape), (0, sigma, sigma), mode="reflect", truncate=3
        )
        moved[i] = _looked_up(image, here + strength * shift, "reflect")
    return moved


def _looked_up(
    image: Float[np.ndarray, "32 32 3"], places: Float[np.ndarray, "2 32 32"], beyond: str
) -> Float[np.ndarray, "32 32 3"]:
    each = [
        ndimage.map_coordinates(c, places, order=1, mode=beyond) for c in np.moveaxis(image, 2, 0)
    ]
    return np.stack(each, axis=-1)


def pixelate(x: Pictures, share: float, rng: Generator) -> Pictures:
    from PIL import Image

    few, box = int(SIDE * share), Image.Resampling.BOX
    each = (Image.fromarray(image).resize((few, few), box) for image in _bytes(x))
    return np.stack([np.asarray(image.resize((SIDE, SIDE), box)) for image in each]) / 255


def jpeg_compression(x: Pictures, quality: int, rng: Generator) -> Pictures:
    from PIL import Image

    found = []
    for image in _bytes(x):
        file = BytesIO()
        Image.fromarray(image).save(file, "JPEG", quality=quality)
        found.append(np.asarray(Image.open(file)))
    return np.stack(found) / 255


CORRUPTIONS = {
    "gaussian_noise": Corruption(gaussian_noise, (0.04, 0.06, 0.08, 0.09, 0.1)),
    "shot_noise": Corruption(shot_noise, (500.0, 250.0, 100.0, 75.0, 50.0)),
    "impulse_noise": Corruption(impulse_noise, (0.01, 0.02, 0.03, 0.05, 0.07)),
    "speckle_noise": Corruption(speckle_noise, (0.06, 0.1, 0.12, 0.16, 0.2)),
    "gaussian_blur": Corruption(gaussian_blur, (0.4, 0.6, 0.7, 0.8, 1.0)),
    "defocus_blur": Corruption(
        defocus_blur, ((0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1.0, 0.2), (1.5, 0.1))
    ),
    "glass_blur": Corruption(
        glass_blur, ((0.05, 1, 1), (0.25, 1, 1), (0.4, 1, 1), (0.25, 1, 2), (0.4, 1, 2))
    ),
    "motion_blur": Corruption(motion_blur, ((6, 1.0), (6, 1.5), (6, 2.0), (8, 2.0), (9, 2.5))),
    "zoom_blur": Corruption(zoom_blur, (1.06, 1.11, 1.16, 1.21, 1.26)),
    "snow": Corruption(
        snow,
        (
            (0.1, 0.2, 1.0, 0.6, 8, 3.0, 0.95),
            (0.1, 0.2, 1.0, 0.5, 10, 4.0, 0.9),
            (0.15, 0.3, 1.75, 0.55, 10, 4.0, 0.9),
            (0.25, 0.3, 2.25, 0.6, 12, 6.0, 0.85),
            (0.3, 0.3, 1.25, 0.65, 14, 12.0, 0.8),
        ),
    ),
    "fog": Corruption(fog, ((0.2, 3.0), (0.5, 3.0), (0.75, 2.5), (1.0, 2.0), (1.5, 1.75))),
    "brightness": Corruption(brightness, (0.05, 0.1, 0.15, 0.2, 0.3)),
    "contrast": Corruption(contrast, (0.75, 0.5, 0.4, 0.3, 0.15)),
    "elastic_transform": Corruption(
        elastic_transform,
        (
            (0.0, 0.0, 0.08),
            (0.05, 0.2, 0.07),
            (0.08, 0.06, 0.06),
            (0.1, 0.04, 0.05),
            (0.1, 0.03, 0.03),
        ),
    ),
    "pixelate": Corruption(pixelate, (0.95, 0.9, 0.85, 0.75, 0.65)),
    "jpeg_compression": Corruption(jpeg_compression, (80, 65, 58, 50, 40)),
}
