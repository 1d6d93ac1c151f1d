"""Stored rows stay valid: the hash of a job is that of its settings, whatever the code becomes."""

import hashlib
import json
from pathlib import Path

import pytest

from goodprior.studies.catalogue import MODULES, study
from goodprior.studies.engine.store import Job, Store
from goodprior.studies.protocols.superseded import superseded

RESULTS = Path(__file__).parents[2] / "results"
STORES = sorted(RESULTS.glob("*/jobs.jsonl"))

# Study, preset, the hash of its first job, a digest of the hashes of all its jobs, how many they
# are, and how many rows of that protocol were stored when this was written.
PINNED = [
    ("function-priors", "paper", "0b8cf4eb86116154", "e7a21e3571cb2051", 8, 6),
    ("function-priors", "quick", "d3535b0646cea3d6", "1871884e62a304fb", 8, 0),
    ("regression-1d", "paper", "464288974519f1c4", "f53850f7ced62cd4", 6, 1),
    ("regression-1d", "quick", "464288974519f1c4", "69a31eb13cae19c6", 6, 1),
    ("banana", "paper", "7bc4e43677237c47", "638e679a96269d47", 10, 0),
    ("banana", "quick", "71e227cac4848ea6", "2c45088f3eeb6a83", 10, 0),
    ("wasserstein-vs-kl", "paper", "2c9b6944ed5be6db", "a3ad95d845d56eb4", 32, 0),
    ("wasserstein-vs-kl", "quick", "9626e683bb32bf4f", "4ea5a4b1821c3e12", 3, 0),
    ("uci-regression", "paper", "01fa242a30d3a6d2", "5ae132cfd848ecac", 2100, 333),
    ("uci-regression", "quick", "1bce9ee5c5058f60", "456f68b935fbc3db", 24, 0),
    ("uci-classification", "paper", "35ba3e0d4c6238e7", "9d5b6d62a8fb128b", 420, 12),
    ("uci-classification", "quick", "af6d1744ee6e3fae", "a907abdffc32cf31", 16, 0),
    ("cross-validation", "paper", "7d3ea5c15407b887", "3abae62835cee517", 13128, 0),
    ("cross-validation", "quick", "a516e64e6eaf3de2", "e3977fc99f1c102d", 19, 0),
    ("empirical-bayes", "paper", "88e9bef091f19f10", "5794e82934c4e6a2", 300, 40),
    ("empirical-bayes", "quick", "6afb468cc9dfc32e", "f056737fadda9858", 16, 0),
    ("active-learning", "paper", "14804a460eb4eb4d", "c7e8545f7d9897ae", 160, 0),
    ("active-learning", "quick", "e9a33b8843b47cad", "01af0994e1e95f43", 4, 0),
    ("map", "paper", "1e68f55994e6d13e", "d2274aa8e913ad8a", 725, 60),
    ("map", "quick", "296788595201685b", "1738815c292efbc5", 20, 0),
    ("hmc", "paper", "0f4bc6e1866c6a97", "a0eb9bde099c7ec7", 200, 0),
    ("hmc", "quick", "ff4c6d3625a2ec93", "fe47da8202c3f998", 4, 0),
    ("converged", "paper", "ea93e9b073c15f1f", "87fbf39a6a026a6a", 160, 1),
    ("converged", "quick", "ea93e9b073c15f1f", "46c94f9db0681598", 4, 1),
    ("joint-vs-separate", "paper", "d86df277746faa75", "6ca1179903ea030e", 24, 4),
    ("joint-vs-separate", "quick", "047f829591687d6f", "6191deea39a6363d", 4, 0),
    ("convergence", "paper", "cadbdd49d6f68d2f", "4c7df406ea9dcf1d", 38, 0),
    ("convergence", "quick", "9c97a0d6715d17cb", "8464c45f661c87e1", 6, 6),
    ("class-priors", "paper", "6a48ffdb825e5fc6", "f5b8449ddb9ed6e3", 5, 5),
    ("class-priors", "quick", "6a48ffdb825e5fc6", "5f5bb354fb09a5b0", 5, 5),
    ("cifar10", "paper", "b2c7f12657919336", "6b3daf978280b0b8", 72, 0),
    ("cifar10", "quick", "e2fdb1c2c01a53d7", "1f4eabd062daf71c", 6, 1),
    ("cifar10-corrupted", "paper", "fa0edab49a169593", "6ef34b7e5bab881e", 60, 0),
    ("cifar10-corrupted", "quick", "8e979ba666109d30", "bf4d774cde0fcb4d", 5, 1),
    ("small-data", "paper", "2d10fc577e35e466", "75f6d550bdf8662f", 480, 0),
    ("small-data", "quick", "b297105294940338", "428d96bb974ab9cd", 36, 0),
    ("out-of-distribution", "paper", "674e9878b7cf568f", "532fc79103d16fb5", 6, 0),
    ("out-of-distribution", "quick", "497fd956f4cf2f5c", "90118598910465e7", 6, 1),
    ("empirical-bayes-images", "paper", "b1f01dafce2e49dd", "3f9c85a40611930f", 56, 0),
    ("empirical-bayes-images", "quick", "3c7902a6dc340d59", "fc4b70af93fcf86d", 6, 0),
    ("map-images", "paper", "ff59f434500e773e", "36b7f09a7d79f29d", 36, 0),
    ("map-images", "quick", "628abc9af6d60e22", "c4d65709bb5880d5", 3, 0),
    ("convergence-images", "paper", "61e6779d45a0a4c1", "26d012e79e331725", 6, 0),
    ("convergence-images", "quick", "8e7c41ba5e99eb24", "fce194eac2a9b71a", 2, 0),
]


@pytest.mark.parametrize("path", STORES, ids=lambda path: path.parent.name)
def test_every_stored_hash_is_the_hash_of_its_settings(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["hash"] for line in lines] == [Job(line["settings"]).hash for line in lines]


@pytest.mark.parametrize("name", [path.parent.name for path in STORES])
def test_every_stored_row_is_of_a_preset_or_says_why_it_no_longer_counts(name):
    one, results = study(name), Store(RESULTS / name).results()
    found = [result.settings for result in results.values()]
    known = set().union(*(one.belonging(preset, found) for preset in one.presets))
    for key, result in results.items():
        assert (key in known) == (superseded(result.settings) is None), result.settings


def test_every_study_and_preset_is_pinned():
    assert [row[:2] for row in PINNED] == [(n, p) for n in MODULES for p in study(n).presets]


@pytest.mark.parametrize(
    ("name", "preset", "first", "digest", "count", "stored"),
    PINNED,
    ids=[f"{name}-{preset}" for name, preset, *_ in PINNED],
)
def test_planned_jobs_keep_their_hashes(name, preset, first, digest, count, stored):
    one = study(name)
    hashes = list(dict.fromkeys(job.hash for job in one.jobs(one.presets[preset])))
    assert (hashes[0], len(hashes)) == (first, count)
    assert hashlib.sha256(" ".join(sorted(hashes)).encode()).hexdigest()[:16] == digest
    results = Store(RESULTS / name, one.reuses).results()
    known = one.belonging(preset, [result.settings for result in results.values()])
    assert len(known.keys() & results.keys()) >= stored
