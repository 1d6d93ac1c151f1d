"""Belief files: what is written is read back, and hostile files get a clear error."""

import json
import re

import pytest

from goodprior.beliefs.file import MOST_BYTES, StoredBelief, belief_from_json, read_belief

GOOD = {"goodprior": "belief", "version": 1, "name": "Ann", "belief": {"lengthscale": {"age": 10}}}


def text(**changes):
    return json.dumps({**GOOD, **changes})


@pytest.mark.parametrize(
    "spec",
    [
        "smooth",
        {"lengthscale": {"größe": "10 x/ 2"}, "amplitude": 3, "ignore": ["dose"]},
        ["trend", {"kernel": "periodic", "period": {"month": 12}}],
        {"mixture": ["smooth", {"lengthscale": 2}], "weights": [2, 1]},
    ],
)
def test_what_is_written_is_read_back(spec, tmp_path):
    stored = StoredBelief("Ann", spec, 2.5, "y", {"age": (20.0, 80.0)}, "Smooth.")
    path = tmp_path / "ann.json"
    path.write_text(stored.to_json(), encoding="utf-8")
    assert read_belief(path) == stored


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "no JSON"),
        ("{", "no JSON"),
        ("[]", "must be a JSON object"),
        (b"\xff\xfe", "not UTF-8"),
        ("[" * 100_000, "nested more than 8 deep"),
        ('{"a":' * 9 + "1" + "}" * 9, "nested more than 8 deep"),
        (" " * (MOST_BYTES + 1), "more than 200,000 bytes"),
        (text(version=2), "version 2"),
        (text(evil="rm -rf"), "found ['evil']"),
        (text(belief={"__class__": "os"}), "found ['__class__']"),
        (text(belief={"lengthscale": 1, "kernel": "rbf", "exec": 1}), "found ['exec']"),
        (text(belief=3), "must be a word, a table or a list"),
        (text(belief=[["smooth"]]), "found a list"),
        (text(belief={"mixture": [], "weights": []}), "must be a list of beliefs"),
        (text(belief={"mixture": ["smooth"], "x": 1}), "a mixture may have"),
        (text(name=["a"]), "name must be a text"),
        (text(noise=-1), "noise must be a number above zero"),
        (text(noise=True), "noise must be a number above zero"),
        (text(columns={"age": [80, 20]}), "'age' has [80, 20]"),
        (text(columns=[1]), "columns must be a table"),
        (text(name="a" * 3000), "more than 2000 letters"),
        (text(belief=["smooth"] * 2000), "more than 1000 entries"),
        (text().replace("10", "NaN"), "numbers must be finite, found NaN"),
        (text().replace("10", "-Infinity"), "numbers must be finite"),
        (text().replace("10", "1e999"), "finite and below 1e30"),
        (text().replace("10", "1" + "0" * 400), "finite and below 1e30"),
        ('{"goodprior": "belief", "goodprior": "x"}', "given twice"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "belief"}), 'no "belief"'),
    ],
)
def test_a_hostile_or_broken_file_gets_a_clear_error(content, words, tmp_path):
    with pytest.raises(ValueError, match=re.escape(words)) as error:
        belief_from_json(content)
    assert len(str(error.value)) < 500
    path = tmp_path / "bad.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=r"bad\.json is no belief file"):
        read_belief(path)
