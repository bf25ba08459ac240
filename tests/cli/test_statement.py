from datetime import UTC, datetime

import pytest

from tests.support.cli import Command, complaint

NEW = (
    "account new acme --budget 10 --every month --resource USD",
    "campaign new prompts --account acme --arm a=0.5 --budget 100",
    "campaign ask prompts --label tenant==1+2",
    "campaign ask prompts",
    "campaign tell prompts 1 --reward 1 --cost 0.25",
    "campaign tell prompts 2 --reward 1 --cost 0.5",
    "account charge acme 1.5",
)
TABLE = "acme\tUSD\t0\t10\t0.75\t1.5\t0\t7.75\nprompts\tUSD\t0\t100\t0.75\t0\t0\t99.25\n"
BY_TENANT = """name,value,resource,spent,charged
acme,,USD,0.5,1.5
acme,'=1+2,USD,0.25,0
prompts,,USD,0.5,0
prompts,'=1+2,USD,0.25,0
"""


def test_a_statement_is_a_table_or_rows_of_csv_without_formulas(command: Command) -> None:
    month = f"{datetime.now(UTC):%Y-%m}"
    for line in NEW:
        assert command(line)[0] == 0
    shown = command(f"account statement acme --month {month}")
    by_tenant = command(f"account statement acme --month {month} --label tenant --csv")
    labels = command("campaign labels prompts --csv")[1].splitlines()
    if month != f"{datetime.now(UTC):%Y-%m}":  # the month ended in between
        return
    assert shown == (0, TABLE, "")
    assert by_tenant == (0, BY_TENANT, "")
    assert labels[1:] == ["tenant,'=1+2,USD,1,0.25,0,0,0"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("acme --month may", "month='may': must be a year and a month, such as 2027-01"),
        ("none --month 2027-01", "there is no account 'none'"),
        ("acme --month 2027-01 --storage https://x", "must be the database's own address"),
        ("acme --month 2027-01 --time-zone Here", "time_zone='Here'"),
        ("acme", "Missing option '--month'"),
    ],
)
def test_mistakes_are_one_line(command: Command, words: str, said: str) -> None:
    command(NEW[0])
    assert said in complaint(command, f"account statement {words}")
