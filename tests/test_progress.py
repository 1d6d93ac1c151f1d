import io

import pytest

from goodprior import progress
from goodprior.progress import tracking


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test winds."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_plain_log_has_a_line_now_and_then_and_at_the_end(clock, monkeypatch):
    log = io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    with tracking("sampling") as track:
        for second in range(1, 26):
            clock[0] = float(second)
            track(second, 25, "burn-in")
    assert log.getvalue().splitlines() == [
        "sampling …",
        "sampling: 10/25 burn-in (10 s)",
        "sampling: 20/25 burn-in (20 s)",
        "sampling: 25/25 burn-in (25 s)",
    ]


def test_a_terminal_gets_a_bar(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with tracking("matching") as track:
        track(3, 10, "distance 0.5")
        track(10, 10, "distance 0.1")
    shown = screen.getvalue()
    assert "matching" in shown
    assert "distance 0.1" in shown


def test_quiet_says_nothing(capsys):
    with tracking("matching", quiet=True) as track:
        track(1, 1, "done")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_an_error_inside_passes_through(monkeypatch):
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr("sys.stderr", stream)
        with pytest.raises(KeyError), tracking("matching"):
            raise KeyError
