"""A provider's bill beside the books, by day and arm, or by day and the value of a label.

The books are what journals count: what was reported or is presumed spent, on the day of its ask,
and what was charged. Amounts are units of one resource.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from itertools import count, product
from math import ceil
from typing import NamedTuple, TypeAlias

from purse.base import amounts
from purse.campaign.api.journal import Entry
from purse.campaign.ledger.entry import SEAL, LedgerEntry
from purse.campaign.terms.calendar import local_day
from purse.campaign.views.labels import labels_by_day

_Key: TypeAlias = tuple[str, str]  # a day such as 2027-12-31, and an arm or a label's value
_BILL = "reconciled "  # begins the request of a charge that a bill asked for
_HALF_A_CENT, _FINEST = Fraction(1, 200), -12  # decimals
_MISSING, _UNBILLED, _MISPRICED = DUE = "missing", "not billed", "mispriced"


class BillLine(NamedTuple):
    """One line of a bill."""

    day: str
    name: str
    amount: Decimal
    is_repeat: bool  # whether an earlier line of the file has the same words


class Bill(NamedTuple):
    """The lines of a bill."""

    lines: Sequence[BillLine]
    days: Sequence[str]  # all that it covers, in order
    currency: str  # in capitals; "" if no line has one


class _Sum(NamedTuple):
    """What the books have of a day and a name, without what bills have charged."""

    tickets: int = 0
    paid: int = 0
    held: int = 0


class Books:
    """The sums of journals.

    time_zone   of the days
    label       the key of the label whose values are compared; "": arms are
    resource    its number
    """

    def __init__(self, time_zone: str, label: str = "", resource: int = 0) -> None:
        self.time_zone, self.label, self.resource = time_zone, label, resource
        self.names: set[str] = set()  # that may be booked
        self.sums: dict[_Key, _Sum] = {}
        self._charges: dict[str, tuple[int, int]] = {}  # their number and units, by request
        self.sealed = ""  # the last day of which entries were sealed

    def add(self, journal: Iterable[Entry]) -> None:
        """Count in a whole journal."""
        named = self._named(journal)
        for row in labels_by_day(named, self.time_zone, None, amounts.LARGEST):
            parts = (texts[self.resource] for texts in (row.spent, row.presumed, row.held))
            spent, presumed, held = (amounts.to_units("books", text) for text in parts)
            self._count(row.day or "", row.value, _Sum(row.tickets, spent + presumed, held))

    def _named(self, journal: Iterable[Entry]) -> Iterator[LedgerEntry]:
        """Yield the entries that are no charges; asks have the name that counts as only label."""
        arms: dict[int, str] = {}
        for entry in journal:
            body = entry.body
            if entry.kind == "created":
                arms = dict(enumerate(body.get("arms", ())))
            elif entry.kind == "arm_added":
                arms[body["arm"]] = body["name"]
            elif entry.kind == SEAL:
                arms |= {arm: name for arm, name, *_ in body["state"]["level"][0]["arms"]}
                last = local_day(self.time_zone, body["state"]["before"] - 1)
                self.sealed = max(self.sealed, last)
            elif entry.kind == "asked":
                labels = body.get("labels", {})
                name = labels.get(self.label) if self.label else arms.get(body["arm"])
                body = {**body, "labels": {} if name is None else {"": name}}
            if entry.kind == "charged":
                self._charge(entry)
            elif entry.kind != SEAL:
                yield LedgerEntry(*entry[:5], body, "")
        self.names |= set() if self.label else set(arms.values())

    def _charge(self, entry: Entry) -> None:
        """Count in a charge: by the request of a bill, or on its own day under its label."""
        units, request = entry.body["amount"][self.resource], entry.request or ""
        name = (entry.body.get("labels") or {}).get(self.label or "arm")
        if request.startswith(_BILL):
            number, before = self._charges.get(request.rpartition(" ")[0], (0, 0))
            self._charges[request.rpartition(" ")[0]] = number + 1, before + units
        elif name is not None:
            self._count(local_day(self.time_zone, entry.at), name, _Sum(paid=units))

    def _count(self, day: str, name: str, more: _Sum) -> None:
        self.names.add(name)
        before = self.sums.get((day, name), _Sum())
        self.sums[day, name] = _Sum(*map(sum, zip(before, more, strict=True)))

    def charged(self, day: str, name: str) -> tuple[str, int]:
        """Return the request of the next charge of bills for a day and a name, and the units so
        far.

        It has the number of charges before it: of two who book at once, one has no effect.
        """
        digest = blake2b(f"{self.label}={name}".encode(), digest_size=8).hexdigest()
        number, units = self._charges.get(f"{_BILL}{day} {digest}", (0, 0))
        return f"{_BILL}{day} {digest} {number + 1}", units


class Row(NamedTuple):
    """What is billed and what is booked of a day and a name."""

    day: str
    name: str
    billed: int
    booked: int
    finding: str = ""  # one of `DUE`, or why it is not compared
    price: str = ""  # that fits, of a name whose every day is off by the same factor
    request: str = ""  # of the charge that makes both equal

    @property
    def difference(self) -> int:
        """What the books lack; negative if they have too much."""
        return self.billed - self.booked


class _Pair(NamedTuple):
    """A row that is compared."""

    row: Row
    slack: int  # by how much the bill's lines may be rounded, in units
    books: _Sum


def reconcile(bill: Bill, books: Books, today: str) -> tuple[list[Row], Row]:
    """Return the rows that differ or are not compared, and the total of all that are.

    today   from this day on days are open, like those on which money is held

    Amounts that differ by no more than the rounding of the bill's lines count as equal.
    """
    names = sorted({line.name for line in bill.lines})
    billed: dict[_Key, tuple[Fraction, Fraction]] = {}  # the sum, and its rounding
    rows, pairs = list[Row](), list[_Pair]()
    for day, name, amount, is_repeat in bill.lines:
        if is_repeat:
            rows.append(Row(day, name, _units(amount), 0, "repeated"))
        else:
            before, rounding = billed.get((day, name), (Fraction(0), Fraction(0)))
            last_digit = Fraction(10) ** max(_FINEST, int(amount.as_tuple().exponent))
            rounding += min(_HALF_A_CENT, last_digit / 2)
            billed[day, name] = before + Fraction(amount), rounding
    for day, name in product(bill.days, names):
        total, rounding = billed.get((day, name), (Fraction(0), Fraction(0)))
        request, charged = books.charged(day, name)
        has = books.sums.get((day, name), _Sum())
        row = Row(day, name, _units(total), has.paid + charged, request=request)
        if day <= books.sealed:
            rows += [row._replace(finding="sealed")] * (row.billed > 0)
        elif name in books.names and day < today and not has.held:
            pairs.append(_Pair(row, _units(rounding) + 1, has))  # the sum is rounded, too
        elif row.billed or has.tickets:
            finding = "open" if name in books.names else "no such name"
            rows.append(row._replace(finding=finding))
    for name in names:
        rows += _differences([pair for pair in pairs if pair.row.name == name])
    for name in books.names.difference(names):
        paid = sum(books.sums.get((day, name), _Sum()).paid for day in bill.days)
        rows += [Row("all days", name, 0, paid, "not on this bill")] * (paid > 0)
    compared = sum(pair.row.billed for pair in pairs), sum(pair.row.booked for pair in pairs)
    return sorted(rows), Row("total", "", *compared)


def _units(amount: Decimal | Fraction) -> int:
    """Return an amount in units."""
    return round(Fraction(amount) * amounts.UNIT)


def _differences(pairs: Sequence[_Pair]) -> Iterator[Row]:
    """Yield the rows of a name that differ, each with what is wrong."""
    price = _price([pair for pair in pairs if pair.row.billed or pair.books.paid])
    for row, slack, _ in pairs:
        if abs(row.difference) > slack:
            finding = _MISSING if row.difference > 0 else _UNBILLED
            yield row._replace(finding=_MISPRICED if price else finding, price=price)


def _price(pairs: Sequence[_Pair]) -> str:
    """Return the price that fits all days of a name; "" if it is right, if no one factor fits, or
    if there is only one day, which any would.
    """
    if len(pairs) < 2 or any(pair.books.paid <= 0 for pair in pairs):
        return ""
    low = max(Fraction(row.billed - slack, has.paid) for row, slack, has in pairs)
    high = min(Fraction(row.billed + slack, has.paid) for row, slack, has in pairs)
    if low > high or low <= 1 <= high:
        return ""
    factors = (Fraction(ceil(low * 10**digits), 10**digits) for digits in count())
    factor = next(factor for factor in factors if factor <= high)  # with the fewest digits
    tickets = sum(pair.books.tickets for pair in pairs)
    mean = Fraction(sum(pair.books.paid for pair in pairs), max(1, tickets))
    fits, reported = (amounts.text(round(each)) for each in (mean * factor, mean))
    times = Decimal(factor.numerator) / factor.denominator
    return f"{fits}, {times} times {reported}"
