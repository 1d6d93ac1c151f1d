"""Files that are damaged, cut short, of another kind or made to do harm: a clear refusal."""

import hashlib
import json
import pickle
import random
import tempfile
from pathlib import Path

import equinox as eqx
import jax
import numpy as np
import pytest
import safetensors.numpy

from goodprior import storage
from goodprior.data import Scaling
from goodprior.inference import Gaussian, Posterior
from goodprior.networks import MLP
from goodprior.priors import GibbsHierarchicalPrior
from goodprior.storage import file_format
from goodprior.storage.store import VERSION

KEY = jax.random.key(0)


@pytest.fixture(scope="module")
def good() -> bytes:
    """The bytes of a posterior's file."""
    return _bytes_of(_posterior())


def _posterior():
    prior = GibbsHierarchicalPrior(MLP(1, (2,), 1, key=KEY))
    draws = jax.tree.map(lambda leaf: np.asarray(leaf)[None, None], prior.sample(KEY))
    scaling = Scaling(np.zeros(1), np.ones(1), np.zeros(1), np.ones(1))
    return Posterior(prior, Gaussian(0.1), draws, np.ones((1, 1, 1)), {"steps": 3}, scaling)


def _bytes_of(thing) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "good.safetensors")
        storage.write(path, thing, kind="test")
        return path.read_bytes()


def _read(data: bytes, **given):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bad.safetensors")
        path.write_bytes(data)
        return storage.read(path, **given)


def _parts(data: bytes) -> tuple[dict, bytes]:
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def _sealed(header: dict, payload: bytes, about) -> bytes:
    """A file with a seal that fits, made without the library: what a forger can do."""
    text = about if isinstance(about, str) else json.dumps(about)

    def file(seal):
        names = {"__metadata__": {"goodprior": seal + text}} | {
            name: value for name, value in header.items() if name != "__metadata__"
        }
        encoded = json.dumps(names, separators=(",", ":")).encode()
        return len(encoded).to_bytes(8, "little") + encoded + payload

    return file(hashlib.sha256(file("0" * 64)).hexdigest())


def _forged(data: bytes, change) -> bytes:
    header, payload = _parts(data)
    about = json.loads(header["__metadata__"]["goodprior"][64:])
    about = change(about) or about
    return _sealed(header, payload, about)


def test_the_forger_of_these_tests_makes_files_that_are_read(good):
    assert _read(_forged(good, lambda about: None)).report == {"steps": 3}


def test_a_flipped_bit_anywhere_is_noticed(good):
    chance = random.Random(0)
    for place in range(len(good)):
        if place < 200 or place % 7 == 0 or place > len(good) - 50:
            changed = bytearray(good)
            changed[place] ^= 1 << chance.randrange(8)
            with pytest.raises(ValueError, match="cannot be read"):
                _read(bytes(changed))


def test_a_file_cut_short_or_with_more_at_its_end_is_noticed(good):
    chance = random.Random(1)
    for length in (0, 1, 7, 8, 9, *(chance.randrange(len(good)) for _ in range(40))):
        with pytest.raises(ValueError, match="cannot be read"):
            _read(good[:length])
    for more in (b"\0", b" ", good):
        with pytest.raises(ValueError, match="checksum"):
            _read(good + more)


def test_stretches_written_over_or_swapped_are_noticed(good):
    chance = random.Random(2)
    for _ in range(60):
        a, b = sorted(chance.randrange(len(good)) for _ in range(2))
        changed = good[:a] + chance.randbytes(b - a) + good[b:]
        swapped = good[:a] + good[b:] + good[a:b]
        for data in (changed, swapped):
            if data != good:
                with pytest.raises(ValueError, match="cannot be read"):
                    _read(data)


def test_padding_counts(good):
    size = int.from_bytes(good[:8], "little")
    spaces = (size + 8).to_bytes(8, "little") + good[8 : 8 + size] + b" " * 8 + good[8 + size :]
    with pytest.raises(ValueError, match="checksum"):
        _read(spaces)


@pytest.mark.parametrize("version", [0, VERSION - 1, VERSION + 1, -1, 10**30])
def test_other_versions_are_refused(good, version):
    with pytest.raises(
        ValueError, match=f"version {version} of the format .*reads version {VERSION}"
    ):
        _read(_forged(good, lambda about: about.update(format=version)))


def test_a_file_of_an_earlier_goodprior_says_which_and_what_to_do():
    """A real one, written by goodprior 0.1.0."""
    with pytest.raises(ValueError, match=r"written by goodprior 0\.1\.0; .* open it with goodprior "
                       r"0\.1\.0, or fit the model again"):  # fmt: skip
        storage.read(Path(__file__).with_name("prior_format_2.safetensors"))


@pytest.mark.parametrize("version", ["1", None, True, [], 1.0])
def test_versions_that_are_none_are_refused(good, version):
    with pytest.raises(ValueError, match="which version"):
        _read(_forged(good, lambda about: about.update(format=version)))


def test_another_kind_is_refused(good):
    with pytest.raises(ValueError, match="it holds a 'test', and a 'prior' is wanted"):
        _read(good, kind="prior")


def test_a_word_is_needed_for_the_kind(tmp_path):
    with pytest.raises(ValueError, match="kind must be"):
        storage.write(tmp_path / "it", 1, kind="")


class Harm:
    """What a pickle would run."""

    def __reduce__(self):
        return (pytest.fail, ("a file was executed",))


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps(Harm()),
        pickle.dumps({"a": np.zeros(1000)}),
        b"PK\x03\x04" + b"\0" * 100,
        b"",
        b"x,y\n1,2\n" * 100,
        safetensors.numpy.save({"a": np.zeros(3)}),
        safetensors.numpy.save({"a": np.zeros(3)}, {"goodprior": "1"}),
        (2).to_bytes(8, "little") + b"[]",
        (2).to_bytes(8, "little") + b"{}",
        (4).to_bytes(8, "little") + b"null",
        (10**6).to_bytes(8, "little") + b"[" * 10**6,
        (28).to_bytes(8, "little") + b'{"__metadata__":"goodprior"}',
    ],
    ids=range(12),
)
def test_files_of_other_programs_are_refused(data):
    with pytest.raises(ValueError, match="cannot be read"):
        _read(data)


@pytest.mark.parametrize("claim", [2**24 + 1, 2**40, 2**63, 2**64 - 1])
def test_a_huge_header_is_not_even_read(good, claim):
    with pytest.raises(ValueError, match="no model file"):
        _read(claim.to_bytes(8, "little") + good[8:])


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [2**60], "data_offsets": [0, 2**62]},
        {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]},
        {"dtype": "F32", "shape": [2**32, 2**32, 0], "data_offsets": [0, 0]},
        {"dtype": "O", "shape": [1], "data_offsets": [0, 8]},
        {"dtype": "BF16", "shape": [4], "data_offsets": [0, 8]},
        "F32",
    ],
    ids=range(8),
)
def test_arrays_that_are_not_in_the_file_are_refused(entry):
    about = {"format": VERSION, "kind": "test", "spec": {"array": "0", "is": "numpy"}}
    with pytest.raises(ValueError, match="cannot be read"):
        _read(_sealed({"0": entry}, b"\0" * 8, about))


_ARRAY = {"0": {"dtype": "U8", "shape": [8], "data_offsets": [0, 8]}}


@pytest.mark.parametrize(
    "spec",
    [
        {"class": "os.system", "fields": {"command": "ls"}},
        {"class": "Posterior"},
        {"class": "Posterior", "fields": {}},
        {"class": "LogNormal", "fields": {"location": 0, "variance": -1}},
        {"class": "LogNormal", "fields": {"location": 0, "variance": "1"}},
        {"class": "LogNormal", "fields": {"location": 0, "variance": 1, "__class__": 3}},
        {"class": "SGHMC", "fields": {}},
        {"class": "HierarchicalGP", "fields": {"kernel": "os.system"}},
        {"class": "Parameter", "fields": {"layer": "", "kind": "", "shape": 1, "size": 4}},
        {"class": "Architecture", "fields": {"rest": None, "numbered": [0], "parameters": [3]}},
        {"class": "Architecture", "fields": {"rest": None, "numbered": 5, "parameters": []}},
        {"function": "eval"},
        {"function": ["kernel.rbf"]},
        {"float": "__import__('os')"},
        {"float": 3},
        0.5,
        {"tuple": {"a": 1}},
        {"dict": [1, 2]},
        {"dict": [["a"]]},
        {"own": "A", "leaves": {}, "kept": []},
        {"array": "1", "is": "numpy"},
        {"array": "0"},
        {"array": "0", "is": "pickle"},
        {"array": "0", "is": "key", "kind": "threefry2x32"},
        {"array": "0", "is": "key", "kind": "os"},
        {"array": "0", "is": "numpy", "type": "O", "shape": [1]},
        {"array": "0", "is": "numpy", "type": "|V8", "shape": [1]},
        {"array": "0", "is": "numpy", "type": "f8,i4", "shape": [1]},
        {"array": "0", "is": "numpy", "type": "<U2", "shape": [10**12]},
        {"array": "0", "is": "numpy", "type": "<U2", "shape": [-1]},
        {"array": "0", "is": "numpy", "type": "<U2", "shape": "ab"},
        {"array": "0", "is": "jax", "type": "<U2", "shape": [1]},
        {"pickle": "gASV"},
        {},
        [],  # the array is left over
    ],
    ids=range(35),
)
def test_descriptions_that_make_no_sense_are_refused(spec):
    about = {"format": VERSION, "kind": "test", "spec": spec}
    with pytest.raises(ValueError, match="cannot be read"):
        _read(_sealed(_ARRAY, b"\0" * 8, about))


def test_an_array_cannot_be_asked_for_many_times():
    spec = 3 * [{"array": "0", "is": "numpy"}]
    with pytest.raises(ValueError, match="makes no sense"):
        _read(_sealed(_ARRAY, b"\0" * 8, {"format": VERSION, "kind": "test", "spec": spec}))


@pytest.mark.parametrize("depth", [61, 500, 100_000])
@pytest.mark.parametrize("around", [("[", "]"), ('{"tuple":[', "]}"), ('{"dict":[["a",', "]]}")])
def test_deep_nesting_is_refused(depth, around):
    spec = around[0] * depth + "1" + around[1] * depth
    with pytest.raises(ValueError, match="nested"):
        _read(_sealed({}, b"", f'{{"format":{VERSION},"kind":"test","spec":{spec}}}'))


def test_text_that_is_no_json_is_refused():
    with pytest.raises(ValueError, match="cannot be read"):
        _read(_sealed({}, b"", "{'format':1}"))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_draws_that_are_not_finite_are_refused(good, value):
    posterior = _posterior()
    marked = jax.tree.map(lambda leaf: np.full_like(leaf, 7.25), posterior.draws.weights)
    draws = posterior.draws._replace(weights=marked)
    data = _bytes_of(eqx.tree_at(lambda p: p.draws, posterior, draws))
    header, payload = _parts(data)
    assert np.float32(7.25).tobytes() in payload
    payload = payload.replace(np.float32(7.25).tobytes(), np.float32(value).tobytes())
    with pytest.raises(ValueError, match="weights are NaN or infinite"):
        _read(_sealed(header, payload, header["__metadata__"]["goodprior"][64:]))


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        storage.read(tmp_path / "nowhere.safetensors")


def test_folders_and_devices_are_not_files(tmp_path):
    for path in (tmp_path, "/dev/null"):
        with pytest.raises(ValueError, match="not a file"):
            storage.read(path)


def test_a_description_too_long_to_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(file_format, "LARGEST_HEADER", 1000)
    with pytest.raises(ValueError, match="at most 1,000"):
        storage.write(tmp_path / "it", list(range(1000)), kind="test")
    assert not list(tmp_path.iterdir())
