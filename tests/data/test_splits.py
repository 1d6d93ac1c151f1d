import jax
import numpy as np
import pytest

from goodprior.data import hold_out


def test_rows_are_kept_or_held_out_at_random():
    kept, held = hold_out(jax.random.key(0), 50, 0.3)
    assert (len(kept), len(held)) == (35, 15)
    assert np.array_equal(np.sort(np.concatenate([kept, held])), np.arange(50))
    assert not np.array_equal(held, hold_out(jax.random.key(1), 50, 0.3)[1])


@pytest.mark.parametrize("share", [0.001, 0.999])
def test_neither_part_is_empty(share):
    assert all(len(part) >= 1 for part in hold_out(jax.random.key(0), 5, share))


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(ValueError, match="between 0 and 1"):
        hold_out(jax.random.key(0), 5, share)
