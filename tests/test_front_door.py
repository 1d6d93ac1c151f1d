import doctest
import inspect
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


def test_importing_goodprior_alone_loads_nothing_heavy():
    program = (
        "import goodprior, sys\n"
        "heavy = {'jax', 'equinox', 'matplotlib', 'sklearn', 'scipy', 'pandas', 'numpy', 'typer'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


DOCUMENTED = [name for name in goodprior.__all__ if name != "__version__"]


def without_example(names):
    """Those whose own docstring has no example under the heading of numpydoc."""
    return [
        name
        for name in names
        if "Examples\n--------\n" not in inspect.cleandoc(getattr(goodprior, name).__doc__ or "")
        or not doctest.DocTestParser().get_examples(getattr(goodprior, name).__doc__)
    ]


def test_every_public_name_has_an_example():
    """That examples run is seen by `--doctest-modules`, which collects all docstrings of `src`."""
    assert len(DOCUMENTED) > 90
    assert without_example(DOCUMENTED) == []


@pytest.mark.parametrize("name", DOCUMENTED)
def test_docstrings_start_with_a_sentence(name):
    first = inspect.cleandoc(getattr(goodprior, name).__doc__).splitlines()[0]
    assert first.endswith((".", ":"))
    assert "dataclass" not in first


FUNCTIONS = [name for name in DOCUMENTED if inspect.isfunction(getattr(goodprior, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_describe_every_parameter(name):
    function = getattr(goodprior, name)
    text = inspect.cleandoc(function.__doc__)
    for parameter in inspect.signature(function).parameters:
        section = text.split("Parameters\n----------\n")[-1]
        named = [line for line in section.splitlines() if line and not line.startswith(" ")]
        assert any(parameter in line.replace("*", "").split(" : ")[0].split(", ") for line in named)
