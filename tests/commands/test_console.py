import json
import warnings
from pathlib import Path

import pytest
import typer
from sklearn.exceptions import ConvergenceWarning

from goodprior.commands.console import (
    check_output,
    print_json,
    report_errors,
    report_warnings,
    wrong_option,
)
from goodprior.data.table.errors import TableError


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (TableError("missing", remedy="; use {impute}"), 2, "error: missing; use --impute"),
        (
            TableError("no column 'a'", arguments=("target", "drop")),
            2,
            "error: --target and --drop: no column 'a'",
        ),
        (ValueError("use impute=True"), 2, "error: use impute=True"),
        (FileNotFoundError("there is no file a.csv"), 2, "error: there is no file a.csv"),
        (PermissionError(13, "Permission denied", "a.csv"), 2, "error: a.csv: Permission denied"),
        (OSError(28, "a.csv cannot be written: full"), 2, "error: a.csv cannot be written: full"),
        (FloatingPointError("by step 7"), 1, "the fit failed: by step 7"),
        (KeyboardInterrupt(), 130, "stopped; nothing was kept"),
    ],
)
def test_errors_are_one_line_and_an_exit_code(error, code, words, capsys):
    with pytest.raises(typer.Exit) as ended, report_errors():
        raise error
    assert ended.value.exit_code == code
    said = capsys.readouterr()
    assert (said.out, said.err.strip()) == ("", words)


def test_errors_of_the_program_itself_are_not_hidden():
    with pytest.raises(KeyError), report_errors():
        raise KeyError("a mistake of ours")


def test_warnings_are_lines_without_the_place_in_the_program(capsys):
    with report_warnings() as said:
        warnings.warn("far away", stacklevel=1)
        warnings.warn("far away", stacklevel=1)
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        warnings.warn("R-hat", ConvergenceWarning, stacklevel=1)
    assert said == ["far away", "R-hat"]
    assert capsys.readouterr().err == "warning: far away\nwarning: R-hat\n"


def test_json_has_null_for_numbers_it_does_not_know(capsys):
    print_json({"a": [1.5, float("nan")], "b": {"c": float("inf")}})
    assert json.loads(capsys.readouterr().out) == {"a": [1.5, None], "b": {"c": None}}


def test_a_file_that_cannot_be_written_is_refused_before_any_work(tmp_path):
    check_output(tmp_path / "a.CSV", ".csv", ".tsv")
    with pytest.raises(typer.BadParameter, match="there is no folder"):
        check_output(Path("no/such/a.csv"), ".csv")
    with pytest.raises(typer.BadParameter, match=r"a.xlsx must end in .csv or .tsv"):
        check_output(tmp_path / "a.xlsx", ".csv", ".tsv")


def test_an_error_about_an_option_names_it():
    with pytest.raises(typer.BadParameter, match="is no belief") as error, wrong_option("--belief"):
        raise ValueError("'wild' is no belief")
    assert error.value.param_hint == "--belief"
