import colorsys

import numpy as np
import pytest
from PIL import Image, ImageDraw
from scipy import ndimage

from goodprior.data import corruption_kinds, data_folder, load
from goodprior.data.corruptions import BLOCK, CORRUPTIONS, corrupt

# Where CIFAR-10-C's constants let a severer picture be nearer to the clean one: the affine map of
# elastic_transform gets gentler as its field of shifts gets stronger, and glass_blur's fourth and
# fifth severities differ in the blur after which pixels are moved; motion_blur's third and fourth
# have the same trail but for a far end that is as good as nothing.
NOT_FURTHER = {"elastic_transform", "glass_blur", "motion_blur"}


@pytest.fixture(scope="module")
def pictures():
    """Discs of any colour before a sloping sky, and some grain: edges, planes and texture."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(20):
        sky = np.linspace(*rng.uniform(60, 200, (2, 3)), 32)[:, None].repeat(32, axis=1)
        image = Image.fromarray(np.clip(sky + rng.normal(0, 8, sky.shape), 0, 255).astype("uint8"))
        low = rng.integers(2, 14, 2)
        box = [*low.tolist(), *(low + rng.integers(8, 16, 2)).tolist()]
        ImageDraw.Draw(image).ellipse(box, fill=tuple(rng.integers(0, 256, 3).tolist()))
        found.append(np.asarray(image))
    return np.stack(found)


def _distance(a, b):
    return np.abs(a.astype(float) - b).mean()


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_every_corruption_at_every_severity(name, pictures):
    before = pictures.copy()
    found = [corrupt(pictures, name, severity) for severity in range(1, 6)]
    np.testing.assert_array_equal(pictures, before)
    assert {image.shape for image in found} == {pictures.shape}
    assert {image.dtype for image in found} == {np.dtype(np.uint8)}
    far = [_distance(image, pictures) for image in found]
    assert far[0] > 0.3
    assert max(far) < 90  # there is still something to see
    if name not in NOT_FURTHER:
        assert (np.diff(far) > 0).all(), far


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_the_same_seed_gives_the_same_pictures(name, pictures):
    few = pictures[:6]
    np.testing.assert_array_equal(corrupt(few, name, 3, seed=1), corrupt(few, name, 3, seed=1))
    drawn = {"gaussian_blur", "defocus_blur", "zoom_blur", "brightness", "contrast", "pixelate"}
    if name not in {*drawn, "jpeg_compression"}:  # those have nothing random
        assert _distance(corrupt(few, name, 3, seed=2), corrupt(few, name, 3, seed=1)) > 0.05


def test_there_are_sixteen_kinds_with_five_severities():
    assert len(CORRUPTIONS) == 16
    assert {len(kind.constants) for kind in CORRUPTIONS.values()} == {5}


def test_many_pictures_are_spoilt_block_by_block(pictures):
    many = np.tile(pictures[:1], (BLOCK + 2, 1, 1, 1))
    noisy = corrupt(many, "gaussian_noise", 1)
    np.testing.assert_array_equal(noisy[:3], corrupt(many[:3], "gaussian_noise", 1)[:3])
    assert _distance(noisy[BLOCK], noisy[0]) > 1  # another block, other numbers


@pytest.mark.parametrize("name", ["gaussian_noise", "shot_noise", "speckle_noise"])
def test_noise_has_the_deviation_of_its_constant(name):
    grey = np.full((40, 32, 32, 3), 128, np.uint8)
    value = 128 / 255
    for severity, c in enumerate(CORRUPTIONS[name].constants, 1):
        expected = {"gaussian_noise": c, "speckle_noise": c * value}.get(name, (value / c) ** 0.5)
        found = corrupt(grey, name, severity).astype(float) / 255
        assert found.std() == pytest.approx(expected, rel=0.03)
        assert found.mean() == pytest.approx(value - 0.5 / 255, abs=0.002)


def test_impulses_are_as_many_as_asked():
    grey = np.full((40, 32, 32, 3), 128, np.uint8)
    spoilt = corrupt(grey, "impulse_noise", 5)
    assert (spoilt != 128).mean() == pytest.approx(0.07, rel=0.05)
    assert (spoilt == 0).sum() == pytest.approx((spoilt == 255).sum(), rel=0.1)


def test_brightness_is_the_value_of_hue_saturation_and_value(pictures):
    bright = corrupt(pictures, "brightness", 4)
    for before, after in zip(pictures[0, 5, ::4] / 255, bright[0, 5, ::4], strict=True):
        hue, saturation, value = colorsys.rgb_to_hsv(*before)
        expected = colorsys.hsv_to_rgb(hue, saturation, min(value + 0.2, 1))
        np.testing.assert_allclose(after, np.array(expected) * 255, atol=1)


def test_contrast_keeps_the_mean_and_shrinks_the_deviation(pictures):
    flat = corrupt(pictures, "contrast", 5).astype(float)
    np.testing.assert_allclose(flat.mean((1, 2)), pictures.mean((1, 2)), atol=1)
    np.testing.assert_allclose(flat.std((1, 2)), 0.15 * pictures.std((1, 2)), atol=0.5)


@pytest.mark.parametrize("factor", [1.0, 1.04, 1.25, 1.75, 2.25])
def test_enlarging_is_that_of_scipy(pictures, factor):
    """By its general zoom, which is a hundred times slower."""
    x = pictures[:2] / 255
    kept = int(np.ceil(32 / factor))
    edge = (32 - kept) // 2
    middle = x[:, edge : edge + kept, edge : edge + kept]
    large = ndimage.zoom(middle, (1, factor, factor, 1), order=1)
    edge = (large.shape[1] - 32) // 2
    expected = large[:, edge : edge + 32, edge : edge + 32]
    np.testing.assert_allclose(corruption_kinds._enlarged(x, factor), expected, atol=1e-12)


@pytest.mark.parametrize("name", ["gaussian_blur", "defocus_blur", "motion_blur", "zoom_blur"])
def test_blur_leaves_a_plain_picture_alone(name):
    plain = np.full((2, 32, 32, 3), 77, np.uint8)
    assert _distance(corrupt(plain, name, 5), plain) <= 1


def test_defocus_spreads_a_point_evenly_over_its_disc():
    dot = np.zeros((1, 32, 32, 3))
    dot[0, 16, 16] = 1
    spread = corruption_kinds.defocus_blur(dot, (1.5, 0.1), np.random.default_rng(0))[0, :, :, 0]
    np.testing.assert_allclose(spread[15:18, 15:18], 1 / 9, atol=1e-6)
    assert spread.sum() == pytest.approx(1)


def test_motion_has_a_direction():
    dot = np.zeros((2, 32, 32, 1))
    dot[:, 16, 16] = 1
    level, steep = corruption_kinds._moved(dot, (6, 2.0), np.array([0.0, -90.0]))[..., 0]
    assert level.sum() == pytest.approx(1)
    assert (np.argwhere(level > 1e-9)[:, 0] == 16).all()
    assert (np.argwhere(steep > 1e-9)[:, 1] == 16).all()
    trail = np.exp(-0.5 * (np.arange(13) / 2) ** 2)
    np.testing.assert_allclose(level[16, 16:3:-1], trail / trail.sum(), atol=1e-12)


def test_clouds_fill_the_range_and_are_smooth_when_noise_decays():
    rough, smooth = (
        corruption_kinds._clouds(200, decay, np.random.default_rng(0)) for decay in (1.2, 3.0)
    )
    for field in (rough, smooth):
        assert (field.min((1, 2)) == 0).all()
        assert (field.max((1, 2)) == 1).all()
    steps = [np.abs(np.diff(field, axis=1)).mean() for field in (rough, smooth)]
    assert steps[1] < 0.3 * steps[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((np.zeros((1, 32, 32, 3)), "fog", 1), "pictures in bytes"),
        ((np.zeros((1, 32, 32, 1), np.uint8), "fog", 1), "pictures in bytes"),
        ((np.zeros((1, 32, 32, 3), np.uint8), "frost", 1), "corruption must be one of"),
        ((np.zeros((1, 32, 32, 3), np.uint8), "fog", 6), "severity must be from 1 to 5"),
        ((np.zeros((1, 32, 32, 3), np.uint8), "fog", 0), "severity"),
    ],
)
def test_what_cannot_be_spoilt_is_an_error(arguments, words):
    with pytest.raises(ValueError, match=words):
        corrupt(*arguments)


@pytest.mark.skipif(data_folder() is None, reason="GOODPRIOR_DATA is not set")
def test_photographs_get_worse_with_severity():
    try:
        photographs = load("cifar10").X[-40:]
    except FileNotFoundError:
        pytest.skip("cifar10 is not in the folder")
    for name in CORRUPTIONS.keys() - NOT_FURTHER:
        far = [_distance(corrupt(photographs, name, s), photographs) for s in (1, 2, 3, 4, 5)]
        assert (np.diff(far) > 0).all(), (name, far)
