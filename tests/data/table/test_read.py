"""Text files with tables, as people have them."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest

from goodprior.data.table.read import read_table

PLAIN = b"x,color\n1.5,red\n2,blue\n"


def zipped(files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


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
        ("x|color\n1.5|red\n2|blue\n", "a.txt"),
        ("x;color\n1,5;red\n2;blue\n", "a.csv"),
        ('x,color\n"1,5",red\n2,blue\n', "a.csv"),
        ("x\tcolor\r\n1,5\tred\r\n2\tblue\r\n".encode("utf-16"), "a.txt"),
        (gzip.compress(PLAIN, mtime=0), "a.csv.gz"),
        (bz2.compress(PLAIN), "a.csv.bz2"),
        (lzma.compress(PLAIN), "a.csv.xz"),
        (zipped({"a.csv": PLAIN, "__MACOSX/a.csv": b"?"}), "a.zip"),
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
        ("a b\n1 2\n", r"only 1 column, 'a b'; .* comma, semicolon, tab, bar"),
        (",a\n0,1\n", "column 1 has no name"),
        ("1,2\n3,4\n", "must have the names of the columns"),
        (b"a,b\n1,caf\xe9\x81\n", "not UTF-8 text: line 2 has the byte 0xe9"),
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
    with pytest.raises(ValueError, match=r"name ending in \.csv.*save spreadsheets as \.xlsx"):
        read_table(tmp_path / "a.ods")
    with pytest.raises(ValueError, match=r"a\.pdf must be a table with a name ending in"):
        read_table(tmp_path / "a.pdf")
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


@pytest.mark.parametrize(
    ("data", "name", "message"),
    [
        (lzma.compress(PLAIN)[:-9], "a.csv.xz", "no complete xz file"),
        (bz2.compress(PLAIN)[:-9], "a.csv.bz2", "no complete bzip2 file"),
        (zipped({"a.csv": PLAIN})[:-9], "a.zip", "no complete zip file"),
        (zipped({"a.csv": PLAIN, "b.csv": PLAIN}), "a.zip", "one table, and holds a.csv, b.csv"),
        (zipped({"read.me": b"!"}), "a.zip", "one table, and holds read.me"),
        (b"PK", "a.xlsx", "no Excel workbook, or has a password"),
        (b"PK", "a.parquet", "cannot be read as a table"),
        (b"PK", "a.feather", "cannot be read as a table"),
    ],
)
def test_what_is_not_what_its_name_says_is_refused(tmp_path, data, name, message):
    with pytest.raises(ValueError, match=message):
        _read(tmp_path, data, name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;b\n1.234,5;7\n3,7;8,25\n", {"a": [1234.5, 3.7], "b": [7, 8.25]}),
        ("a;b\n0,125;7\n3,700;8\n", {"a": [0.125, 3.7], "b": [7, 8]}),
        ("a;b\n1.5;7,5\n2.25;8\n", {"a": [1.5, 2.25], "b": [7.5, 8]}),
        (
            "a;day\n1,5;01.02.2024\n2;03.02.2024\n",
            {"a": [1.5, 2], "day": ["01.02.2024", "03.02.2024"]},
        ),
        ('a,b\n"1,234.50",7\n"3,700",8\n', {"a": [1234.5, 3700], "b": [7, 8]}),
        ('a,b\n"1,234,567",7\n900,8\n', {"a": [1234567, 900], "b": [7, 8]}),
        ("a;b\n1.234.567;7\n900;8\n", {"a": [1234567, 900], "b": [7, 8]}),
        ("a;b\n1 234,5;7\n3;8\n", {"a": [1234.5, 3], "b": [7, 8]}),
        ("a,b\n1'234.5,7\n3,8\n", {"a": [1234.5, 3], "b": [7, 8]}),
        ("a;b\n-1,5e3;7\n;8\n", {"a": [-1500, np.nan], "b": [7, 8]}),
        ("x\n1,5\n2\n3,25\n", {"x": [1.5, 2, 3.25]}),
        ("sep=;\nx;y\n1,5;2\n", {"x": [1.5], "y": [2]}),
        ("a;b\n1,5;2,5\n\n3,x;4\n", {"a": ["1,5", "3,x"], "b": [2.5, 4]}),
    ],
)
def test_commas_in_numbers_are_told_apart(tmp_path, text, expected):
    found = _read(tmp_path, text, least_columns=1).to_dict("list")
    pd.testing.assert_frame_equal(
        pd.DataFrame(found), pd.DataFrame(expected), check_dtype=False, check_column_type=False
    )


@pytest.mark.parametrize(
    ("text", "decimal", "expected"),
    [
        ("a;b\n1,234;7,5\n", None, 1.234),
        ("a;b\n1.234;7,5\n", None, 1234),
        ('a,b\n"1,234",7.5\n', None, 1234),
        ("a;b\n1,234;7\n", ",", 1.234),
        ("a;b\n1.234;7\n", ",", 1234),
        ("a;b\n1,234;7\n", ".", 1234),
    ],
)
def test_what_other_numbers_decide_is_said(tmp_path, text, decimal, expected):
    with pytest.warns(UserWarning, match=rf"'a' has numbers such as .* read as {expected}: other"):
        assert _read(tmp_path, text, decimal=decimal)["a"].tolist() == [expected]


def test_what_nothing_decides_stays_text(tmp_path):
    frame = _read(tmp_path, "a;b\n1,234;7\n5,678;8\n")
    assert frame["a"].tolist() == ["1,234", "5,678"]
    assert "decimal" not in frame.attrs


def test_text_that_is_not_utf_8_is_read_as_spreadsheets_write_it_with_a_warning(tmp_path):
    with pytest.warns(UserWarning, match="Windows-1252: is line 1 right, 'größe;b'"):
        frame = _read(tmp_path, "größe;b\n1,5;é\n".encode("cp1252"))
    assert frame.to_dict("list") == {"größe": [1.5], "b": ["é"]}


TYPED = pd.DataFrame(
    {
        "x": [1.0, 2.5, None],
        "kind": ["u", None, "v"],
        "day": pd.date_range("2024-01-01", periods=3),
        "ok": [True, False, True],
    }
)


def test_a_workbook_is_read_from_its_first_sheet_with_the_lines_of_the_sheet(tmp_path):
    pytest.importorskip("openpyxl")
    sheet = TYPED.assign(price=["1.234,5", "3,7", "4"], kind=["u", "#DIV/0!", " v "])
    with pd.ExcelWriter(tmp_path / "a.xlsx") as book:
        pd.DataFrame().to_excel(book, sheet_name="empty", index=False)
        sheet.to_excel(book, sheet_name="data", index=False, startrow=2, startcol=1)
        sheet.to_excel(book, sheet_name="more")
    with pytest.warns(UserWarning, match="only its first sheet is read, 'data', not 'more'"):
        frame = read_table(tmp_path / "a.xlsx")
    assert frame.index.tolist() == [4, 5, 6]
    assert frame["price"].tolist() == [1234.5, 3.7, 4]
    pd.testing.assert_frame_equal(
        frame.drop(columns="price").reset_index(drop=True), TYPED, check_dtype=False
    )


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.feather.gz"])
def test_parquet_and_feather_keep_their_types(tmp_path, name):
    pytest.importorskip("pyarrow")
    typed = TYPED.assign(level=pd.Categorical(["a", "b", "a"]), n=pd.array([1, None, 3], "Int64"))
    stream = io.BytesIO()
    typed.to_parquet(stream) if "parquet" in name else typed.to_feather(stream)
    data = gzip.compress(stream.getvalue()) if name.endswith("gz") else stream.getvalue()
    frame = _read(tmp_path, data, name)
    pd.testing.assert_frame_equal(frame.reset_index(drop=True), typed)
    assert frame.index.name == "row"


def test_an_index_with_a_name_is_a_column(tmp_path):
    pytest.importorskip("pyarrow")
    TYPED.set_index("kind").to_parquet(tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet").columns[0] == "kind"


@pytest.mark.parametrize(
    ("name", "package"),
    [("a.xlsx", "openpyxl"), ("a.parquet", "pyarrow"), ("a.feather", "pyarrow")],
)
def test_a_package_that_is_missing_is_named_with_its_extra(tmp_path, name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ValueError, match=rf"{package} .*pip install 'goodprior\[tables\]'"):
        _read(tmp_path, b"", name)
