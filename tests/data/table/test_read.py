"""Text files with tables, as people have them."""

import gzip

import numpy as np
import pandas as pd
import pytest

from goodprior.data.table.read import read_table


def _read(folder, text, name="a.csv", **given):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(path, **given)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x,color\n1.5,red\n2,blue\n", "a.csv"),
        ("x;color\r\n1.5;red\r\n2;blue", "a.csv"),
        ("x\tcolor\n1.5\tred\n2\tblue\n", "a.tsv"),
        ("x\tcolor\n1.5\tred\n2\tblue\n", "a.txt"),
        ("\ufeffx, color\n1.5, red\n2, blue\n", "A.CSV"),
        ('"x","color"\n"1.5","red"\n2,"blue"\n', "a.csv"),
        (gzip.compress(b"x,color\n1.5,red\n2,blue\n", mtime=0), "a.csv.gz"),
    ],
)
def test_files_in_all_their_forms_are_the_same_table(tmp_path, text, name):
    frame = _read(tmp_path, text, name)
    assert frame.to_dict("list") == {"x": [1.5, 2.0], "color": ["red", "blue"]}
    assert list(frame.index) == [2, 3]


def test_the_index_is_the_line_in_the_file(tmp_path):
    frame = _read(tmp_path, 'x,note\n1,"two\nlines"\n\n\n2,c\n')
    assert frame.index.tolist() == [2, 6]
    assert frame["note"].tolist() == ["two\nlines", "c"]


def test_what_pandas_writes_is_read_back(tmp_path):
    expected = pd.DataFrame({"a": range(500), "b": [i / 3 for i in range(500)]})
    expected.to_csv(tmp_path / "a.csv", index=False)
    found = read_table(tmp_path / "a.csv")
    np.testing.assert_allclose(found, expected, rtol=1e-15)  # pandas 2 may miss the last bit


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        (" \n\n", "it is empty"),
        ("a,b\n", "no rows"),
        ("a,b\n1,2\n\n3\n", r"line 4 has 1 columns, but there are 2 names .*separated by commas"),
        ("a;b\n1;2;3\n", "line 2 has 3 columns"),
        ('a,b\n"x\ny",2\n1,2,3\n', "line 4 has 3 columns"),
        ("a,b,a\n1,2,3\n", "the same name: a"),
        ("a|b\n1|2\n", r"only 1 column, 'a\|b'; .* comma, semicolon, tab"),
        (",a\n0,1\n", "column 1 has no name"),
        ("1,2\n3,4\n", "must have the names of the columns"),
        (b"a,b\n1,caf\xe9\n", "not UTF-8 text: line 2 has the byte 0xe9"),
        ('a,b\n"1,2\n', "cannot be read as a table"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        _read(tmp_path, text)


def test_one_column_is_enough_where_it_is_asked_for(tmp_path):
    assert _read(tmp_path, "x\n1\n2\n", least_columns=1)["x"].tolist() == [1, 2]


def test_files_that_are_not_there_or_of_another_kind(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_table(tmp_path / "a.csv")
    with pytest.raises(ValueError, match="save spreadsheets as CSV"):
        read_table(tmp_path / "a.xlsx")
    with pytest.raises(ValueError, match="no complete gzip file"):
        _read(tmp_path, gzip.compress(b"a,b\n1,2\n")[:-9], "a.csv.gz")
    with pytest.raises(ValueError, match="no complete gzip file"):
        _read(tmp_path, b"a,b\n1,2\n", "a.csv.gz")


def test_cells_can_stay_as_they_are_written(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("code,size,note\n007,1.50,\n010,,NA\n")
    assert read_table(path, as_text=True).to_numpy().tolist() == [
        ["007", "1.50", ""],
        ["010", "", "NA"],
    ]
