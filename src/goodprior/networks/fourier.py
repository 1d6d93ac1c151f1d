"""Networks of sines and cosines, whose functions can be like those of a stationary process."""

from collections.abc import Sequence
from math import pi

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from goodprior.networks.dense import Dense


class Waves(eqx.Module):
    """Sines and cosines of linear combinations of columns.

    A column with a period is replaced by the cosine and sine of its phase. Lengthscales and the
    amplitude may have weights of their own: `exp(-log_lengthscales)` multiplies the columns,
    `exp(log_amplitude)` the features.

    Parameters
    ----------
    columns : sequence of int
        Of the input.
    units : int
        Frequencies; each has a sine and a cosine.
    periods : sequence of float or None, optional
        Of each column, None where it has none.
    times : sequence of int
        Columns by which all features are multiplied.
    lengthscales_vary, amplitude_varies : bool
        Whether they have weights of their own.
    key : PRNGKeyArray
        Of the frequencies.
    """

    frequencies: Dense
    log_lengthscales: Float[Array, " columns"] | None
    log_amplitude: Float[Array, ""] | None
    columns: tuple[int, ...] = eqx.field(static=True)
    periods: tuple[float | None, ...] = eqx.field(static=True)
    times: tuple[int, ...] = eqx.field(static=True)

    def __init__(
        self,
        columns: Sequence[int],
        units: int,
        *,
        periods: Sequence[float | None] | None = None,
        times: Sequence[int] = (),
        lengthscales_vary: bool = False,
        amplitude_varies: bool = False,
        key: PRNGKeyArray,
    ):
        self.columns, self.times = tuple(columns), tuple(times)
        self.periods = (None,) * len(self.columns) if periods is None else tuple(periods)
        if len(self.periods) != len(self.columns):
            raise ValueError(f"{len(self.columns)} columns need as many periods, or None")
        self.frequencies = Dense(len(self.column_of), units, use_bias=False, key=key)
        self.log_lengthscales = jnp.zeros(len(self.columns)) if lengthscales_vary else None
        self.log_amplitude = jnp.zeros(()) if amplitude_varies else None

    @property
    def column_of(self) -> tuple[int, ...]:
        """The position in `columns` that each input of `frequencies` belongs to."""
        return tuple(i for i, p in enumerate(self.periods) for _ in range(1 if p is None else 2))

    @property
    def width(self) -> int:
        """How many features there are."""
        return 2 * self.frequencies.weight.shape[0]

    def __call__(self, x: Float[Array, " in"]) -> Float[Array, " features"]:
        z = self._phases(x[np.array(self.columns, int)])
        if self.log_lengthscales is not None:
            z = z * jnp.exp(-self.log_lengthscales[np.array(self.column_of)])
        phase = self.frequencies(z)
        features = jnp.concatenate([jnp.sin(phase), jnp.cos(phase)])
        return features * _factor(x, self.times, self.log_amplitude)

    def _phases(self, values: Float[Array, " columns"]) -> Float[Array, " inputs"]:
        """The columns, those with a period as the cosine and sine of their phase.

        All at once: a program with a slice for each of many columns takes minutes to compile.
        """
        if not any(self.periods):
            return values
        part = np.concatenate([[0] if p is None else [1, 2] for p in self.periods])
        period = np.array([np.inf if p is None else p for p in self.periods])
        of = np.array(self.column_of)
        phase = (2 * pi / period[of]) * values[of]
        waves = jnp.where(part == 1, jnp.cos(phase), jnp.sin(phase))
        return jnp.where(part == 0, values[of], waves)


class Monomial(eqx.Module):
    """The product of some columns, as one feature; of none it is the constant 1.

    Parameters
    ----------
    times : sequence of int
        The columns.
    amplitude_varies : bool
        Whether the logarithm of the amplitude is a weight of its own.
    """

    log_amplitude: Float[Array, ""] | None
    times: tuple[int, ...] = eqx.field(static=True)

    def __init__(self, times: Sequence[int] = (), *, amplitude_varies: bool = False):
        self.times = tuple(times)
        self.log_amplitude = jnp.zeros(()) if amplitude_varies else None

    @property
    def width(self) -> int:
        """One feature."""
        return 1

    def __call__(self, x: Float[Array, " in"]) -> Float[Array, " features"]:
        return jnp.ones(1, x.dtype) * _factor(x, self.times, self.log_amplitude)


class Slopes(eqx.Module):
    """Some columns as they are, with one amplitude.

    Parameters
    ----------
    columns : sequence of int
        Of the input.
    amplitude_varies : bool
        Whether the logarithm of the amplitude is a weight of its own.
    """

    log_amplitude: Float[Array, ""] | None
    columns: tuple[int, ...] = eqx.field(static=True)

    def __init__(self, columns: Sequence[int], *, amplitude_varies: bool = False):
        self.columns = tuple(columns)
        self.log_amplitude = jnp.zeros(()) if amplitude_varies else None

    @property
    def width(self) -> int:
        """A feature for each column."""
        return len(self.columns)

    def __call__(self, x: Float[Array, " in"]) -> Float[Array, " features"]:
        return x[np.array(self.columns, int)] * _factor(x, (), self.log_amplitude)


def _factor(x: Float[Array, " in"], times: tuple[int, ...], log_amplitude: Array | None) -> Array:
    factor = jnp.ones((), x.dtype) if log_amplitude is None else jnp.exp(log_amplitude)
    for column in times:
        factor = factor * x[column]
    return factor


Block = Waves | Monomial | Slopes


class Fourier(eqx.Module):
    """One linear read-out of sines, cosines and products of columns.

    With Gaussian frequencies and read-out weights its functions are stationary, and have the
    covariance of a given kernel whatever the width (Bochner); `goodprior.priors.closed_form`
    has the scales for that. `network(x)` is `network.readout(network.features(x))`.

    Parameters
    ----------
    blocks : sequence of Waves, Monomial or Slopes
        Whose features are joined.
    outputs : int
        Columns of the output.
    key : PRNGKeyArray
        Of the read-out's weights.

    Examples
    --------
    >>> import jax
    >>> keys = jax.random.split(jax.random.key(0))
    >>> network = Fourier((Waves((0, 1), 50, key=keys[0]), Monomial((0,))), 1, key=keys[1])
    >>> x = jax.numpy.ones(2)
    >>> network.features(x).shape, network(x).shape
    ((101,), (1,))
    """

    blocks: tuple[Block, ...]
    readout: Dense

    def __init__(self, blocks: Sequence[Block], outputs: int, *, key: PRNGKeyArray):
        self.blocks = tuple(blocks)
        features = sum(block.width for block in self.blocks)
        self.readout = Dense(features, outputs, use_bias=False, key=key)

    def features(self, x: Float[Array, " in"]) -> Float[Array, " features"]:
        """What the read-out is linear in."""
        return jnp.concatenate([block(x) for block in self.blocks])

    def __call__(self, x: Float[Array, " in"]) -> Float[Array, " out"]:
        return self.readout(self.features(x))
