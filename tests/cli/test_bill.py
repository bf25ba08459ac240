"""Files of bills: the same bill in each format, and one clear line for each bad file."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from purse.cli.bill import read_bill
from purse.errors import InvalidInput
from tests.support.cli import NEW, Command, check_mistake

DAYS = [("2024-03-01", 1709251200), ("2024-03-02", 1709337600), ("2024-03-03", 1709424000)]
LINES = [("2024-03-01", "gpt", "0.1234567890"), ("2024-03-03", "gpt", "3"), ("2024-03-03", "", "1")]
FOCUS = "ChargePeriodStart;ChargePeriodEnd;ResourceName;BilledCost;BillingCurrency\n"


def page(result: Any, begin: str, end: str) -> str:
    """A page of JSON, the lines of which `result` makes; one day has none."""
    data = [
        {
            begin: at,
            end: at + 86_400,
            "results": [result(*line[1:]) for line in LINES if line[0] == day],
        }
        for day, at in DAYS
    ]
    return json.dumps({"object": "page", "data": data, "has_more": False, "next_page": None})


def anthropic(model: str, cost: str) -> dict[str, Any]:
    cents = str(Decimal(cost) * 100)
    return {"amount": cents, "currency": "USD", "model": model or None, "cost_type": "tokens"}


def openai(model: str, cost: str) -> dict[str, Any]:
    amount = {"value": float(cost), "currency": "usd"}
    return {"amount": amount, "line_item": f"{model}, input" if model else None}


FILES = {
    "plain.csv": "\ufeffday,arm,cost,currency\n"
    + "".join(f"{day},{arm},{cost},USD\n" for day, arm, cost in LINES),
    "focus.csv": FOCUS
    + "".join(f"{day}T00:00:00Z;{day}T23:00Z;{arm};{cost};USD\n" for day, arm, cost in LINES),
    "anthropic.json": page(anthropic, "starting_at", "ending_at"),
    "openai.json": f"[{page(openai, 'start_time', 'end_time')}]",
}


@pytest.mark.parametrize("name", FILES)
def test_all_formats_say_the_same(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name])
    bill = read_bill(str(tmp_path / name), {}, {"other": "fees"}, "UTC")
    assert [(line.day, line.name, line.amount) for line in bill.lines] == [
        (day, arm or "fees", Decimal(cost)) for day, arm, cost in LINES
    ]
    assert (bill.days, bill.currency) == ([day for day, _ in DAYS], "USD")


HEAD = "day,arm,cost,currency\n"


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("", "", "bill has no lines"),
        (HEAD, "", "bill has no lines"),
        ('{"data": []}', "", "bill has no lines"),
        ("day,cost,cost\n1,2,3\n", "", "must not have two columns of the same name"),
        (f"{HEAD}2024-03-01,a,1,USD\n2024-03-0", "", "line 3: must have 4 cells"),
        (f"{HEAD}2024-03-01,\xe9,1,USD\n".encode("latin-1"), "", "byte 0xe9 is not UTF-8"),
        (HEAD.encode("utf-16"), "", "is not UTF-8"),
        ("date,arm,cost\n2024-03-01,a,1\n", "", "must have a column 'day', or --column day=NAME"),
        (f"{HEAD}2024-03-01,a,1,USD\n", "--column cost=Sum", "must have a column 'Sum'"),
        (f"{HEAD}2024-03-01,a,1,USD\n", "--column sum=cost", "unknown column of a bill 'sum'"),
        (f"{HEAD}2024-03-01,a,1,USD\n", "--column cost", "column='cost': must be such as"),
        (f"{HEAD}2024-03-01,a,1,USD\n", "--time-zone Mars", "time_zone='Mars'"),
        (f"{HEAD}2024-03-01,a,-1,USD\n", "", "line 2: cost='-1': must be an amount such as 12.34"),
        (f"{HEAD}2024-03-01,a,$1,USD\n", "", "cost='$1': must be an amount"),
        (f"{HEAD}2024-03-01,a,NaN,USD\n", "", "cost='NaN': must be an amount"),
        (f"{HEAD}2024-03-01,a,,USD\n", "", "cost='': must be an amount"),
        (f"{HEAD}2024-03-01,a,1e-99999,USD\n", "", "cost='1e-99999': must be an amount"),
        (f"{HEAD}3/1/2024,a,1,USD\n", "", "day='3/1/2024': must be a date such as 2027-12-31"),
        (f"{HEAD}2024-03-01,a,1,USD\n2024-03-01,a,1,EUR\n", "", "one currency, and has EUR, USD"),
        (f"{FOCUS}2024-03-01;2024-04-01;a;1;USD\n", "", "2024-04-01 must be within a day of UTC"),
        (FILES["openai.json"], "--time-zone Asia/Tokyo", "must be within a day of Asia/Tokyo"),
        (FILES["openai.json"][:-9], "", "must be whole JSON"),
        ("[" * 9**6, "", "must be whole JSON"),
        ('{"usage": []}', "", "must be pages of a cost report"),
        ('{"data": [{"results": 3}]}', "", "must be pages of a cost report"),
    ],
)  # fmt: skip
def test_a_bad_file_gets_one_clear_line(
    text: str | bytes, words: str, message: str, command: Command, tmp_path: Path
) -> None:
    command(f"campaign {NEW}")
    (tmp_path / "bill").write_bytes(text if isinstance(text, bytes) else text.encode())
    check_mistake(command, tmp_path, f"campaign reconcile prompts bill {words} --book", message)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"cannot read .*none\.csv': No such file"):
        read_bill(str(tmp_path / "none.csv"), {}, {}, "UTC")
