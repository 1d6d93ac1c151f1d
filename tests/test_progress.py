import io

import pytest

from goodprior import progress
from goodprior.progress import Pace, tracking


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
        "sampling: 2/25 burn-in (2 s, about 23 s left)",
        "sampling: 12/25 burn-in (12 s, about 13 s left)",
        "sampling: 22/25 burn-in (22 s, about 3 s left)",
        "sampling: 25/25 burn-in (25 s)",
    ]


def test_the_time_left_does_not_count_what_compiling_took(clock, monkeypatch):
    log = io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    with tracking("sampling") as track:
        for second in (60, 61, 62):
            clock[0] = float(second)
            track(second - 59, 1000, "")
    assert "about 17 min left" in log.getvalue()


def test_pieces_of_work_are_about_as_long_as_asked():
    pace = Pace(1.0)
    pace.took(1, 30.0)  # with compiling
    for _ in range(5):
        pace.took(pace.pieces, 0.01 * pace.pieces)
    assert pace.pieces == 100
    pace.took(100, 50.0)
    assert pace.pieces == 2


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
