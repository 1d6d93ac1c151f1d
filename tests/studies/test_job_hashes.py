"""Stored rows stay valid: the hash of a job is that of its settings, whatever the code becomes."""

import hashlib
import json
from pathlib import Path

import pytest

from goodprior.studies.catalogue import MODULES, study
from goodprior.studies.engine.store import Job, Store

RESULTS = Path(__file__).parents[2] / "results"
STORES = sorted(RESULTS.glob("*/jobs.jsonl"))

# Study, preset, the hash of its first job, a digest of the hashes of all its jobs, how many they
# are, and how many rows of that protocol were stored when this was written.
PINNED = [
    ("function-priors", "paper", "0b8cf4eb86116154", "df7d7474a6aba4c7", 8, 8),
    ("function-priors", "quick", "d3535b0646cea3d6", "1871884e62a304fb", 8, 0),
    ("regression-1d", "paper", "464288974519f1c4", "8196a2f76107a931", 6, 1),
    ("regression-1d", "quick", "464288974519f1c4", "c54c31fb13279c0c", 6, 6),
    ("banana", "paper", "d1e2492aa3c0bf05", "f4c132ccfe19848a", 10, 0),
    ("banana", "quick", "4b187a1ca34a5bf4", "78ba009f03784cfc", 10, 10),
    ("wasserstein-vs-kl", "paper", "b9f6e95f88d7b0e2", "1b08c3b83f884c22", 32, 12),
    ("wasserstein-vs-kl", "quick", "2d0088cc5c636300", "c8df1db5173fce90", 3, 0),
    ("uci-regression", "paper", "a70331e3a8b99fdd", "5a95111e743a1dbf", 2100, 960),
    ("uci-regression", "quick", "df44fb7dd51e6324", "060759364c281ec6", 24, 0),
    ("uci-classification", "paper", "93212016209169a0", "8de8755cbb778e37", 420, 72),
    ("uci-classification", "quick", "31f2b7bd5faa6824", "cdbcb89f38b82d98", 16, 0),
    ("cross-validation", "paper", "c48fc3e73a066fd2", "860823fa858ee939", 13128, 0),
    ("cross-validation", "quick", "2baf3021a8d2a96d", "7a3c20cafa63a8b9", 19, 1256),
    ("empirical-bayes", "paper", "969fbc72ca6b7890", "c048c787f16ceda0", 300, 80),
    ("empirical-bayes", "quick", "6bfe6e0d83464709", "575194c79a228d80", 16, 0),
    ("active-learning", "paper", "b1ce1f79bf41b140", "ea587b54e9112b5d", 160, 8),
    ("active-learning", "quick", "492215c5ba552f59", "25bc08676b7b3459", 4, 0),
    ("map", "paper", "1e68f55994e6d13e", "36cab569f8c68558", 725, 195),
    ("map", "quick", "296788595201685b", "e6275fab5e3a1f28", 20, 0),
    ("hmc", "paper", "b59cb43f5217848e", "88af960f2e93e0b9", 200, 16),
    ("hmc", "quick", "0c96447474d6fd27", "93170aad60e8f6c2", 4, 0),
    ("joint-vs-separate", "paper", "2d9898080436f5f3", "ccb60f6355806b96", 24, 6),
    ("joint-vs-separate", "quick", "047f829591687d6f", "6191deea39a6363d", 4, 0),
    ("convergence", "paper", "cdcfc3e23453495f", "c882fa4bb566bc32", 38, 0),
    ("convergence", "quick", "9c97a0d6715d17cb", "8464c45f661c87e1", 6, 6),
    ("class-priors", "paper", "9644c78f83a2e020", "a7a14b830aa52124", 5, 5),
    ("class-priors", "quick", "9644c78f83a2e020", "2c1b4707134bcc1d", 5, 5),
    ("cifar10", "paper", "3f716766756ef11e", "fa5b883235d9e8c3", 72, 0),
    ("cifar10", "quick", "90086d9d03af7547", "74317e3bfe75753a", 10, 10),
    ("cifar10-corrupted", "paper", "97131e2ddd33fc0a", "1f45e48e55eacb0c", 60, 0),
    ("cifar10-corrupted", "quick", "fd9a79ff69caf131", "09c885559c5b9e5b", 5, 5),
    ("small-data", "paper", "26d9a69499e14bc7", "73be027e431d6dba", 480, 0),
    ("small-data", "quick", "248e022b508cf7b9", "aafb047e8ac248b5", 36, 36),
    ("out-of-distribution", "paper", "31f871b707850332", "521537486c16c329", 6, 0),
    ("out-of-distribution", "quick", "6727e2c9cf711b32", "86b49a9650c86fb0", 6, 6),
    ("empirical-bayes-images", "paper", "b1f01dafce2e49dd", "554d4dc91798eb54", 72, 0),
    ("empirical-bayes-images", "quick", "3c7902a6dc340d59", "66413b1828979ed2", 6, 0),
    ("map-images", "paper", "ff59f434500e773e", "4ff67a7f2d12e3dd", 36, 0),
    ("map-images", "quick", "628abc9af6d60e22", "46e333d5106b050d", 3, 0),
    ("convergence-images", "paper", "da9a78fc8d172d18", "c1be00bc3b492271", 6, 0),
    ("convergence-images", "quick", "33be6b206689b371", "a890ee60bfdc301f", 2, 0),
]


@pytest.mark.parametrize("path", STORES, ids=lambda path: path.parent.name)
def test_every_stored_hash_is_the_hash_of_its_settings(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["hash"] for line in lines] == [Job(line["settings"]).hash for line in lines]


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
    assert len(known & results.keys()) >= stored
