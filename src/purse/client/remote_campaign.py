"""A campaign on a server, with the verbs, types and errors of one that is here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, NoReturn, Self

from purse.base.recommendation import CONFIDENCE, REWARD, Recommendation
from purse.campaign.campaign import Campaign
from purse.campaign.journal import Entry
from purse.campaign.results import (
    Audit,
    CampaignTicket,
    LabelStatus,
    Receipt,
    Status,
)
from purse.campaign.states import OPEN
from purse.client.connection import Connection, connected
from purse.client.verbs import asks, operators, records, reports
from purse.client.verbs.common import Arms, Labels, Ticket
from purse.client.verbs.records import ELSEWHERE
from purse.client.verbs.reports import tell_many
from purse.errors import PurseError

if TYPE_CHECKING:
    from pathlib import Path

ABSENT = ("storage", "terms")  # what only a campaign has whose database this process reaches


class RemoteCampaign(Campaign):
    """A campaign on a server.

    url   the address of the server
    """

    def __init__(self, name: str, connection: Connection) -> None:
        self._name, self._connection = name, connection
        self.url = connection.url

    @property
    def name(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"<Campaign {self.name!r} at {self.url}>"

    def __getattr__(self, name: str) -> NoReturn:
        if name in ABSENT:
            raise AttributeError(
                f"a campaign on a server has no {name!r} here; status() says how it stands, and "
                "the first entry of journal() what it was created with"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @staticmethod
    def _connected(storage: Any, token: str | None) -> Connection:
        return connected(storage, token)

    @classmethod
    def _create(
        cls,
        name: str,
        terms: dict[str, Any],
        storage: Any,
        token: str | None,
        exist_ok: bool,
    ) -> Self:
        connection = cls._connected(storage, token)
        connection.do(operators.create(name, without_defaults(terms), exist_ok))
        return cls(name, connection)

    @classmethod
    def _open(cls, name: str, storage: Any, token: str | None) -> Self:
        connection = cls._connected(storage, token)
        connection.do(records.status(name))
        return cls(name, connection)

    @classmethod
    def _names(cls, storage: Any, token: str | None) -> list[str]:
        return cls._connected(storage, token).do(records.names())

    @classmethod
    def _restore(
        cls,
        file: str | Path | IO[str],
        storage: Any,
        name: str | None,
        account: str | None,
    ) -> Self:
        raise PurseError(f"a journal is restored {ELSEWHERE}")

    def ask(
        self,
        request_id: str | None = None,
        *,
        arms: Arms = None,
        context: Any = None,
        labels: Labels = None,
    ) -> CampaignTicket:
        wanted = asks.ask(self.name, request_id, arms=arms, context=context, labels=labels)
        return self._connection.do(wanted)

    def ask_many(
        self,
        n: int,
        request_id: str | None = None,
        *,
        arms: Arms = None,
        contexts: Sequence[Any] | None = None,
        labels: Labels = None,
    ) -> list[CampaignTicket]:
        return self._connection.do(
            asks.ask_many(self.name, n, request_id, arms=arms, contexts=contexts, labels=labels)
        )

    def probabilities(self, arms: Arms = None, context: Any = None) -> dict[str, float]:
        return self._connection.do(asks.probabilities(self.name, arms, context))

    def tell(self, ticket: Ticket, reward: Any, cost: Any) -> Receipt:
        return self._connection.do(reports.tell(self.name, ticket, reward, cost))

    def tell_many(self, reports: Iterable[tuple[Ticket, Any, Any]]) -> list[Receipt | PurseError]:
        return self._connection.do(tell_many(self.name, reports))

    def settle(self, ticket: Ticket, cost: Any) -> Receipt:
        return self._connection.do(reports.settle(self.name, ticket, cost))

    def reward(self, ticket: Ticket, reward: Any) -> Receipt:
        return self._connection.do(reports.reward(self.name, ticket, reward))

    def fail(self, ticket: Ticket, cost: Any = 0, reason: str = "") -> Receipt:
        return self._connection.do(reports.fail(self.name, ticket, cost, reason))

    def void(self, ticket: Ticket) -> Receipt:
        return self._connection.do(reports.void(self.name, ticket))

    def top_up(self, amount: Any, request_id: str | None = None) -> Status:
        return self._connection.do(operators.top_up(self.name, amount, request_id))

    def pause(self) -> Status:
        return self._connection.do(operators.pause(self.name))

    def resume(self) -> Status:
        return self._connection.do(operators.resume(self.name))

    def end(self) -> Status:
        return self._connection.do(operators.end(self.name))

    def set_alerts(self, alerts: Sequence[str]) -> Status:
        return self._connection.do(operators.set_alerts(self.name, alerts))

    def expire(self) -> int:
        return self._connection.do(operators.expire(self.name))

    def add_arm(self, name: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        change = operators.add_arm(self.name, name, cost_min=cost_min, cost_max=cost_max)
        return self._connection.do(change)

    def retire_arm(self, name: str) -> Status:
        return self._connection.do(operators.retire_arm(self.name, name))

    def set_arm(self, name: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        change = operators.set_arm(self.name, name, cost_min=cost_min, cost_max=cost_max)
        return self._connection.do(change)

    def status(self) -> Status:
        return self._connection.do(records.status(self.name))

    def recommend(
        self,
        by: str = REWARD,
        *,
        cap: Any = None,
        confidence: float = CONFIDENCE,
        within: float = 0.0,
        resource: str | None = None,
    ) -> Recommendation:
        question = {"cap": cap, "confidence": confidence, "within": within, "resource": resource}
        return self._connection.do(records.recommend(self.name, by, **question))

    def tickets(
        self, states: Sequence[str] = OPEN, limit: int = 1000, after: int = 0
    ) -> list[CampaignTicket]:
        return self._connection.do(records.tickets(self.name, states, limit, after))

    def ticket(self, number: int) -> CampaignTicket:
        return self._connection.do(records.ticket(self.name, number))

    def labels(self, key: str | None = None, limit: int = 100) -> list[LabelStatus]:
        return self._connection.do(records.labels(self.name, key, limit))

    def journal(self, after: int = 0) -> Iterator[Entry]:
        while page := self._connection.do(records.journal_page(self.name, after)):
            yield from page
            after = page[-1].seq

    def audit(
        self,
        *,
        full: bool = False,
        acknowledged: Iterable[int] = (),
        noted: tuple[int, str] | None = None,
    ) -> Audit:
        return self._connection.do(
            records.audit(self.name, full=full, acknowledged=acknowledged, noted=noted)
        )


def without_defaults(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return the terms that somebody gave: an older server knows no newer ones."""
    usual = Campaign.create.__func__.__kwdefaults__  # type: ignore[attr-defined]
    return {name: value for name, value in terms.items() if value is not usual.get(name, usual)}
