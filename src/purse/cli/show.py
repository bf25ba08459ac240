"""The results of verbs of campaigns and accounts, printed: JSON for machines, lines for people."""

import csv
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import click

from purse.base import exit_codes
from purse.base.text import align_columns, count
from purse.campaign.api.results import Audit, CampaignTicket, LabelStatus, Receipt
from purse.cli.output import print_json
from purse.client.wire import plain

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"-\d+(\.\d+)?")
SUMS = ("spent", "held", "presumed", "overrun")
COLUMNS = {
    "asked": ["ticket", "arm", "probability", "held"],
    "tickets": ["ticket", "arm", "probability", "held", "state"],
    "list": ["state", "budget", "alarms"],
    "labels": ["key", "value", "tickets", *SUMS],
    "probabilities": ["arm", "probability"],
}


def lines(columns: Sequence[str]) -> str:
    """Describe the columns of a table for the help; "" without columns."""
    names = ", ".join(columns)
    return f"\n\nPrints a line for each, separated by tabs: {names}." if names else ""


def show(result: Any, as_json: bool, key: str = "", columns: str = "") -> None:
    """Print a result.

    key       what JSON calls a list, or a number
    columns   of a table for people, by their name
    """
    if as_json:
        more = {"ok": result.ok} if isinstance(result, Audit) else {}
        print_json({key: plain(result)} if key else {**more, **plain(result)})
    elif isinstance(result, Receipt):
        show_receipt(result)
    elif isinstance(result, CampaignTicket):
        _show_tickets([result], COLUMNS["tickets"])
    elif isinstance(result, Audit):
        _show_audit(result)
    elif columns == "probabilities":
        print_rows(COLUMNS[columns], [[arm, f"{chance:.4g}"] for arm, chance in result.items()])
    elif columns == "labels":
        _show_labels(result)
    elif columns in COLUMNS:
        _show_tickets(result, COLUMNS[columns])
    else:
        click.echo(str(result))
    if isinstance(result, Audit) and not result.ok:
        click.get_current_context().exit(exit_codes.DIFFERS)


def _show_tickets(tickets: Sequence[CampaignTicket], head: Sequence[str]) -> None:
    rows = [
        [
            str(one.id),
            "-" if one.skipped else one.arm,
            f"{one.probability:.4g}",
            ",".join(one.held),
            one.state,
        ]
        for one in tickets
    ]
    print_rows(head, [row[: len(head)] for row in rows], left=(1, 4))


def _show_labels(labels: Sequence[LabelStatus]) -> None:
    """Print a line for each label, beginning with its day if it has one."""
    days = ["day"] if labels and labels[0].day else []
    limited = any(label.limit for label in labels)
    rows = [
        [*([label.day] if label.day else []), label.key, label.value, str(label.tickets)]
        + [",".join(getattr(label, amounts)) for amounts in SUMS]
        + ([",".join(label.left or ["-"])] if limited else [])
        for label in labels
    ]
    head = [*days, *COLUMNS["labels"], *(["left"] if limited else [])]
    print_rows(head, rows, left=(0, 1, len(days) + 1))
    if not labels:
        click.echo("No ask had such a label; `purse campaign ask --label` gives one", err=True)


def show_receipt(receipt: Receipt) -> None:
    """Print a receipt."""
    parts = [
        f"ticket {receipt.ticket} {receipt.state}",
        *(f"{what} {','.join(getattr(receipt, what))}" for what in ("spent", "refunded")),
    ]
    if any(part != "0" for part in receipt.overrun):
        parts.append(f"overrun {','.join(receipt.overrun)}")
    marks = [mark for mark in ("duplicate", "late") if getattr(receipt, mark)]
    click.echo(", ".join(parts) + (f" ({', '.join(marks)})" if marks else ""))


def _show_audit(audit: Audit) -> None:
    for line in (*audit.notes, *audit.findings):
        click.echo(line)
    verdict = "all agree with the journal"
    if not audit.ok:
        verdict = count(len(audit.findings), "finding")
    tree = ""
    if audit.levels > 1:
        tree = f", {audit.checked:,} in its tree of {audit.levels} levels"
    earlier = f" ({audit.after} of them checked by an earlier audit)" if audit.after else ""
    name = click.get_current_context().params["of"]
    own = count(audit.entries, "entry", "entries")
    click.echo(f"{name}: {own}{earlier}{tree}, {verdict}; digest {audit.digest}")


def print_csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows as CSV, in which no text is a formula of a spreadsheet."""
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(head)
    table.writerows(map(_safe, row) for row in rows)


def _safe(cell: object) -> str:
    """Return a cell, after an apostrophe if a spreadsheet would take it for a formula.

    >>> [_safe(cell) for cell in ("=1+2", "-x", "-1.5", 3, "a=b", "")]
    ["'=1+2", "'-x", '-1.5', '3', 'a=b', '']
    """
    text = str(cell)
    is_formula = text.startswith(_FORMULA) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


def print_rows(
    head: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[int] = (0,)
) -> None:
    """Print rows: aligned under a header on a terminal, else separated by tabs for programs."""
    if rows and sys.stdout.isatty():
        for cells in align_columns([head, *rows], left):
            click.echo("  ".join(cells).rstrip())
    else:
        for row in rows:
            click.echo("\t".join(row))
