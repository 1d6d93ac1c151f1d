"""Tables as matrices: what is understood, what is refused, and what the messages say."""

import json
from datetime import date, time
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from goodprior.data.table.encode import Columns
from goodprior.data.table.read import read_table
from goodprior.data.table.targets import looks_like_classes, target_values

TRAIN = """age,color,smoker,day,y
30,red,True,2024-01-11,1.5
41.5,blue,False,2024-01-01,2.5
7,red,True,2024-01-02T12:00,0.5
"""


@pytest.fixture
def table(tmp_path):
    """From text to a table, as a file would be read."""

    def read(text):
        (tmp_path / "a.csv").write_text(text)
        return read_table(tmp_path / "a.csv", least_columns=1)

    return read


def test_each_kind_of_column_becomes_numbers(table):
    columns = Columns.fit(table(TRAIN), target="y")
    assert columns.names == ["age", "color=blue", "color=red", "smoker", "day"]
    expected = [[30, 0, 1, 1, 10], [41.5, 1, 0, 0, 0], [7, 0, 1, 1, 1.5]]
    matrix = columns.matrix(table(TRAIN))
    assert matrix.dtype == np.float64
    assert matrix.tolist() == expected


def test_another_table_is_read_as_the_first_one(table):
    columns = Columns.fit(table(TRAIN), target="y")
    new = table("day,more,smoker,color,age\n2023-12-31,9,true,blue,1e3\n")
    assert columns.matrix(new).tolist() == [[1000, 1, 0, 1, -1]]


def test_one_hot_columns_agree_with_pandas(table):
    frame = table("c,d\nx,u\ny,v\nx,w\nz,u\n")
    expected = pd.get_dummies(frame, prefix_sep="=")
    columns = Columns.fit(frame)
    assert columns.names == list(expected.columns)
    assert (columns.matrix(frame) == expected.to_numpy(float)).all()


def test_the_description_goes_through_json(table):
    columns = Columns.fit(table(TRAIN), target="y", impute=True, drop=["age"])
    again = Columns.from_dict(json.loads(json.dumps(columns.to_dict())))
    assert again == columns
    assert (again.matrix(table(TRAIN)) == columns.matrix(table(TRAIN))).all()
    for hostile in ({"kind": "pickle"}, "text", {"kind": "number", "name": 7}, {"more": 1}):
        with pytest.raises(ValueError, match="does not describe a column"):
            Columns.from_dict({"columns": [hostile], "left_out": []})


def test_it_says_in_words_what_was_understood(table):
    words = Columns.fit(table(TRAIN), target="y", impute=True).describe()
    assert words.splitlines() == [
        "4 columns as 5 inputs",
        "  numbers: age",
        "  true or false: smoker",
        "  categories: color (blue, red)",
        "  dates: day (days since 2024-01-01)",
        "  missing values become the median or the most frequent value",
        "  not inputs: y",
    ]


def test_categories_that_were_not_seen_are_zeros_with_a_warning(table):
    columns = Columns.fit(table("c,x\nu,1\nv,2\n"))
    with pytest.warns(UserWarning, match=r"'c' .*not seen in training, 'w' \(lines 3, 4\)"):
        matrix = columns.matrix(table("c,x\nv,1\nw,2\nw,3\n"))
    assert matrix.tolist() == [[0, 1, 1], [0, 0, 2], [0, 0, 3]]


def test_categories_written_as_numbers_are_still_the_same(table):
    columns = Columns.fit(table("c,x\nA,1\n1,2\n2,2\nB,1\n"))
    assert columns.matrix(table("c,x\n1,1\n2,1\n"))[:, :2].tolist() == [[1, 0], [0, 1]]


def test_columns_with_the_same_value_in_every_row_are_left_out(table):
    columns = Columns.fit(table("a,c,x\n1,u,1\n1,u,2\n"))
    assert columns.constant == ("a", "c")
    assert columns.matrix(table("x\n3\n")).tolist() == [[3]]
    assert "  left out, the same value in every row: a, c" in columns.describe()
    with pytest.raises(ValueError, match="a, c: the same value in every row, so there is nothing"):
        Columns.fit(table("a,c\n1,u\n1,u\n"))


def test_a_mark_or_nothing_is_no_constant_column(table):
    marked = table("a,smoker\n1,x\n2,\n3,x\n")
    with pytest.raises(ValueError, match=r"missing: 'smoker' 1 \(line 3\)"):
        Columns.fit(marked)
    with pytest.warns(UserWarning, match="'smoker' is 'x' or empty, and is left out.* write no"):
        assert Columns.fit(marked, impute=True).names == ["a"]


GAPS = "a,b,c,d\n1,u,True,2024-01-01\n,v,,\n3,,False,2024-01-03\n5,v,False,2024-01-09\n"


def test_missing_values_are_named_with_their_lines(table):
    with pytest.raises(ValueError, match="values are missing") as caught:
        Columns.fit(table(GAPS))
    message = str(caught.value)
    for part in ("'a' 1 (line 3)", "'b' 1 (line 4)", "'c' 1 (line 3)", "'d' 1", "impute=True"):
        assert part in message


def test_missing_values_can_be_imputed(table):
    columns = Columns.fit(table(GAPS), impute=True)
    assert columns.names == ["a", "b=u", "b=v", "c", "d"]
    assert columns.matrix(table(GAPS))[1].tolist() == [3, 0, 1, 0, 2]
    assert columns.matrix(table(GAPS))[2].tolist() == [3, 0, 1, 0, 2]
    alone = table("a,b,c,d\n,,,\n")
    assert columns.matrix(alone)[0].tolist() == [3, 0, 1, 0, 2]


def test_missing_values_of_a_new_table_are_named_too(table):
    columns = Columns.fit(table("a,b\n1,2\n2,3\n"))
    with pytest.raises(ValueError, match=r"'b' 6 \(lines 2, 3, 4, 5, 6, …\)"):
        columns.matrix(table("a,b\n" + "1,\n" * 6))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,inf\n2,3\n4,-inf\n", r"'b' must hold finite numbers, found inf \(lines 2, 4\)"),
        ('a,b\n1,"1,234"\n2,"2,500"\n3,7\n', r"'b' has numbers with commas.* with certainty"),
        ("a;b\n1;1001.000,25\n2;7\n", r"'b' has numbers with commas, such as '1001.000,25'"),
        ("a,b\n" + "1,2\n" * 9 + "2,?\n", r"'b' has numbers and also '\?' \(line 11\)"),
        ("a,b\n1,\n2,\n", "values are missing: 'b' 2"),
        ("a,b\n1,03/04/2024\n2,05/06/2024\n", "read in two ways"),
        ("a,b\n" + "".join(f"{i},id{i}\n" for i in range(60)), r"'b' has 60 different .*drop"),
        ("a,b\n1,5 €\n2,7.50 €\n", r"'b' has numbers with a unit, such as '5 €'.* and € into"),
        ("a,b\n1,5 kg\n2,7.50 kg\n", r"'b' has numbers with a unit, such as '5 kg'"),
        ("a,b\n1,$5\n2,$7.50\n", r"'b' has numbers with a unit, such as '\$5'"),
    ],
)
def test_what_is_not_understood_is_said(table, text, message):
    with pytest.raises(ValueError, match=message):
        Columns.fit(table(text))


def test_columns_without_any_value_cannot_be_imputed(table):
    with pytest.raises(ValueError, match="'b' has no values at all"):
        Columns.fit(table("a,b\n1,\n2,\n"), impute=True)


def test_of_many_texts_the_rare_ones_share_an_input(table):
    texts = [f"c{i % 60}" for i in range(600)] + ["c7", "c8"] + [f"rare{i}" for i in range(9)]
    frame = table("a,b\n" + "".join(f"{i},{text}\n" for i, text in enumerate(texts)))
    columns = Columns.fit(frame)
    (column,) = (each for each in columns.columns if each.name == "b")
    assert (len(column.categories), column.grouped) == (50, 19)
    assert {"c7", "c8"} <= set(column.categories)
    assert columns.names[-1] == "b=other"
    assert "the 50 most frequent of 69; the rest count as other)" in columns.describe()
    new = columns.matrix(table("a,b\n1,rare3\n2,never seen\n3,c7\n"))
    assert new[:, -1].tolist() == [1, 1, 0]
    assert (new[:, 1:].sum(axis=1) == 1).all()


def test_a_text_that_is_called_other_is_not_mixed_up_with_the_rest(table):
    texts = ["other"] * 20 + [f"rare{i}" for i in range(60)]
    columns = Columns.fit(table("a,b\n" + "".join(f"{i},{t}\n" for i, t in enumerate(texts))))
    assert columns.names == ["a", "b=other", "b=(other)"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2024/01/11", "2024/01/01"),
        ("11 Jan 2024", "1 Jan 2024"),
        ("11.01.2024", "01.01.2024"),
        ("2024-01-11 00:00:00", "2024-01-01"),
        ("2024-01-11T02:00+02:00", "2024-01-01T00:00Z"),
        ("01/31/2024", "01/21/2024"),
        ("31/01/2024", "21/01/2024"),
        ("11.1.24", "1.1.24"),
        ("11.01.2024 10:30", "01.01.2024 10:30"),
        ("1/31/24 1:05 PM", "1/21/24 1:05 PM"),
    ],
)
def test_dates_in_many_forms_are_days(table, one, other):
    frame = table(f"x,day\n1,{one}\n2,{other}\n")
    columns = Columns.fit(frame)
    assert columns.columns[1].kind == "date"
    assert columns.matrix(frame)[:, 1].tolist() == [10, 0]


def test_dates_in_another_form_than_in_training_are_refused(table):
    columns = Columns.fit(table("x,day\n1,2024-01-01\n2,2024-01-02\n"))
    with pytest.raises(ValueError, match=r"'day' must hold dates .*'soon' \(line 3\)"):
        columns.matrix(table("x,day\n1,2024-01-01\n2,soon\n"))


def test_texts_that_begin_with_numbers_may_be_categories(table):
    columns = Columns.fit(table("x,room\n1,5a\n2,6a\n3,10a\n"))
    assert columns.columns[1].categories == ("10a", "5a", "6a")


def test_texts_with_dashes_are_no_dates(table):
    columns = Columns.fit(table("x,c\n1,10-20-A\n2,3-4-5\n3,v1.2.3\n"))
    assert columns.columns[1].kind == "category"


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("x\n1\n", r"there is no column 's', 'b'; the table has x"),
        ("x,s,b\nlow,u,True\n", r"'x' must hold numbers, found 'low' \(line 2\)"),
        ('x,s,b\n"1,500",u,True\n', "'x' has numbers with commas"),
        ("x,s,b\n1,u,maybe\n", r"'b' must hold true or false, found 'maybe' \(line 2\)"),
    ],
)
def test_a_new_table_that_does_not_fit_is_refused(table, new, message):
    columns = Columns.fit(table("x,s,b\n1,u,True\n2,v,False\n"))
    with pytest.raises(ValueError, match=message):
        columns.matrix(table(new))


def test_names_that_are_not_there_are_refused(table):
    frame = table("a,b\n1,2\n3,4\n")
    for given in ({"target": "z"}, {"target": ["a", "z"]}, {"drop": ["z"]}, {"drop": "z"}):
        with pytest.raises(ValueError, match="there is no column 'z'; the table has a, b"):
            Columns.fit(frame, **given)
    with pytest.raises(ValueError, match="no columns besides"):
        Columns.fit(frame, target="a", drop=["b"])
    with pytest.raises(ValueError, match="no rows"):
        Columns.fit(frame).matrix(frame[:0])
    with pytest.raises(ValueError, match="same name: a"):
        Columns.fit(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_tables_made_by_hand_have_rows_instead_of_lines():
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(["u", "v", "u"]),
            "t": pd.to_datetime(["2024-01-02", "2024-01-01", "2024-01-05"]),
            "b": pd.array([True, False, True], "boolean"),
            "n": pd.array([1, 2, 3], "Int64"),
        }
    )
    columns = Columns.fit(frame)
    assert columns.matrix(frame).tolist() == [[1, 0, 1, 1, 1], [0, 1, 0, 0, 2], [1, 0, 4, 1, 3]]
    frame.loc[1, "n"] = pd.NA
    with pytest.raises(ValueError, match=r"'n' 1 \(row 1\)"):
        columns.matrix(frame)


def test_objects_that_pandas_has_no_type_for():
    frame = pd.DataFrame(
        {
            "money": [Decimal("1.5"), Decimal(2), None],
            "day": [date(2024, 1, 1), None, date(2024, 1, 3)],
            "flag": [True, None, False],
            "digits": ["1.5", "2", None],
            "code": pd.Categorical([1, 2, 1]),
            "month": pd.period_range("2024-01", periods=3, freq="M"),
            "few": pd.arrays.SparseArray([0.0, 0.0, 1.0]),
        }
    )
    columns, matrix = Columns.fit_transform(frame, impute=True)
    kinds = [column.kind for column in columns.columns]
    assert kinds == ["number", "date", "boolean", "number", "category", "date", "number"]
    assert matrix.tolist() == [
        [1.5, 0, 1, 1.5, 1, 0, 0, 0],
        [2, 1, 0, 2, 0, 1, 31, 0],
        [1.75, 2, 0, 1.75, 1, 0, 60, 1],
    ]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([[1], [2]], "'a' holds a list in each cell.*leave it out with drop"),
        ([1j, 2j], "'a' is of type complex128"),
    ],
)
def test_cells_that_are_neither_numbers_nor_text_are_refused(cells, message):
    with pytest.raises(ValueError, match=message):
        Columns.fit(pd.DataFrame({"a": cells}))


@pytest.mark.parametrize(
    ("cells", "unit", "expected"),
    [
        (pd.to_timedelta([36, 120, None], "h"), "days", [1.5, 5]),
        (["1 days 12:00:00", "5 days", ""], "days", [1.5, 5]),
        (["08:30", "23:15", None], "hours", [8.5, 23.25]),
        ([time(8, 30), time(23, 15), None], "hours", [8.5, 23.25]),
        (["0:00:07", "0:01:01.5", None], "seconds", [7, 61.5]),
    ],
)
def test_durations_are_counted_in_a_unit_that_is_said(cells, unit, expected):
    frame = pd.DataFrame({"wait": cells}).replace("", None)
    columns, matrix = Columns.fit_transform(frame, impute=True)
    assert f"  durations: wait (in {unit})" in columns.describe()
    assert matrix[:, 0].tolist() == [*expected, np.mean(expected)]
    with pytest.raises(ValueError, match=r"'wait' must hold durations such as .*found 'long'"):
        columns.matrix(pd.DataFrame({"wait": ["long"]}))


@pytest.mark.parametrize(
    ("days", "seasons"),
    [
        (np.arange(0, 800, 1), ("year", "week")),
        (np.arange(0, 800, 30), ("year",)),
        (np.arange(0, 20, 1 / 24), ("week", "day")),
        (np.arange(0, 800, 200), ()),
        ([0, 5], ()),
    ],
)
def test_seasons_are_those_that_dates_span_twice_and_resolve(days, seasons):
    frame = pd.DataFrame({"day": pd.Timestamp("2022-01-01") + pd.to_timedelta(days, "D")})
    assert Columns.fit(frame).columns[0].seasons == seasons


def test_a_name_that_is_nearly_right_is_suggested_and_long_lists_end(table):
    names = [f"x{i}" for i in range(200)] + ["pressure"]
    frame = table(",".join(names) + "\n" + "1," * 200 + "1\n" + "2," * 200 + "2\n")
    with pytest.raises(ValueError, match=r"'presure' \(did you mean 'pressure'\?\).* 189 more"):
        Columns.fit(frame, target="presure")
    columns = Columns.fit(frame, target="pressure")
    assert columns.matrix(frame).shape == (2, 200)
    assert "numbers: x0, x1" in columns.describe()
    assert "x11 and 188 more" in columns.describe()


def test_names_may_be_numbers():
    frame = pd.DataFrame({0: [1.0, 2.0], 1: [3.0, 4.0]})
    columns = Columns.fit(frame, target="1")
    assert columns.matrix(frame).tolist() == [[1], [2]]
    assert target_values(frame, "1").tolist() == [3, 4]


def test_targets(table):
    frame = table("x,y,z,name,ok\n1,2.5,3,u,True\n2,3.5,4,v,False\n")
    assert target_values(frame, "y").tolist() == [2.5, 3.5]
    assert target_values(frame, "z").dtype == np.int64
    assert target_values(frame, ["y", "z"]).tolist() == [[2.5, 3], [3.5, 4]]
    assert target_values(frame, "name").tolist() == ["u", "v"]
    assert target_values(frame, "ok").tolist() == [True, False]
    with pytest.raises(ValueError, match="must all be numbers: y, name"):
        target_values(frame, ["y", "name"])
    with pytest.raises(ValueError, match="target: there is no column 'w'"):
        target_values(frame, "w")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,\n2,3\n4,\n", r"values are missing: 'y' 2 \(lines 2, 4\)$"),
        ("x,y\n1,inf\n2,3\n", r"'y' must hold finite numbers, found inf \(line 2\)"),
        ('x,y\n1,"1,500"\n2,"2,500"\n', "'y' has numbers with commas"),
    ],
)
def test_targets_that_are_not_understood(table, text, message):
    with pytest.raises(ValueError, match=message):
        target_values(table(text), "y")


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (["a", "b"], True),
        ([True, False], True),
        ([-1, 1, 1], True),
        ([0.0, 1.0, 2.0], True),
        ([1, 2, 3, 4], True),
        ([3, 4, 5], False),  # grades
        ([0.5, 1.5], False),
        ([1, 1, 1], False),
        (list(range(11)), False),
        ([[0, 1], [1, 0]], False),
    ],
)
def test_labels_are_told_from_numbers(y, expected):
    assert looks_like_classes(np.array(y)) is expected
