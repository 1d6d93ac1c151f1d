"""Run tests on one fault after the other in one process, which has imported everything once.

A fault inside a function is put in by giving the function other code; JAX then forgets what it has
traced. One outside of functions is written to the file before `goodprior` is imported.
"""

import functools
import gc
import io
import json
import os
import resource
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

OPTIONS = ["-q", "-x", "-m", "not slow", "--tb=no", "-rfE"]
# Without the shape checks of the test set-up, which take a third of the time.
OPTIONS += ["-o", "addopts=-p no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]


def pairs(original: CodeType, changed: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """The outermost functions of a module in both versions; None if more than these differ."""
    ours = [c for c in original.co_consts if isinstance(c, CodeType)]
    theirs = [c for c in changed.co_consts if isinstance(c, CodeType)]
    if len(ours) != len(theirs) or _without_code(original) != _without_code(changed):
        return None
    found = []
    for a, b in zip(ours, theirs, strict=True):
        if a.co_flags & 2:  # a function's locals are optimised, those of a class are not
            if a.co_freevars != b.co_freevars:
                return None
            found.append((a, b))
        else:
            inner = pairs(a, b)
            if inner is None:
                return None
            found += inner
    return found


def _without_code(code: CodeType) -> tuple[Any, ...]:
    constants = [repr(c) for c in code.co_consts if not isinstance(c, CodeType)]
    return code.co_code, code.co_names, constants


def first_failing_test(tests: list[str]) -> str:
    """The first test that fails, in words if there is none to name; empty if all pass."""
    import jax
    import pytest

    jax.clear_caches()
    for thing in gc.get_objects():
        if isinstance(thing, functools._lru_cache_wrapper):
            module = getattr(thing, "__module__", None) or ""
            if module.startswith("goodprior"):
                thing.cache_clear()
    with redirect_stdout(io.StringIO()) as out:
        code = pytest.main([*OPTIONS, *tests])
    if code == 0:
        return ""
    lines = [l for l in out.getvalue().splitlines() if l.startswith(("FAILED ", "ERROR "))]
    if not lines:
        return f"exit code {int(code)}"
    return lines[0].partition(" ")[2].partition(" - ")[0]


def say(**message: object) -> None:
    print(json.dumps(message), file=sys.__stdout__, flush=True)


def run(asked: dict[str, Any]) -> None:
    """Import the tests, then try each changed source and say what came of it."""
    import pytest

    path, tests = Path(asked["path"]), asked["tests"]
    with redirect_stdout(io.StringIO()):
        pytest.main(["--collect-only", *OPTIONS, *tests])
    original = compile(path.read_text(), str(path), "exec")
    functions: dict[tuple[str, int], list[FunctionType]] = {}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename == str(path):
            key = thing.__code__.co_qualname, thing.__code__.co_firstlineno
            functions.setdefault(key, []).append(thing)
    killers: set[str] = set()
    for number, source in asked["sources"]:
        say(begin=number)
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime + asked["timeout"])
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        if source is None:  # it is in the file already
            say(number=number, by=first_failing_test(tests))
            continue
        changed = pairs(original, compile(source, str(path), "exec"))
        if changed is None:
            say(number=number, outside=True)
            continue
        for before, after in changed:
            for function in functions.get((before.co_qualname, before.co_firstlineno), []):
                function.__code__ = after
        by = first_failing_test(tests)
        for before, _ in changed:
            for function in functions.get((before.co_qualname, before.co_firstlineno), []):
                function.__code__ = before
        say(number=number, by=by)
        killers |= {by} if "::" in by else set()
    if killers:  # they must pass without any fault
        say(wrong=first_failing_test(sorted(killers)))


if __name__ == "__main__":
    os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    sys.dont_write_bytecode = True
    run(json.loads(Path(sys.argv[1]).read_text()))
    sys.stdout.flush()
    os._exit(0)
