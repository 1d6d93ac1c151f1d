"""Statistical assertions, in units of Monte Carlo standard error."""

import numpy as np

LIMIT = 4.0  # standard errors; with a fixed seed a correct program is either in or out for ever


def z_of_mean(samples, expected) -> np.ndarray:
    """How many standard errors the mean over the first axis lies from what is expected."""
    samples = np.asarray(samples, np.float64)
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    return (samples.mean(axis=0) - np.asarray(expected, np.float64)) / error


def assert_mean(samples, expected) -> None:
    """Independent samples along the first axis have this mean, entry by entry."""
    z = z_of_mean(samples, expected)
    assert np.abs(z).max() < LIMIT, f"off by {np.abs(z).max():.1f} standard errors:\n{z}"


def assert_covariance(samples, expected, mean=0.0) -> None:
    """Independent vectors (rows) with this known mean have this covariance, entry by entry."""
    deviations = np.asarray(samples, np.float64) - mean
    assert_mean(deviations[:, :, None] * deviations[:, None, :], expected)
