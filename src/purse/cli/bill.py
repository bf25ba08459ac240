"""A provider's cost report, read as a bill: a table of formats says which field holds what."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

from purse.base import amounts
from purse.campaign.terms.calendar import EPOCH, MILLISECOND, local_day
from purse.campaign.views.reconciliation import Bill, BillLine
from purse.errors import InvalidInput, invalid, listed, unknown
from purse.lab.data.text_file import filled_lines, find_separator, records

_Record = dict[str, str]
_OTHER = "other"  # the name of what is billed for no arm


class _Format(NamedTuple):
    """The fields of a line: columns of a CSV file; in JSON those of a day, and of a cost on it."""

    day: str
    arm: str
    cost: str
    currency: str
    end: str = ""  # of the time that is billed, which `day` begins
    decimals: int = 0  # by which costs are shifted: 2 if they are cents
    mark: str = ""  # before which the arm ends


_FORMATS = (
    # FOCUS, the FinOps Open Cost and Usage Specification
    _Format(
        "ChargePeriodStart", "ResourceName", "BilledCost", "BillingCurrency", "ChargePeriodEnd"
    ),
    # Anthropic's cost report
    _Format("starting_at", "model", "amount", "currency", "ending_at", decimals=2),
    # OpenAI's costs, as JSON or CSV, with line items such as "gpt-5-2025-08-07, input"
    _Format("start_time", "line_item", "amount_value", "amount_currency", "end_time", mark=", "),
    # any other file
    _Format("day", "arm", "cost", "currency"),
)
_COLUMNS = _Format._fields[:4]  # that a user may name


def read_bill(
    path: str, columns: Mapping[str, str], names: Mapping[str, str], time_zone: str
) -> Bill:
    """Return the bill in a file of CSV or JSON.

    columns     fields that the format has not: of the day, the arm, the cost or the currency
    names       what arms are called in the books, by what the bill calls them
    time_zone   of its days

    Raise `InvalidInput` if the file is not a whole cost report in one currency.
    """
    placed = list(_records(path))
    if not placed:
        raise InvalidInput(f"{path} has no lines")
    form = _format_of(path, {field for _, record in placed for field in record}, columns)
    lines, days, currencies, before = list[BillLine](), set[str](), set[str](), set[str]()
    for place, record in placed:
        begin, name, cost, currency, end = (record.get(field, "") for field in form[:5])
        day = _day(place, form.day, begin, time_zone)
        if end and _day(place, form.end, end, time_zone, -MILLISECOND) != day:
            raise InvalidInput(f"{place}: {begin} to {end} must be within a day of {time_zone}")
        days.add(day)
        if cost or name:  # else nothing was billed on this day
            amount, words = _amount(place, form, cost), repr(sorted(record.items()))
            name = (form.mark and name.rpartition(form.mark)[0]) or name or _OTHER
            lines.append(BillLine(day, names.get(name, name), amount, words in before))
            before.add(words)
            currencies |= {currency.upper()} - {""}
    if len(currencies) > 1:
        raise InvalidInput(f"{path}: must be in one currency, and has {listed(sorted(currencies))}")
    first, last = date.fromisoformat(min(days)), date.fromisoformat(max(days))
    covered = [str(first + timedelta(number)) for number in range((last - first).days + 1)]
    return Bill(lines, covered, "".join(currencies))


def _records(path: str) -> Iterator[tuple[str, _Record]]:
    """Yield the records of a file, each with its place for errors."""
    file = Path(path)
    try:
        text = "".join(line for _, line in filled_lines(file)).strip()
    except OSError as error:
        raise InvalidInput(f"cannot read {path!r}: {error.strerror}") from None
    if text[:1] in ("[", "{"):
        yield from _results(path, text)
        return
    (_, header), *rows = [*records(file, find_separator(file))] or [(0, [])]
    if len(set(header)) < len(header):
        raise InvalidInput(f"{path}: must not have two columns of the same name")
    for number, cells in rows:
        if len(cells) != len(header):
            must = f"must have {len(header)} cells, as the header has, and has {len(cells)}"
            raise InvalidInput(f"{path}, line {number}: {must}")
        pairs = zip(header, cells, strict=True)
        yield f"{path}, line {number}", {field.strip(): cell.strip() for field, cell in pairs}


def _results(path: str, text: str) -> Iterator[tuple[str, _Record]]:
    """Yield the results of all days of a page, or of a list of pages."""
    try:
        pages = json.loads(text, parse_float=Decimal)
        for page in pages if isinstance(pages, list) else [pages]:
            for number, bucket in enumerate(page["data"]):
                for index, result in enumerate(bucket.pop("results") or [{}]):
                    place = f"{path}, data[{number}].results[{index}]"
                    yield place, _flat(bucket) | _flat(result)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path}: must be whole JSON: {error}") from None
    except (KeyError, TypeError, AttributeError):
        must = "must be pages of a cost report: an object whose data are days with results"
        raise InvalidInput(f"{path}: {must}") from None


def _flat(part: dict[str, Any]) -> _Record:
    """Return the fields of an object as text; those of an object in it follow its name."""
    record = _Record()
    for field, value in part.items():
        inner = _flat(value) if isinstance(value, dict) else {}
        record |= {f"{field}_{name}": text for name, text in inner.items()}
        record[field] = "" if value is None else str(value)
    return record


def _format_of(path: str, fields: set[str], columns: Mapping[str, str]) -> _Format:
    """Return the format that has these fields, with the columns that a user has named."""
    known = (form for form in _FORMATS if {form.day, form.cost} <= fields)
    form = next(known, _FORMATS[-1])
    for what in columns:
        if what not in _COLUMNS:
            raise unknown("column of a bill", what, _COLUMNS)
    form = form._replace(**columns)  # type: ignore[arg-type]  # they are no number
    for what, column in zip(_COLUMNS[:3], form[:3], strict=True):
        if column not in fields:
            must = f"must have a column {column!r}, or --column {what}=NAME has to say which"
            raise InvalidInput(f"{path}: {must}; it has {listed(sorted(fields))}")
    return form


def _day(place: str, field: str, text: str, time_zone: str, more: timedelta = timedelta(0)) -> str:
    """Return the day of a time, and some more, in a zone, of which it is if it has no offset."""
    try:
        if text.isdigit() and len(text) > len("20271231"):
            moment = datetime.fromtimestamp(int(text), UTC) + more
        else:
            moment = datetime.fromisoformat(text.replace(" UTC", "Z")) + more
        if moment.tzinfo is None:
            return moment.date().isoformat()
        return local_day(time_zone, (moment - EPOCH) // MILLISECOND)
    except (ValueError, OverflowError, OSError):
        must = "must be a date such as 2027-12-31, a time, or seconds since 1970"
        raise InvalidInput(f"{place}: {invalid(field, text, must)}") from None


def _amount(place: str, form: _Format, cost: str) -> Decimal:
    try:
        amount = Decimal(cost).scaleb(-form.decimals)
        # no NaN is; and what has very many decimals would be summed for hours
        if 0 <= amount <= amounts.LARGEST // amounts.UNIT and amount.adjusted() > -10_000:
            return amount
    except InvalidOperation:
        pass
    must = "must be an amount such as 12.34; the command `charge` books credits"
    raise InvalidInput(f"{place}: {invalid(form.cost, cost, must)}")
