"""What is written comes back exactly: every class, every kind of array, any plain tree."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tinygp import kernels, transforms

from goodprior import storage
from goodprior.beliefs import (
    KERNELS,
    About,
    Box,
    Factor,
    GaussianProcess,
    Grid,
    HierarchicalGP,
    Rows,
    Stacked,
    SumOfTerms,
    Term,
    matern32,
    periodic,
    rbf,
    rows_and_box,
)
from goodprior.data import Scaling
from goodprior.distributions import Fixed, LogNormal
from goodprior.inference import (
    NUTS,
    SGHMC,
    Binary,
    Categorical,
    Gaussian,
    Heteroscedastic,
    Posterior,
    SamplerReport,
    StudentT,
)
from goodprior.inference.chains import RunState
from goodprior.inference.chunk import Chain
from goodprior.inference.coordinates import Coordinates
from goodprior.inference.samplers.base import Totals
from goodprior.matching import KL, MMD, Energy, KLStein, MatchSchedule, Sliced, Wasserstein
from goodprior.matching.compare import Comparison
from goodprior.matching.match import History
from goodprior.networks import MLP, Architecture, BatchNorm, Fourier, Monomial, Slopes, Waves
from goodprior.priors import (
    FlowPrior,
    GaussianPrior,
    GibbsHierarchicalPrior,
    LearnedNoise,
    MarginalHierarchicalPrior,
    NoiseNetworkPrior,
    NoncentredHierarchicalPrior,
)
from goodprior.storage.known import CLASSES
from goodprior.storage.tree import pack, unpack

KEY = jax.random.key(0)
X = np.linspace(-1, 1, 6).reshape(3, 2)


def _network(outputs=2):
    return MLP(2, (3,), outputs, activation="swish", key=KEY)


PRIORS = {
    "gaussian": lambda network: GaussianPrior(network, 0.3),
    "gibbs": lambda network: GibbsHierarchicalPrior(network, 1.7, refresh_every=7),
    "marginal": lambda network: MarginalHierarchicalPrior(network),
    "noncentred": lambda network: NoncentredHierarchicalPrior(network),
    "flow": lambda network: FlowPrior(network, 2, key=KEY),
    "with a base": lambda network: GaussianPrior(
        Architecture(network, [np.full((1,) * a.ndim, 0.3) for a in jax.tree.leaves(network)])
    ),
    "waves": lambda network: FlowPrior(
        Fourier((Waves((0, 1), 3, periods=(None, 0.5), key=KEY), Monomial((1,))), 2, key=KEY),
        1,
        key=KEY,
    ),
    "slopes": lambda network: GaussianPrior(
        Fourier((Slopes((0, 1), amplitude_varies=True),), 2, key=KEY)
    ),
    "noise network": lambda network: NoiseNetworkPrior(
        GaussianPrior(network), GaussianPrior(_network(1))
    ),
    "noisy": lambda network: LearnedNoise(GibbsHierarchicalPrior(network), LogNormal(-1.1, 0.3), 2),
}
LIKELIHOODS = {
    "gaussian": Gaussian(0.1),
    "student": StudentT(0.3, 5.5),
    "heteroscedastic": Heteroscedastic(1e-5),
    "categorical": Categorical(2),
}
BELIEFS = {
    **{name: GaussianProcess(kernel(0.7, 1.3)) for name, kernel in KERNELS.items()},
    "ard": GaussianProcess(rbf(jnp.array([0.5, 2.0])), outputs=3),
    "sum": GaussianProcess(rbf(2.0) + periodic(period=0.5) * matern32(10.0) + 0.25),
    "tinygp": GaussianProcess(
        transforms.Subspace(0, transforms.Cholesky(2.0, kernels.Cosine(jnp.array(1.5))))
    ),
    "uncertain": HierarchicalGP(LogNormal(0.1, 1.0), Fixed(2.0), "matern12", ard=False, outputs=2),
    "by-function": HierarchicalGP(Fixed(0.1), Fixed(2.0), rbf),
    "terms": SumOfTerms((Term(About(1.0, 0.3), (Factor(1, period=0.5),), (0,)),), (1.0, 2.0)),
    "of terms": SumOfTerms((Term(About(2.0), (Factor(1, smoothness=1.5),)),)).gaussian_process(),
    "stacked": Stacked((GaussianProcess(rbf()), HierarchicalGP.default(2))),
}
OTHERS = {
    "sets": rows_and_box(X) + Grid([-1, 0], [1, 2], per_input=3) + Rows(X, 2, 0.1),
    "box": Box([0], [1]),
    "scaling": Scaling.fit(X, X[:, 0]),
    "samplers": (SGHMC().with_short_step(), SGHMC(noise="gaussian", batch_size=None), NUTS(0.9)),
    "report": [SamplerReport("nuts", 12, 1.0, 0.1, acceptance=float("nan"), divergences=3)],
    "distances": [Energy(), MMD(), Sliced(7), Wasserstein(3), KL(0.1), KLStein(share=0.5)],
    "schedule": [MatchSchedule(steps=7, optimiser="rmsprop", points=None)],
    "binary": Binary(),
    "history": [History(np.ones(3), 1.5, None, Comparison(0.1, 0.2, 1.5))],
}


def there_and_back(folder, thing, **given):
    storage.write(folder / "it.safetensors", thing, kind="test")
    return storage.read(folder / "it.safetensors", kind="test", **given)


def assert_identical(a, b):
    """The same tree with the same leaves, to the last bit."""
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for one, other in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        assert type(one) is type(other)
        if isinstance(one, jax.Array | np.ndarray | np.generic):
            assert one.dtype == other.dtype
            assert one.shape == other.shape
            assert getattr(one, "weak_type", None) == getattr(other, "weak_type", None)
            if isinstance(one, jax.Array) and jnp.issubdtype(one.dtype, jax.dtypes.prng_key):
                one, other = jax.random.key_data(one), jax.random.key_data(other)
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
        else:
            assert repr(one) == repr(other)  # NaN is NaN, and -0.0 is not 0.0


def _latent(prior, *axes):
    """Numbers in the shape of a latent, without compiling a draw."""
    chance, shapes = np.random.default_rng(0), jax.eval_shape(prior.sample, KEY)
    return jax.tree.map(lambda s: chance.gamma(2.0, size=(*axes, *s.shape)).astype("f4"), shapes)


def _posterior(prior, likelihood, scaling=None):
    report = SamplerReport("sghmc", 12, 1.0, 0.1, acceptance=float("nan"), temperature_5=1 / 3)
    probe = np.ones((2, 4, 5), np.float32)
    return Posterior(prior, likelihood, _latent(prior, 2, 3), probe, report, scaling)


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize("prior", PRIORS)
def test_posteriors_come_back(tmp_path, prior, likelihood):
    posterior = _posterior(PRIORS[prior](_network()), LIKELIHOODS[likelihood], Scaling.fit(X, X))
    assert_identical(posterior, there_and_back(tmp_path, posterior))


@pytest.mark.parametrize("prior", ["flow", "noisy"])
def test_posteriors_predict_the_same(tmp_path, prior):
    posterior = _posterior(PRIORS[prior](_network()), Gaussian(0.1), Scaling.fit(X, X))
    again = there_and_back(tmp_path, posterior)
    assert again.functions(X).tobytes() == posterior.functions(X).tobytes()


@pytest.mark.parametrize("sampler", [SGHMC(), NUTS()], ids=lambda sampler: sampler.name)
@pytest.mark.parametrize("prior", PRIORS)
def test_checkpoints_come_back(tmp_path, prior, sampler):
    prior = PRIORS[prior](_network())
    position, held = Coordinates(prior, prior.moving).split(_latent(prior))
    chain = Chain(sampler.init(KEY, position), held, Totals.zero())
    posterior = _posterior(prior, Gaussian(0.1))
    posterior = eqx.tree_at(
        lambda p: p.run_state, posterior, RunState(chain, jnp.asarray(40)), is_leaf=_is_none
    )
    thing = {"posterior": posterior, "keys": jax.random.split(KEY, 2), "steps": 40}
    again = there_and_back(tmp_path, thing)
    assert_identical(thing, again)
    assert again["posterior"].prior.moving == prior.moving
    assert again["posterior"].is_sampled


def _is_none(leaf):
    return leaf is None


def test_a_prior_draws_the_same_weights(tmp_path):
    prior = PRIORS["gaussian"](_network())
    again = there_and_back(tmp_path, prior)
    latent = prior.sample(KEY)
    assert_identical(again.sample(KEY), latent)
    assert float(again.log_prob(latent)) == float(prior.log_prob(latent))


@pytest.mark.parametrize("belief", BELIEFS)
def test_beliefs_come_back(tmp_path, belief):
    belief = BELIEFS[belief]
    again = there_and_back(tmp_path, belief)
    assert_identical(belief, again)
    assert eqx.tree_equal(belief, again)


def test_a_belief_draws_the_same_functions(tmp_path):
    belief = BELIEFS["stacked"]
    draw = belief.sample(KEY, jnp.asarray(X, jnp.float32), 2)
    again = there_and_back(tmp_path, belief).sample(KEY, jnp.asarray(X, jnp.float32), 2)
    assert draw.tobytes() == again.tobytes()


@pytest.mark.parametrize("name", OTHERS)
def test_the_other_objects_come_back(tmp_path, name):
    assert_identical(OTHERS[name], there_and_back(tmp_path, OTHERS[name]))


def _old(name, **fields):
    """An object as files of version 0.1 describe it."""
    return {"class": name, "fields": fields}


@pytest.mark.parametrize("form", ["gibbs", "marginal", "noncentred"])
def test_a_hierarchical_prior_of_an_older_file_comes_back_in_its_form(form):
    prior = GibbsHierarchicalPrior(_network(), 1.7, refresh_every=7).in_form(form)
    spec, arrays = pack(prior)
    spec = _old("HierarchicalPrior", **{**spec["fields"], "form": form})
    assert_identical(prior, unpack(spec, arrays))


def test_distances_and_layers_of_older_files_come_back_without_what_they_no_longer_have():
    rate = {"float": (0.2).hex()}
    schedule = {"steps": 400, "draws": 64, "points": 50, "bank": 100, "settles": True}
    old = _old("Energy", **schedule, learning_rate=rate, pull=rate)
    assert_identical(Energy(), unpack(old, {}))
    assert_identical(BatchNorm(), unpack(_old("BatchNorm", statistics=None, notes=None), {}))


def test_an_activation_of_ones_own_is_refused_by_name(tmp_path):
    network = MLP(1, (2,), 1, activation=_square, key=KEY)
    with pytest.raises(ValueError, match=r"activation cannot be stored: _square is a function of"):
        storage.write(tmp_path / "it", network, kind="test")
    known = MLP(1, (2,), 1, activation=jnp.tanh, key=KEY)
    assert there_and_back(tmp_path, known).activation is jnp.tanh


def _square(x):
    return x**2


def test_every_class_has_one_name():
    assert len(set(CLASSES.values())) == len(CLASSES)


@pytest.mark.parametrize(
    "dtype",
    [
        *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
        *("float16", "float32", "float64", "complex64", "complex128", ">f8", "<i2"),
        *("<U5", "S3", "M8[D]", "m8[ns]"),
    ],
)
def test_numpy_arrays_of_all_types(tmp_path, dtype):
    for shape in ((), (0,), (2, 3), (2, 0, 1)):
        array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
        again = there_and_back(tmp_path, array)
        assert again.dtype == np.dtype(dtype)
        assert_identical(array, again)
        assert again.flags.writeable
    assert_identical(array.T, there_and_back(tmp_path, array.T))


def test_jax_arrays_of_all_types(tmp_path):
    names = ("bool", "int8", "uint32", "int32", "float16", "bfloat16", "float8_e5m2", "complex64")
    arrays = {name: jnp.ones((2, 3), name) for name in (*names, "float32")}
    with jax.enable_x64(True):
        arrays |= {name: jnp.full(2, 3, name) for name in ("float64", "int64", "complex128")}
        arrays["wide and weak"] = jnp.asarray(0.1)
    arrays |= {"weak": jnp.asarray(0.1), "weak int": jnp.asarray(3), "weak c": jnp.asarray(1j)}
    arrays["weak and long"] = jnp.full((2, 3), 0.1)
    assert arrays["weak"].weak_type
    assert_identical(arrays, there_and_back(tmp_path, arrays))


@pytest.mark.parametrize("kind", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_keys_draw_the_same_numbers(tmp_path, kind):
    keys = jax.random.split(jax.random.key(5, impl=kind), 3)
    again = there_and_back(tmp_path, keys)
    assert again.dtype == keys.dtype
    assert_identical(jax.random.normal(again[1]), jax.random.normal(keys[1]))


_leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | hnp.arrays(st.sampled_from(["f4", "f8", "i4", "?"]), hnp.array_shapes(min_dims=0, max_dims=2))
    | hnp.arrays(hnp.unicode_string_dtypes(max_len=3), 2)
    | st.floats().map(np.float64)
)
_trees = st.recursive(
    _leaves,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(thing=_trees)
def test_plain_trees_come_back(tmp_path_factory, thing):
    again = there_and_back(tmp_path_factory.getbasetemp(), thing)
    assert type(again) is type(thing)
    assert_identical(thing, again)
    if isinstance(thing, dict):
        assert list(again) == list(thing)


def test_the_same_thing_gives_the_same_bytes(tmp_path):
    paths = [tmp_path / name for name in ("a", "b")]
    for path in paths:
        storage.write(path, GaussianPrior(_network()), kind="prior")
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_other_programs_can_open_the_file(tmp_path):
    path = tmp_path / "it.safetensors"
    storage.write(path, [np.arange(3), jnp.ones((2, 2))], kind="test")
    arrays = safetensors.numpy.load_file(path)
    assert [a.tolist() for _, a in sorted(arrays.items())] == [[0, 1, 2], [[1, 1], [1, 1]]]


class Node(dict):
    """A dict of another class."""


_ENDLESS: list = []
_ENDLESS.append(_ENDLESS)


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        ({"a": [1, {2, 3}]}, r"the thing\['a'\]\[1\] cannot be stored: a builtins.set"),
        ({1: 2}, "its key 1 is not text"),
        (Node(), "Node"),
        (np.array([None]), "arrays of type object"),
        (np.zeros(2, "f4,i4"), "arrays of type"),
        (GaussianProcess(rbf(), mean=lambda x: x[0]), r"thing.mean cannot be stored: .*lambda"),
        (GaussianProcess(kernels.Custom(jnp.dot)), r"thing.kernel cannot be stored: .*Custom"),
        (10**4000, "too large"),
        (_ENDLESS, "nested"),
        (1j, "complex"),
    ],
)
def test_what_cannot_be_stored_is_named(tmp_path, thing, message):
    with pytest.raises(ValueError, match=message):
        storage.write(tmp_path / "it", thing, kind="test")
    assert not list(tmp_path.iterdir())


def test_weights_that_are_not_finite_are_not_stored(tmp_path):
    posterior = _posterior(GaussianPrior(_network()), Gaussian(0.1))
    posterior.draws.layers[0].bias[0, 1, 2] = np.nan
    with pytest.raises(ValueError, match="1 weights are NaN or infinite"):
        storage.write(tmp_path / "it", [posterior], kind="test")


def test_arrays_without_values_cannot_be_stored(tmp_path):
    @jax.jit
    def inside(x):
        storage.write(tmp_path / "it", {"x": x}, kind="test")
        return x

    with pytest.raises(ValueError, match=r"the thing\['x'\] cannot be stored: .*compiled"):
        inside(jnp.ones(2))


def test_every_class_of_the_library_that_users_make_is_known():
    made = {type(leaf).__name__ for leaf in itertools.chain(OTHERS.values(), BELIEFS.values())}
    assert made - {"tuple", "list"} <= set(CLASSES)
