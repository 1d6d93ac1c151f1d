"""Tables on disk give the same draws as tables in memory."""

import jax
import numpy as np
import pytest

from goodprior import MLP, NUTS, SGHMC, Gaussian, GaussianPrior, Scaling, sample_posterior


@pytest.fixture
def table(tmp_path):
    """The same rows twice: on disk, and in memory."""
    rng = np.random.default_rng(0)
    memory = (5 + 3 * rng.normal(size=(500, 2))).astype(np.float32)
    disk = np.memmap(tmp_path / "X", np.float32, "w+", shape=memory.shape)
    disk[:] = memory
    return disk, memory, np.sin(memory[:, 0])


SHORT = SGHMC(burn_in=30, thinning=70)


def run(X, y, sampler=SHORT, **settings):
    prior = GaussianPrior(MLP(2, (5,), 1, key=jax.random.key(0)))
    return sample_posterior(
        prior,
        Gaussian(0.1),
        X,
        y,
        key=jax.random.key(1),
        sampler=sampler,
        chains=2,
        draws=2,
        **settings,
    )


@pytest.mark.slow
def test_a_table_on_disk_gives_the_same_draws_as_in_memory(table):
    disk, memory, y = table
    scaling = Scaling.fit(memory, y)
    from_disk, from_memory = run(disk, y, scaling=scaling), run(memory, y, scaling=scaling)
    for a, b in zip(
        jax.tree.leaves(from_disk.draws), jax.tree.leaves(from_memory.draws), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(from_disk.probe, from_memory.probe, rtol=1e-4, atol=1e-5)


def test_the_scaling_of_a_table_on_disk_is_that_of_the_table_in_memory(table):
    disk, memory, y = table
    np.testing.assert_allclose(Scaling.fit(disk, y).x_mean, Scaling.fit(memory, y).x_mean)
    np.testing.assert_allclose(Scaling.fit(disk, y).x_std, Scaling.fit(memory, y).x_std)


def test_bad_rows_on_disk_are_met_with_a_sentence(table):
    disk, _, y = table
    disk[:] = np.nan
    with pytest.raises(ValueError, match="finite"):
        run(disk, y)


def test_what_needs_all_rows_refuses_a_table_on_disk(table):
    disk, _, y = table
    for sampler in (SGHMC(batch_size=None), NUTS()):
        with pytest.raises(ValueError, match=r"rows on disk .* use a sampler with a batch_size"):
            run(disk, y, sampler)


def test_rows_and_targets_on_disk_must_agree(table):
    disk, _, y = table
    with pytest.raises(ValueError, match="as many rows"):
        run(disk, y[:-1])
