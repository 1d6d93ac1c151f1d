"""A convolution of a batch of images with fast gradients on a CPU, as a primitive of JAX.

Why not XLA's own: on a CPU its gradient by the filters, a convolution with filters as large as the
image, takes ten times as long as it should. Here that gradient is a sum of products of matrices
over some thousand places at a time; the patches of a whole batch are never held.

Why a primitive and not a `custom_vjp`: networks are written for one image and `vmap` makes the
batch. A primitive has a batching rule, so that all rows are still together when the gradient is
taken. Everything that touches JAX's internals (`jax.extend`, `jax.interpreters`) is in `_register`.
"""

from functools import partial
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jaxtyping import Array, Float

Images = Float[Array, "rows height width in"]
Filters = Float[Array, "out size size in"]

PLACES_AT_ONCE = 4096  # places whose patches are held at the same time


def convolve(
    x: Images, filters: Filters, stride: int = 1, margin: int = 0
) -> Float[Array, "rows high wide out"]:
    """The sums over all patches of the images, with a `margin` of zeros around them.

    Parameters
    ----------
    x : Array
        Images, (rows, height, width, channels).
    filters : Array
        (outputs, size, size, channels).
    stride : int
        Pixels between two patches.
    margin : int
        Zeros on each side of an image.

    Returns
    -------
    Array
        (rows, height, width, outputs).

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> convolve(jnp.ones((2, 5, 5, 3)), jnp.ones((4, 3, 3, 3))).shape
    (2, 3, 3, 4)
    """
    return _primitive.bind(x, filters, stride=stride, margin=margin)


def _forward(x: Images, filters: Filters, *, stride: int, margin: int) -> Array:
    # The zeros are XLA's business: its convolution of images that have them already can take four
    # times as long.
    padding = ((margin, margin), (margin, margin))
    return _convolve_nhwc(x, filters.transpose(1, 2, 3, 0), (stride, stride), padding)


def _convolve_nhwc(x: Array, filters: Array, strides: Any, padding: Any, **options: Any) -> Array:
    """In the order of axes that XLA has a fast convolution for on a CPU.

    Other orders it rearranges, but not inside of loops: there they take five times as long.
    """
    order = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(
        x, filters, strides, padding, dimension_numbers=order, **options
    )


def _gradient_by_images(grad: Array, x: Any, filters: Array, *, stride: int, margin: int) -> Array:
    """The gradient by the images, of which only the shape is known: a convolution with the filters
    turned around."""
    size = filters.shape[1]
    before = size - 1 - margin
    reach = [(n - 1) * stride + 1 for n in grad.shape[1:3]]
    sides = x.aval.shape[1:3]
    padding = [(before, n + margin - r) for n, r in zip(sides, reach, strict=True)]
    turned = filters[:, ::-1, ::-1].transpose(1, 2, 0, 3)
    return _convolve_nhwc(grad, turned, (1, 1), padding, lhs_dilation=(stride, stride))


def _gradient_by_filters(grad: Array, x: Array, filters: Any, *, stride: int, margin: int) -> Array:
    """The gradient by the filters, of which only the shape is known."""
    if jax.default_backend() != "cpu":
        linear = partial(_forward, x, stride=stride, margin=margin)
        shape = jax.ShapeDtypeStruct(filters.aval.shape, filters.aval.dtype)
        return jax.linear_transpose(linear, shape)(grad)[0]
    outputs, size, _, inputs = filters.aval.shape
    _, height, width, _ = grad.shape
    batch = min(max(1, PLACES_AT_ONCE // (height * width)), len(x))
    same_size = stride == 1 and 2 * margin == size - 1
    product = _product_of_shifts if same_size else partial(_product_with_patches, stride=stride)

    def add(total: Array, part: tuple[Array, Array]) -> tuple[Array, None]:
        return total + product(*part, size=size, margin=margin), None

    zero = jnp.zeros((outputs, size, size, inputs), grad.dtype)
    return jax.lax.scan(add, zero, (_in_parts(grad, batch), _in_parts(x, batch)))[0]


def _product_with_patches(grad: Array, x: Array, *, size: int, stride: int, margin: int) -> Array:
    """The gradient's places beside their patches of the images, which are size * size copies."""
    _, height, width, outputs = grad.shape
    x = jnp.pad(x, ((0, 0), (margin, margin), (margin, margin), (0, 0)))
    seen = [
        x[
            :,
            i : i + (height - 1) * stride + 1 : stride,
            j : j + (width - 1) * stride + 1 : stride,
        ]
        for i in range(size)
        for j in range(size)
    ]
    patches = jnp.concatenate(seen, axis=-1)
    product = grad.reshape(-1, outputs).T @ patches.reshape(-1, patches.shape[-1])
    return product.reshape(outputs, size, size, -1)


def _product_of_shifts(grad: Array, x: Array, *, size: int, margin: int) -> Array:
    """The same for outputs as large as the images: these moved sideways, the gradient up and down.

    That is a third of the copies for filters of 3 by 3, and a product with better proportions.
    """
    _, height, width, outputs = grad.shape
    wide = jnp.pad(x, ((0, 0), (0, 0), (margin, margin), (0, 0)))
    wide = jnp.concatenate([wide[:, :, j : j + width] for j in range(size)], axis=-1)
    high = jnp.pad(grad, ((0, 0), (margin, margin), (0, 0), (0, 0)))
    high = jnp.concatenate([high[:, i : i + height] for i in reversed(range(size))], axis=-1)
    product = high.reshape(-1, size * outputs).T @ wide.reshape(-1, wide.shape[-1])
    return product.reshape(size, outputs, size, -1).transpose(1, 0, 2, 3)


def _in_parts(x: Array, batch: int) -> Array:
    """`batch` rows at a time; rows of zeros make the last part full."""
    missing = -len(x) % batch
    if missing:
        x = jnp.concatenate([x, jnp.zeros((missing, *x.shape[1:]), x.dtype)])
    return x.reshape(-1, batch, *x.shape[1:])


def _batched(
    arguments: tuple[Array, Array], axes: tuple[int | None, int | None], **options: int
) -> tuple[Array, int]:
    """Images of several batches are one batch; several sets of filters are XLA's business."""
    x, filters = arguments
    if axes[1] is not None:
        return jax.vmap(partial(_forward, **options), in_axes=axes)(x, filters), 0
    x = jnp.moveaxis(x, axes[0], 0)  # type: ignore[arg-type]
    y = convolve(x.reshape(-1, *x.shape[2:]), filters, **options)
    return y.reshape(*x.shape[:2], *y.shape[1:]), 0


def _register() -> Primitive:
    """The primitive with its rules: evaluation, shapes, lowering, both gradients, batching."""
    primitive = Primitive("convolve")
    primitive.def_impl(jax.jit(_forward, static_argnames=("stride", "margin")))
    primitive.def_abstract_eval(
        lambda x, filters, **options: jax.core.ShapedArray(
            jax.eval_shape(partial(_forward, **options), x, filters).shape, x.dtype
        )
    )
    mlir.register_lowering(primitive, mlir.lower_fun(_forward, multiple_results=False))
    ad.defbilinear(primitive, _gradient_by_images, _gradient_by_filters)
    batching.primitive_batchers[primitive] = _batched
    return primitive


_primitive = _register()
