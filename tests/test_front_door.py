import subprocess
import sys

import pytest

import goodprior


@pytest.mark.parametrize("name", goodprior.__all__)
def test_every_public_name_is_there(name):
    assert getattr(goodprior, name) is not None
    assert name in dir(goodprior)


def test_unknown_names_are_unknown():
    with pytest.raises(AttributeError, match="'goodprior' has no attribute 'magic'"):
        goodprior.magic  # noqa: B018


def test_importing_goodprior_alone_does_not_load_jax():
    program = "import goodprior, sys; print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("False", "")
