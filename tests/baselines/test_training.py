import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from goodprior.baselines import training
from goodprior.baselines.training import CHUNK, Training
from goodprior.baselines.training_steps import Objective
from goodprior.inference.batches import InMemory
from goodprior.progress import StopSampling

ROWS = 10
DATA = InMemory(jnp.arange(ROWS, dtype=jnp.float32)[:, None], jnp.zeros((ROWS, 1)))


class Toward(Objective):
    """A number that is pulled toward each member's own goal, whatever the rows are."""

    def __call__(self, member, member_data, key, X, y):
        return (member - member_data) ** 2

    def validate(self, member, member_data, X, y):
        return jnp.abs(member - X[0, 0])


class Rows(Objective):
    """Members whose gradient is a count of the rows that they saw."""

    def __call__(self, member, member_data, key, X, y):
        return (member * jax.nn.one_hot(X[:, 0].astype(int), ROWS).sum(0)).sum()


def test_members_are_trained_side_by_side_toward_their_own_goals():
    goals = jnp.array([1.0, -2.0, 3.0])
    run = Training(
        Toward(), jnp.zeros(3), DATA, member_data=goals, batch_size=5, key=jax.random.key(0)
    )
    np.testing.assert_allclose(run.run(500), goals, atol=0.01)
    assert run.epochs == 500


@pytest.mark.parametrize("batch_size", [1, 3, 5, 10, None])
def test_an_epoch_sees_every_row(batch_size):
    run = Training(Rows(), jnp.zeros((1, ROWS)), DATA, batch_size=batch_size, key=jax.random.key(0))
    run.advance(run.batches)
    # Adam's running mean of the gradient is above zero exactly where a row has been seen.
    assert (run.state.optimiser[0].mu > 0).all()


def test_each_member_stops_early_at_its_own_best():
    # The validation rows would have both at 1: the first passes by, the second goes away.
    aside = InMemory(jnp.ones((2, 1)), jnp.zeros((2, 1)))
    run = Training(
        Toward(),
        jnp.zeros(2),
        DATA,
        member_data=jnp.array([5.0, -0.5]),
        learning_rate=0.05,
        validation=aside,
        patience=3,
        batch_size=None,
        key=jax.random.key(0),
    )
    first, second = run.run(1000)
    assert first == pytest.approx(1.0, abs=0.06)
    assert second == pytest.approx(-0.05, abs=0.01)  # after the first epoch
    assert run.stopped
    assert run.epochs < 1000
    assert run.state.members[0] > first  # it had gone on


def test_the_learning_rate_can_change_with_the_epoch():
    run = Training(
        Toward(),
        jnp.zeros(1),
        DATA,
        member_data=jnp.array([5.0]),
        learning_rate=lambda epoch: 0.1 if epoch < 3 else 0.0,
        batch_size=None,
        key=jax.random.key(0),
    )
    assert run.run(10) == pytest.approx(0.3, abs=0.01)  # Adam's first steps are as long as the rate


def test_progress_is_told_and_the_same_key_gives_the_same_result():
    told = []

    def go(seed, epochs=25):
        run = Training(Rows(), jnp.zeros((2, ROWS)), DATA, batch_size=3, key=jax.random.key(seed))
        return run.run(epochs, lambda *news: told.append(news))

    first, again, other = go(0), go(0), go(1)
    done = [steps for steps, *_ in told]
    assert done[: done.index(100) + 1] == sorted(set(done[: done.index(100) + 1]))
    assert told[done.index(100)] == (100, 100, "training")  # 25 epochs of 4 batches
    assert eqx.tree_equal(first, again)
    assert not eqx.tree_equal(first, other)
    assert not np.array_equal(first[0], first[1])  # members see the rows in different orders


def test_a_rate_that_is_too_high_stops_the_run():
    settings = {"member_data": jnp.array([1.0]), "learning_rate": 1e30, "batch_size": 2}
    run = Training(Toward(), jnp.zeros(1), DATA, key=jax.random.key(0), **settings)
    with pytest.raises(FloatingPointError, match="in epoch 1: use a smaller learning_rate"):
        run.run(20)


def test_more_rows_in_a_batch_than_there_are_is_refused():
    with pytest.raises(ValueError, match="batch_size is 11, but there are only 10 rows"):
        Training(Toward(), jnp.zeros(1), DATA, batch_size=11, key=jax.random.key(0))


@pytest.mark.parametrize("pieces", [1, 3, 7, 1000])
def test_steps_fall_into_chunks_without_changing_the_result(pieces, monkeypatch):
    settings = {"batch_size": 3, "key": jax.random.key(0)}
    aside = InMemory(jnp.arange(2.0)[:, None], jnp.zeros((2, 1)))
    settings |= {"member_data": jnp.array([5.0, -0.5]), "validation": aside, "patience": 3}
    whole = Training(Toward(), jnp.zeros(2), DATA, **settings)
    whole.advance(CHUNK * whole.batches)
    monkeypatch.setattr(training.Pace, "took", lambda self, done, seconds: None)
    parts = Training(Toward(), jnp.zeros(2), DATA, **settings)
    parts.pace.pieces = pieces
    parts.run(CHUNK)
    assert parts.steps == CHUNK * 4
    for one, other in zip(jax.tree.leaves(whole.state), jax.tree.leaves(parts.state), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_training_ends_early_where_progress_says_so():
    def enough(done, total, words):
        if done >= 5:
            raise StopSampling

    run = Training(Rows(), jnp.zeros((1, ROWS)), DATA, batch_size=5, key=jax.random.key(0))
    run.run(1000, enough)
    assert run.ended
    assert run.steps < 1000
    assert np.isfinite(run.members).all()
