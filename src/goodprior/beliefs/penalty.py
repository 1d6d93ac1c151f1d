"""What keeps the hyper-parameters of a fitted belief in reason: priors on their logarithms."""

from math import log
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

IRRELEVANT = 1000.0  # lengthscale of a column that does not matter
STEEPNESS = 3.0  # of the sparse penalty, by the logarithm of a lengthscale

Hyper = Float[np.ndarray, " hyper"]


class Penalty(NamedTuple):
    """Normal priors on logarithms, as means and standard deviations, for standardised data.

    Attributes
    ----------
    lengthscale, amplitude, noise, trend : tuple of float
        Mean and standard deviation of the logarithm.
    sparse : bool
        Lengthscales have another prior instead, for which few columns matter: most are near
        `IRRELEVANT`, and how much shorter one is costs little (Laplace tails in its logarithm, like
        those of a half-Cauchy for the inverse lengthscale). It has local optima: start from those
        of the other.
    """

    lengthscale: tuple[float, float]
    amplitude: tuple[float, float] = (log(1.5), 1.5)
    noise: tuple[float, float] = (log(0.1), 1.5)
    trend: tuple[float, float] = (log(0.1), 1.5)
    sparse: bool = False

    @classmethod
    def default(cls, inputs: int) -> "Penalty":
        """Lengthscales around `3 sqrt(inputs)`, give or take a factor of 7."""
        return cls(lengthscale=(log(3 * inputs**0.5), 2.0))

    def __call__(self, theta: Hyper, inputs: int) -> tuple[float, Hyper]:
        """The penalty and its gradient, at logarithms in the order of `fit.objective`."""
        location, width = np.empty_like(theta), np.empty_like(theta)
        location[:inputs], width[:inputs] = self.lengthscale
        pairs = (self.amplitude, self.noise)
        location[inputs : inputs + 2], width[inputs : inputs + 2] = np.transpose(pairs)
        location[inputs + 2 :], width[inputs + 2 :] = self.trend
        away = (theta - location) / width
        values, grad = 0.5 * away**2, away / width
        if self.sparse:
            away = STEEPNESS * (theta[:inputs] - log(IRRELEVANT))
            values[:inputs] = np.logaddexp(away, -away)
            grad[:inputs] = STEEPNESS * np.tanh(away)
        return float(values.sum()), grad
