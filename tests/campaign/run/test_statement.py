"""Monthly statements: they add up, to the journal and from month to month, and never change."""

from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from purse import Account, Campaign
from purse.base import amounts
from purse.campaign.run.statement import Amounts, Statement, month_of, statements
from purse.campaign.storage.connect import in_memory
from purse.errors import AskRefused, InvalidInput

MONTHS = [f"2027-{month:02}" for month in range(1, 13)]
DAY = 86_400_000
USD = amounts.UNIT
TENANTS = (None, "ada", "=1+2")


class Year:
    """A company with a team, and a campaign below each, whose clock goes on as it likes."""

    def __init__(self, seed: int, carry: str) -> None:
        self.random, self.storage = Random(seed), in_memory()
        self.now = month_of("2027-01", "UTC")[0] + 5 * DAY
        self.storage.now = lambda: self.now
        account: Any = {"resources": ["USD"], "storage": self.storage, "carry": carry}
        company = Account.create("company", budget=40, every="month", **account)
        team = Account.create("team", budget=9, every="week", account="company", **account)
        terms: Any = {"arms": {"small": "0.5", "large": 2}, "policy": "uniform", "cost_min": "0.1"}
        terms |= {"storage": self.storage, "expires_after": 20 * 3600, "budget": 300}
        self.levels: list[Any] = [company, team]
        for above in self.levels[:]:
            self.levels.append(Campaign.create(f"of-{above.name}", account=above.name, **terms))

    def step(self) -> None:
        """One verb, on one of the levels."""
        random = self.random
        level = random.choice(self.levels)
        amount = f"{random.uniform(0.01, 2):.4f}"
        verb = random.choice(("ask", "ask", "tell", "tell", "void", "charge", "top_up", "set"))
        if verb == "top_up":
            level.top_up(amount)
        elif verb == "set" and random.random() < 0.2:
            level.set_budget(
                random.choice([5, 30, 60]),
                random.choice(["now", "next"]) if isinstance(level, Account) else "now",
            )
        elif verb == "charge":
            labels = {"tenant": "ada"} if isinstance(level, Campaign) else None
            level.charge(amount, labels)
        elif isinstance(level, Campaign):
            tickets = level.tickets(["held", "presumed"])
            tenant = random.choice(TENANTS)
            try:
                if verb == "ask":
                    level.ask(labels=tenant and {"tenant": tenant})
                elif tickets and verb == "void":
                    level.void(random.choice(tickets))
                elif tickets:
                    level.tell(random.choice(tickets), 1, amount)
            except AskRefused:
                pass

    def of(self, month: str, name: str = "company") -> list[Statement]:
        return statements(self.storage, name, *month_of(month, "UTC"), "tenant")


@pytest.mark.parametrize(("seed", "carry"), [(1, "none"), (2, "all"), (3, "none"), (4, "all")])
def test_a_year_adds_up_to_the_journal_and_no_month_changes(seed: int, carry: str) -> None:
    year, at_its_end = Year(seed, carry), dict[str, list[Statement]]()
    for month in MONTHS:
        end = month_of(month, "UTC")[1]
        busy = year.random.random() < 0.7  # in others nobody begins the periods that are due
        while year.now < end - 3 * DAY:
            year.now += year.random.randrange(2 * DAY)
            if busy:
                year.step()
        year.now = end - 1
        at_its_end[month] = year.of(month)
        for level, statement in zip(_in_order(year), at_its_end[month], strict=True):
            (purse,), (month_sums,) = level.status().purses, statement.sums
            left = amounts.to_units("left", purse.left) + amounts.to_units("held", purse.held)
            assert (statement.name, month_sums.closing) == (level.name, left)
        year.now = end + 1
    assert [year.of(month) for month in MONTHS] == list(at_its_end.values())
    for position, level in enumerate(_in_order(year)):
        rows = [at_its_end[month][position] for month in MONTHS]
        sums = [row.sums[0] for row in rows]
        assert [after.opening for after in sums] == [0, *(before.closing for before in sums[:-1])]
        whole = Amounts()
        for part in sums:
            whole = whole.plus(part)
        (purse,) = level.status().purses
        paid = sum(amounts.to_units("paid", text) for text in (purse.spent, purse.presumed))
        assert whole.spent + whole.charged == paid
        charged = sum(
            entry.body["amount"][0] for entry in level.journal() if entry.kind == "charged"
        )
        below = [each for each in _in_order(year) if each.status().account == level.name]
        names = [each.name for each in _in_order(year)]
        assert whole.charged == charged + sum(
            at_its_end[month][names.index(each.name)].sums[0].charged
            for month in MONTHS for each in below
        )  # fmt: skip
        for row in rows:
            values = [parts[0] for parts in row.by_value.values()]
            assert sum(part.spent for part in values) == row.sums[0].spent
            assert sum(part.charged for part in values) == row.sums[0].charged
    assert {*at_its_end["2027-03"][0].by_value} <= {"", "ada", "=1+2"}
    assert any(row.sums[0].lapsed for rows in at_its_end.values() for row in rows) == (
        carry == "none"
    )


def _in_order(year: Year) -> list[Any]:
    """The levels as a statement lists them."""
    names = [statement.name for statement in year.of("2027-01")]
    return sorted(year.levels, key=lambda level: names.index(level.name))


def test_a_month_by_hand() -> None:
    """A monthly budget of 10 that carries nothing over: 4 were spent in January, 2 held then."""
    storage, now = in_memory(), [month_of("2027-01", "UTC")[0]]
    storage.now = lambda: now[0]
    company = Account.create(
        "company", budget=10, every="month", resources=["USD"], storage=storage
    )
    campaign = Campaign.create(
        "p", arms={"only": 2}, budget=100, account="company", policy="uniform", storage=storage
    )
    campaign.tell(campaign.ask(labels={"tenant": "ada"}), 1, 1)
    company.charge(3)
    late = campaign.ask()
    now[0] = month_of("2027-03", "UTC")[0] + DAY
    campaign.tell(late, 1, "1.5")
    company.top_up(5)
    by_month = [
        statements(storage, "company", *month_of(month, "UTC"), "tenant") for month in MONTHS[:3]
    ]
    units = [[amount // (USD // 10) for amount in rows[0].sums[0]] for rows in by_month]
    # 4 of the 10 lapse at the end of January, since 2 are held; 12 is left when February ends
    assert units == [[0, 100, 10, 30, 0], [60, 100, 0, 0, 40], [120, 150, 15, 0, 105]]
    assert by_month[0][1].by_value == {"ada": [Amounts(spent=USD)]}
    assert by_month[2][1].by_value == {"": [Amounts(spent=USD * 3 // 2)]}
    # what is below a campaign is itself
    (alone,) = statements(storage, "p", *month_of("2027-01", "UTC"))
    assert (alone.name, alone.sums[0].granted, alone.by_value) == ("p", 100 * USD, {})


@pytest.mark.parametrize(("zone", "first"), [("UTC", (1, 0)), ("Europe/Berlin", (31, 23))])
def test_a_month_begins_at_midnight_of_its_zone(zone: str, first: tuple[int, int]) -> None:
    begin, end = month_of("2027-01", zone)
    instant = datetime.fromtimestamp(begin / 1000, UTC)
    assert ((instant.day, instant.hour), end - begin) == (first, 31 * DAY)
    for wrong in ("2027", "2027-13", "01-2027", ""):
        with pytest.raises(InvalidInput, match="month="):
            month_of(wrong, zone)
