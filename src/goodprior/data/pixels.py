"""Images as numbers for a network: standardised by channel."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, UInt8


class PixelScaling(NamedTuple):
    """Mean and standard deviation of each channel over all training pixels, on the scale 0 to 1.

    The paper standardises its inputs and gives beliefs about images over flattened pixels, with
    lengthscales of 256 (MNIST) and 512 (CIFAR-10). In these units two images are typically 37 and
    74 apart, so that the belief's values at two images have correlations of 0.99: functions that
    are smooth, and differ from class to class by tenths of the amplitude. With pixels from 0 to 255
    images would be 2,600 and 4,800 apart and their values independent, which no network can follow;
    with pixels from 0 to 1 (10 and 19 apart) functions would be as good as constant.

    >>> import numpy as np
    >>> images = np.zeros((2, 32, 32, 1), np.uint8)
    >>> images[0] = 255
    >>> inputs = PixelScaling.fit(images).inputs(images)
    >>> inputs.shape, inputs[:, 0, 0, 0].tolist()
    ((2, 32, 32, 1), [1.0, -1.0])
    """

    mean: Float[np.ndarray, " channels"]
    std: Float[np.ndarray, " channels"]

    @classmethod
    def fit(cls, X: object) -> "PixelScaling":
        """The scaling of these training images; a constant channel is left unscaled."""
        images = _checked(X)
        counts = np.stack(
            [np.bincount(images[..., c].ravel(), minlength=256) for c in range(images.shape[3])]
        )
        share = counts / counts.sum(axis=1, keepdims=True)
        values = np.arange(256) / 255
        mean = share @ values
        std = np.sqrt((share * (values - mean[:, None]) ** 2).sum(axis=1))
        return cls(mean, np.where(std > 0, std, 1.0))

    def inputs(self, X: object) -> Float[np.ndarray, "images height width channels"]:
        """Images in training standard deviations of their channels, in single precision."""
        images = _checked(X)
        if images.shape[3] != len(self.mean):
            raise ValueError(f"X must have {len(self.mean)} channels, its shape is {images.shape}")
        table = ((np.arange(256) / 255 - self.mean[:, None]) / self.std[:, None]).astype(np.float32)
        each = [table[c][images[..., c]] for c in range(len(table))]
        return np.stack(each, axis=-1)


def _checked(X: object) -> UInt8[np.ndarray, "images height width channels"]:
    images = np.asarray(X)
    if images.ndim != 4 or images.dtype != np.uint8 or 0 in images.shape:
        raise ValueError(
            "X must hold images in bytes, with the axes images, height, width and channels; it has "
            f"{images.dtype} of shape {images.shape}"
        )
    return images
