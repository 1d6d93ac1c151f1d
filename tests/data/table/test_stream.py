"""Blocks of a table are the whole table, and only one of them is in memory."""

import gzip
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from goodprior.data.table import stream
from goodprior.data.table.read import read_table
from goodprior.data.table.stream import read_blocks

ROWS = 25


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "a.csv"
    frame = pd.DataFrame({"n": np.arange(ROWS) / 2, "text": [f"t{i % 3}" for i in range(ROWS)]})
    frame.loc[7, "text"] = 'two\nlines, "quoted"'
    frame.loc[11, "n"] = np.nan
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("rows", [1, 7, 12, 24, 25, 100])
def test_blocks_put_together_are_the_table(table, rows):
    blocks = list(read_blocks(table, rows))
    assert [len(block.frame) for block in blocks] == [
        min(rows, ROWS - start) for start in range(0, ROWS, rows)
    ]
    whole = read_table(table)
    found = pd.concat([block.frame for block in blocks])
    pd.testing.assert_frame_equal(found.astype({"n": float}), whole)
    text = pd.concat([block.text for block in blocks])
    pd.testing.assert_frame_equal(text, read_table(table, as_text=True))
    assert blocks[0].only == (rows >= ROWS)
    assert blocks[-1].read == blocks[-1].size == table.stat().st_size


def test_compressed_files_and_those_with_semicolons_come_in_blocks_as_well(table, tmp_path):
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(table.read_bytes().replace(b",", b";")))
    found = pd.concat([block.frame for block in read_blocks(packed, 10)])
    pd.testing.assert_frame_equal(found.astype({"n": float}), read_table(packed))
    packed.write_bytes(packed.read_bytes()[:-12])
    with pytest.raises(ValueError, match="is no complete gzip file"):
        list(read_blocks(packed, 10))


def test_blocks_are_read_when_they_are_asked_for(table, monkeypatch):
    """Two reads for each block, one of them of the cells as they are written."""
    calls = []
    original = stream.read_table
    monkeypatch.setattr(stream, "read_table", lambda *a, **k: calls.append(1) or original(*a, **k))
    blocks = read_blocks(table, 10)
    for i in range(3):
        assert len(calls) == 2 * i
        next(blocks)
    assert next(blocks, None) is None


def test_memory_does_not_grow_with_the_table(tmp_path):
    def peak(rows):
        path = tmp_path / f"{rows}.csv"
        line = b"1.5,2.5,3.5,4.5\n"
        path.write_bytes(b"a,b,c,d\n" + line * rows)
        list(read_blocks(path, 500))  # what is imported counts for nothing
        tracemalloc.start()
        count = sum(len(block.frame) for block in read_blocks(path, 500))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == rows
        return most

    assert peak(8_000) < 1.3 * peak(2_000)


def test_errors_name_the_line_of_the_file(table):
    lines = table.read_text().splitlines()
    lines[20] = "1,2,3"
    table.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=r"a\.csv cannot be .*: line 21 has 3 columns"):
        list(read_blocks(table, 10))


def test_warnings_name_the_file_and_its_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("name,n\nAnna,1\nIda,2\nJosé,3\n".encode("cp1252"))
    with pytest.warns(UserWarning, match=r"Windows-1252: is line 4 right") as warned:
        found = pd.concat([block.text for block in read_blocks(path, 2)])
    assert found["name"].tolist() == ["Anna", "Ida", "José"]
    assert str(warned[0].message).startswith(f"{path} is not UTF-8")


def test_commas_are_decimal_in_later_blocks_where_they_were_in_earlier_ones(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("n;m\n1,5;1\n2;2\n1,234;3\n")
    with pytest.warns(UserWarning, match="'1,234', which was read as 1.234"):
        blocks = list(read_blocks(path, 2))
    assert [block.frame["n"].tolist() for block in blocks] == [[1.5, 2.0], [1.234]]
    assert [block.text.attrs for block in blocks] == [{"decimal": ","}] * 2
