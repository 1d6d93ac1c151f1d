"""What each corruption of CIFAR-10-C does to pictures; `corruptions` has their constants."""

from io import BytesIO

import numpy as np
from jaxtyping import Float, UInt8
from numpy.random import Generator
from scipy import ndimage

SIDE = 32
Pictures = Float[np.ndarray, "images 32 32 3"]  # from 0 to 1


def to_bytes(x: Pictures) -> UInt8[np.ndarray, "images 32 32 3"]:
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
        image = _interpolated(image, source, "mirror")
        shift = ndimage.gaussian_filter(
            rng.uniform(-1, 1, here.shape), (0, sigma, sigma), mode="reflect", truncate=3
        )
        moved[i] = _interpolated(image, here + strength * shift, "reflect")
    return moved


def _interpolated(
    image: Float[np.ndarray, "32 32 3"], places: Float[np.ndarray, "2 32 32"], beyond: str
) -> Float[np.ndarray, "32 32 3"]:
    each = [
        ndimage.map_coordinates(c, places, order=1, mode=beyond) for c in np.moveaxis(image, 2, 0)
    ]
    return np.stack(each, axis=-1)


def pixelate(x: Pictures, share: float, rng: Generator) -> Pictures:
    from PIL import Image

    few, box = int(SIDE * share), Image.Resampling.BOX
    each = (Image.fromarray(image).resize((few, few), box) for image in to_bytes(x))
    return np.stack([np.asarray(image.resize((SIDE, SIDE), box)) for image in each]) / 255


def jpeg_compression(x: Pictures, quality: int, rng: Generator) -> Pictures:
    from PIL import Image

    found = []
    for image in to_bytes(x):
        file = BytesIO()
        Image.fromarray(image).save(file, "JPEG", quality=quality)
        found.append(np.asarray(Image.open(file)))
    return np.stack(found) / 255
