import polars as pl
import pytest

from purse.lab.data.text_file import read_cells


@pytest.mark.parametrize(
    ("texts", "values", "note"),
    [
        (["0.5", " 1e-3 ", "", None], [0.5, 0.001, None, None], ""),
        (["0,5", "1,234", "2", "1.234,5"], [0.5, 1.234, 2, 1234.5], "commas are decimal commas"),
        (["0,002", "0,0049"], [0.002, 0.0049], "commas are decimal commas"),
        (["0.5", "1,234", "1,234,567.25"], [0.5, 1234, 1234567.25], "commas between thousands"),
        (["1,234,567", "7"], [1234567, 7], "commas between thousands are left out"),
        (["1 234,5", "12\u202f345,5"], [1234.5, 12345.5], "blanks between thousands are left out"),
        (["True", "no", "YES", "0", ""], [1, 0, 1, 0, None], "true and yes are 1"),
        (["free", "1", "$2", "3 €", "4 usd", "30%"], [None, 1, None, None, None, None], ""),
    ],
)
def test_numbers_as_people_write_them(
    texts: list[str | None], values: list[float | None], note: str
) -> None:
    found = read_cells(pl.Series(texts, dtype=pl.String), truth=True)
    assert found.wrong is None
    assert found.values.to_list() == pytest.approx(values)
    assert found.note.startswith(note) if note else not found.note


@pytest.mark.parametrize(
    ("texts", "row", "message"),
    [
        (
            ["7", "1,234"],
            1,
            "may be 1.234 or 1234; say which with decimal (--decimal , or --decimal .)",
        ),
        (["0,5", "0,25", "0.5"], 2, "has a decimal point, and other cells of the column commas"),
    ],
)
def test_what_may_mean_two_things_is_refused(texts: list[str], row: int, message: str) -> None:
    assert read_cells(pl.Series(texts)).wrong == (row, message)


def test_a_declared_mark_decides_and_truth_is_a_number_for_rewards_alone() -> None:
    texts = pl.Series(["7", "1,234", "1.500"])
    assert read_cells(texts, decimal=",").values.to_list() == [7, 1.234, 1500]
    assert read_cells(texts, decimal=".").values.to_list() == [7, 1234, 1.5]
    assert read_cells(pl.Series(["true", "no"])).values.to_list() == [None, None]
