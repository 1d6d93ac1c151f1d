"""Gauss-Newton matrices for Laplace approximations: the whole one, or its Kronecker factors.

Both have one contract, in which a prior adds a precision per parameter. They hold
double-precision NumPy arrays; their methods are called under `jax.enable_x64`.
"""

from abc import abstractmethod
from collections.abc import Iterator

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float

Precisions = Float[Array | np.ndarray, " parameters"]
Eigen = tuple[Float[np.ndarray, " _"], Float[np.ndarray, "_ _"]]  # values and vectors
Jacobian = Float[Array | np.ndarray, "points out size"]


class Curvature(eqx.Module):
    """A Gauss-Newton matrix G, to which each method adds the prior's diagonal precisions."""

    @abstractmethod
    def log_det(self, precisions: Precisions, factor: Array | float = 1.0) -> Float[Array, ""]:
        """`log det(factor * G + precisions)`."""

    @abstractmethod
    def covariance(
        self, jacobian: Jacobian, precisions: Precisions
    ) -> Float[Array, "points out out"]:
        """The covariance of the linearised outputs, `J (G + precisions)^-1 J^T`."""

    @abstractmethod
    def sample(
        self, noise: Float[Array, "draws size"], precisions: Precisions
    ) -> Float[Array, "draws size"]:
        """Standard normal numbers rotated into draws with covariance `(G + precisions)^-1`."""

    @abstractmethod
    def spectrum(self, precisions: Precisions) -> "Spectrum":
        """The eigenvalues for these precisions, from which each determinant takes no time."""


class Spectrum(eqx.Module):
    """The eigenvalues of `precisions^-1/2 G precisions^-1/2`, for precisions that stay.

    With a factor of G as the only unknown, `log_det` costs a sum instead of a Cholesky factor.
    """

    values: Float[np.ndarray, " _"]
    prior: Float[np.ndarray, ""]  # log det of the precisions

    def log_det(self, precisions: Precisions, factor: Array | float = 1.0) -> Float[Array, ""]:
        """`log det(factor * G + precisions)`, for the precisions that it was made for."""
        return jnp.log1p(factor * jnp.asarray(self.values)).sum() + self.prior


class Full(Curvature):
    """The whole matrix, for networks of a few thousand weights."""

    matrix: Float[np.ndarray, "size size"]
    sizes: tuple[int, ...] = eqx.field(static=True)

    def _factor(self, precisions: Precisions, factor: Array | float = 1.0) -> Array:
        diagonal = jnp.repeat(
            jnp.asarray(precisions), np.array(self.sizes), total_repeat_length=sum(self.sizes)
        )
        return jnp.linalg.cholesky(factor * self.matrix + jnp.diag(diagonal))

    def spectrum(self, precisions: Precisions) -> Spectrum:
        diagonal = np.repeat(np.asarray(precisions, np.float64), self.sizes)
        half = diagonal**-0.5
        values = np.linalg.eigvalsh(self.matrix * half * half[:, None])
        return Spectrum(np.maximum(values, 0), np.asarray(np.log(diagonal).sum()))

    def log_det(self, precisions: Precisions, factor: Array | float = 1.0) -> Float[Array, ""]:
        return 2 * jnp.log(jnp.diagonal(self._factor(precisions, factor))).sum()

    def covariance(
        self, jacobian: Jacobian, precisions: Precisions
    ) -> Float[Array, "points out out"]:
        flat = jnp.asarray(jacobian).reshape(-1, jacobian.shape[-1])
        half = solve_triangular(self._factor(precisions), flat.T, lower=True)
        half = half.T.reshape(jacobian.shape)
        return jnp.einsum("pci,pdi->pcd", half, half)

    def sample(
        self, noise: Float[Array, "draws size"], precisions: Precisions
    ) -> Float[Array, "draws size"]:
        return solve_triangular(self._factor(precisions), noise.T, lower=True, trans="T").T


class Block(eqx.Module):
    """One parameter's part, `B (x) A` over (outputs, inputs), as eigenvalues and eigenvectors."""

    out_values: Float[np.ndarray, " out"]
    out_vectors: Float[np.ndarray, "out out"]
    in_values: Float[np.ndarray, " in"]
    in_vectors: Float[np.ndarray, "in in"]

    @classmethod
    def of(cls, outs: Eigen, ins: Eigen) -> "Block":
        """The block of `numpy.linalg.eigh` of both factors."""
        (out_values, out_vectors), (in_values, in_vectors) = outs, ins
        return cls(np.maximum(out_values, 0), out_vectors, np.maximum(in_values, 0), in_vectors)

    @property
    def values(self) -> Float[Array, "out in"]:
        return jnp.asarray(self.out_values)[:, None] * self.in_values

    def rotate(self, part: Float[Array, "*batch flat"], *, back: bool = False) -> Array:
        """A part of flat weights in the coordinates of the eigenvectors, or back from there."""
        shape = (len(self.out_values), len(self.in_values))
        outs, ins = (v if back else v.T for v in (self.out_vectors, self.in_vectors))
        matrix = part.reshape(*part.shape[:-1], *shape)
        return jnp.einsum("ab,...bc,dc->...ad", outs, matrix, ins).reshape(part.shape)


class Kronecker(Curvature):
    """A block for each parameter (K-FAC): `N * mean(a a^T) (x) mean(g g^T)`.

    The inputs `a` of a layer and the gradients `g` of its outputs are taken as independent.
    """

    blocks: tuple[Block, ...]

    def _parts(self, flat: Float[Array, "*batch size"]) -> Iterator[tuple[Block, Array]]:
        ends = np.cumsum([block.out_values.size * block.in_values.size for block in self.blocks])
        return zip(self.blocks, jnp.split(flat, ends[:-1], axis=-1), strict=True)

    def log_det(self, precisions: Precisions, factor: Array | float = 1.0) -> Float[Array, ""]:
        each = [
            jnp.log(factor * block.values + precision).sum()
            for block, precision in zip(self.blocks, jnp.asarray(precisions), strict=True)
        ]
        return jnp.stack(each).sum()

    def spectrum(self, precisions: Precisions) -> Spectrum:
        each = [
            (np.outer(block.out_values, block.in_values).ravel(), float(precision))
            for block, precision in zip(self.blocks, precisions, strict=True)
        ]
        values = np.concatenate([values / precision for values, precision in each])
        prior = sum(len(values) * np.log(precision) for values, precision in each)
        return Spectrum(values, np.asarray(prior))

    def covariance(
        self, jacobian: Jacobian, precisions: Precisions
    ) -> Float[Array, "points out out"]:
        half = self._whitened(jnp.asarray(jacobian), precisions)
        return jnp.einsum("pci,pdi->pcd", half, half)

    def _whitened(self, flat: Float[Array, "*batch size"], precisions: Precisions) -> Array:
        """In the eigenvectors' coordinates, divided by the root of the eigenvalues."""
        halves = [
            block.rotate(part) / jnp.sqrt(block.values + precision).ravel()
            for (block, part), precision in zip(
                self._parts(flat), jnp.asarray(precisions), strict=True
            )
        ]
        return jnp.concatenate(halves, axis=-1)

    def sample(
        self, noise: Float[Array, "draws size"], precisions: Precisions
    ) -> Float[Array, "draws size"]:
        draws = [
            block.rotate(part / jnp.sqrt(block.values + precision).ravel(), back=True)
            for (block, part), precision in zip(
                self._parts(noise), jnp.asarray(precisions), strict=True
            )
        ]
        return jnp.concatenate(draws, axis=-1)
