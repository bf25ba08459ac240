"""`purse.Campaign`: asks, reports and voids under a budget that cannot be overspent.

This holds for any number of threads, processes and machines, and when any of them dies.
"""

from __future__ import annotations

import codecs
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, cast

from purse.base import validation
from purse.base.files import write_atomically
from purse.campaign import defaults, make_results, operations
from purse.campaign.archive import Archived, archive
from purse.campaign.archive_file import read_journal
from purse.campaign.arms import Arms
from purse.campaign.audit import Audit, audit, stored_ticket
from purse.campaign.by_name import names
from purse.campaign.group_commit import GroupCommitter, check_same, write_set
from purse.campaign.journal import Entry, write_lines
from purse.campaign.ledger import Ledger
from purse.campaign.mask import Mask, read_mask
from purse.campaign.operations import Report
from purse.campaign.read_report import read_costs, read_report, read_rewards
from purse.campaign.read_terms import IGNORE
from purse.campaign.restore import restore
from purse.campaign.results import CampaignTicket, Receipt, Status
from purse.campaign.rules import Transaction
from purse.campaign.states import CLOSED, OPEN, PAUSED, RUNNING, STATES
from purse.campaign.storage.base import MOST_DUE, Storage
from purse.campaign.storage.connect import connect
from purse.campaign.terms import PRESUME, RELEASE, WEAKER_PROMISE, Terms
from purse.errors import InvalidInput, PurseError, TicketError, invalid
from purse.policies import DEFAULT

PAGE_SIZE = 1_000  # entries read at a time
MAX_BATCH = 1_000  # tickets in one request


class Campaign:
    """A campaign: a budget, its tickets and the policy that chooses the arms, kept in a storage.

    `create` makes a new campaign and `open` opens an existing one. Any number of threads and
    processes may then ask and tell.
    """

    def __init__(self, terms: Terms, kept: Storage) -> None:
        self.terms = terms
        self.storage = kept
        remote = getattr(kept, "committer", None)  # of a storage whose server commits
        self._committer = GroupCommitter(terms, kept) if remote is None else remote(terms)

    @classmethod
    def create(
        cls,
        name: str,
        *,
        arms: Sequence[str] | Mapping[str, Any],
        budget: Any,
        cost_min: Any,
        cost_max: Any = None,
        resources: Sequence[str] = defaults.RESOURCES,
        plays: int = 1,
        horizon: int | None = None,
        costs: Any = None,
        caps: Any = None,
        policy: str = DEFAULT,
        seed: int = 0,
        expires_after: float | None = defaults.EXPIRES_AFTER,
        on_expiry: str = PRESUME,
        stop: str = defaults.STOP,
        cooldown: float | None = defaults.COOLDOWN,
        cooldown_max: float | None = None,
        reward_within: float | None = None,
        missing_reward: float | str = IGNORE,
        reward_range: Sequence[float] | None = None,
        explore: float | str | None = None,
        capacity: int | None = None,
        cost_floor: Any = None,
        cost_ceiling: Any = None,
        storage: str | Storage = defaults.STORAGE,
    ) -> Campaign:
        """Create a campaign in its storage and return it.

        arms           the names of the arms; or {name: the most that a pull may cost}, without
                       `cost_max`
        budget         decimal text or a number; for several resources a list, or {resource: amount}
        cost_min, cost_max   the least and the most that a pull costs: one amount, one for each arm,
                             or one for each arm and resource, shape (K, d)
        resources      the names of what is spent, such as "USD" and "tokens"
        plays          arms in each round
        horizon        the number of rounds; None: no limit
        costs, caps    known constant costs, and pulls allowed per arm, for policies that use them
        policy         a name with options, such as "exp3++.bwk:beta=1", or the path of a policy
                       file
        seed           the same seed and the same reports give the same choices
        expires_after  seconds after which a ticket without a report counts as spent at its maximum;
                       None: never
        on_expiry      "presume"; or "release", which gives the money back, a weaker promise, and
                       warns
        stop           "fit": an arm whose maximum does not fit into what is left is not chosen;
                       "hold": the policy may choose it, and the ask is refused
        cooldown       seconds for which an arm is not chosen after a call of it failed; twice as
                       long after the next failure, at most `cooldown_max`, 300 where it is left
                       out; None: failures have no consequence
        reward_within  seconds after its cost in which the reward of a ticket has to come; None: it
                       may come at any time
        missing_reward   what a reward counts as that does not come in time; "ignore": nothing
        reward_range   the least and the largest reward, such as (0, 20) for revenue; None: rewards
                       lie between 0 and 1
        explore        a share of the money for arms drawn at random, such as 0.05, so that the
                       journal can be evaluated; "uniform:0.05" is a share of the rounds
        capacity       places for arms, for `add_arm`; None: as many as are named
        cost_floor, cost_ceiling   how low and how high `set_arm` may move the costs of each arm;
                                   None: `cost_min` and `cost_max`
        storage        an address such as sqlite:///purse.db or postgresql://user@host/database

        Raise `CampaignExists` when the storage has a campaign of this name.
        Raise `InvalidInput` when a value is not allowed.
        """
        terms = Terms.of(
            name,
            arms=arms,
            budget=budget,
            cost_min=cost_min,
            cost_max=cost_max,
            resources=resources,
            plays=plays,
            horizon=horizon,
            costs=costs,
            caps=caps,
            policy=policy,
            seed=seed,
            expires_after=expires_after,
            on_expiry=on_expiry,
            stop=stop,
            cooldown=cooldown,
            cooldown_max=cooldown_max,
            reward_within=reward_within,
            missing_reward=missing_reward,
            reward_range=reward_range,
            explore=explore,
            capacity=capacity,
            cost_floor=cost_floor,
            cost_ceiling=cost_ceiling,
        )
        if terms.on_expiry == RELEASE:
            warnings.warn(WEAKER_PROMISE, stacklevel=2)
        kept = connect(storage)
        transaction = Transaction(Ledger(terms), kept.now())
        transaction.add("created", terms.as_dict())
        kept.create(name, [write_set(transaction)])
        return cls(terms, kept)

    @classmethod
    def open(cls, name: str, *, storage: str | Storage = defaults.STORAGE) -> Campaign:
        """Return an existing campaign as its storage holds it.

        Raise `NoSuchCampaign` when the storage has no campaign of this name.
        """
        kept = connect(storage, create=False)
        (first,) = kept.entries(name, 0, 1)
        return cls(Terms.from_dict(first.body), kept)

    @property
    def name(self) -> str:
        """The name of the campaign, unique in its storage."""
        return self.terms.name

    def __repr__(self) -> str:
        return f"<Campaign {self.name!r}, {self.terms.policy}, {len(self.terms.arms)} arms>"

    def ask(
        self,
        request_id: str | None = None,
        *,
        arms: Sequence[str] | Mapping[str, Any] | None = None,
    ) -> CampaignTicket:
        """Return a ticket for the next round, and hold the most that its arms may cost.

        request_id   1 to 200 printable characters that name this ask; a repeat returns the same
                     ticket and holds nothing more
        arms         the arms that may be chosen; or {arm: the most that this call may cost}, at
                     most the arm's own maximum, which is then held; None: all arms

        Raise `BudgetExhausted` when the budget cannot cover the pull; then nothing has changed.
        Raise `BudgetHeld`, a subclass, when the pull may fit once open tickets are told or voided.
        Raise `ArmsCoolingDown` when calls of all allowed arms failed just now.
        Raise `HorizonReached`, `CampaignPaused` or `CampaignClosed` when no round can be asked for.
        Raise `Conflict` when `request_id` was used before for another request, or when its ticket
        is void, released or failed by now.
        """
        return self.ask_many(1, request_id, arms=arms)[0]

    def ask_many(
        self,
        n: int,
        request_id: str | None = None,
        *,
        arms: Sequence[str] | Mapping[str, Any] | None = None,
    ) -> list[CampaignTicket]:
        """Return as many tickets as fit, at least 1 and at most `n`, for one request.

        n            from 1 to 1,000
        request_id   as for `ask`; a repeat returns the same tickets
        arms         as for `ask`, the same for all tickets

        Raise what `ask` raises when not even one ticket fits.
        """
        n = validation.integer("n", n, low=1, high=MAX_BATCH)
        operation = operations.ask(n, self._request(request_id), self._mask(arms))
        return [make_results.ticket(self.terms, record) for record in self._committer.do(operation)]

    def _mask(self, arms: Sequence[str] | Mapping[str, Any] | None) -> Mask | None:
        """Return which arms an ask allows; arms that were added later are looked up."""
        known: Sequence[str] = self.terms.arms
        if (
            self.terms.capacity
            and isinstance(arms, (Sequence, Mapping))
            and any(name not in known for name in arms)
        ):
            known = self._arms().names
        return read_mask(self.terms, arms, known)

    def _arms(self) -> Arms:
        return Arms(self.terms, self.storage.overview(self.name).head.arms)

    def tell(self, ticket: CampaignTicket | int, reward: Any, cost: Any) -> Receipt:
        """Report the reward and the cost of a ticket, and return a receipt.

        reward   from 0 to 1; with several plays one for each, shape (m,)
        cost     an amount, at least 0; with several plays or resources one for each, shape (m, d)

        A repeat of the same report has no second effect. A cost above the hold is accepted: it is
        spent up to the hold, and the rest counts as overrun.

        Raise `Conflict` when the ticket was told before with another report; the first report
        stands.
        Raise `TicketError` when the campaign did not issue the ticket, or its round passed without
        a pull.
        """
        (answer,) = self.tell_many([(ticket, reward, cost)])
        if isinstance(answer, PurseError):
            raise answer
        return answer

    def tell_many(
        self, reports: Iterable[tuple[CampaignTicket | int, Any, Any]]
    ) -> list[Receipt | PurseError]:
        """Report many tickets in one transaction, and return a receipt or an error for each.

        reports   triples of ticket, reward and cost, as `tell` takes them

        Each report stands alone: the error of one is returned in its place, and the others count.
        """
        read = [self._read(*report) for report in reports]
        found = iter(
            self._committer.do(
                operations.tell([report for report in read if isinstance(report, Report)])
            )
        )
        return [next(found) if isinstance(report, Report) else report for report in read]

    def settle(self, ticket: CampaignTicket | int, cost: Any) -> Receipt:
        """Report the cost of a ticket whose reward is not known yet, and return a receipt.

        cost   as for `tell`

        The money is spent and the rest of the hold released at once; the ticket waits for `reward`,
        and the policy learns when both are known. A repeat has no second effect.

        Raise `Conflict` when another cost was reported before; the first report stands.
        Raise `TicketError` as `tell` does.
        """
        number = self._number(ticket)
        return self._committer.do(operations.settle(number, read_costs(self.terms, cost)))

    def reward(self, ticket: CampaignTicket | int, reward: Any) -> Receipt:
        """Report the reward of a ticket, before or after its cost, and return a receipt.

        reward   as for `tell`

        The policy learns when the cost is known, too, with the probability that the ticket was
        drawn with. It learns nothing from a ticket that was voided, released or failed. A repeat
        has no second effect.

        Raise `Conflict` when another reward was reported before; the first report stands.
        Raise `TicketError` as `tell` does.
        """
        number = self._number(ticket)
        return self._committer.do(operations.reward(number, read_rewards(self.terms, reward)))

    def fail(self, ticket: CampaignTicket | int, cost: Any = 0, reason: str = "") -> Receipt:
        """Report that the call of a ticket did not work, and return a receipt.

        cost     what it cost all the same, as for `tell`; 0: nothing
        reason   at most 200 printable characters for people, kept in the journal

        The cost is spent, the rest of the hold released, and nothing is learnt. The next ask
        repeats an initial pull that failed. A repeat has no second effect.

        Raise `Conflict` when the ticket was told, settled or voided, or failed with another cost,
        before.
        Raise `TicketError` as `tell` does.
        """
        if not isinstance(reason, str) or len(reason) > 200 or not reason.isprintable():
            raise invalid("reason", reason, "must be text of at most 200 printable characters")
        number = self._number(ticket)
        return self._committer.do(operations.fail(number, read_costs(self.terms, cost), reason))

    def void(self, ticket: CampaignTicket | int) -> Receipt:
        """Cancel a ticket for which nothing was spent: release its hold and learn nothing.

        The next ask repeats an initial pull that was cancelled. A repeat has no second effect.

        Raise `Conflict` when the ticket was told, settled or failed before.
        Raise `TicketError` when the campaign did not issue the ticket, or its round passed without
        a pull.
        """
        return self._committer.do(operations.void(self._number(ticket)))

    def top_up(self, amount: Any, request_id: str | None = None) -> Status:
        """Add to the budget, once for each `request_id`, and return the new status.

        amount   a positive amount; for several resources one for each

        Raise `CampaignClosed` when the campaign is closed.
        Raise `Conflict` when `request_id` was used before for another request.
        """
        units, request = self.terms.amounts("amount", amount), self._request(request_id)
        if min(units) < 0 or max(units) == 0:
            raise invalid("amount", amount, "must be positive")
        self._committer.do(operations.top_up(units, request))
        return self.status()

    def pause(self) -> Status:
        """Issue no tickets until `resume`, but accept reports; return the new status."""
        return self._set_status("paused", PAUSED)

    def resume(self) -> Status:
        """Issue tickets again after `pause`; return the new status."""
        return self._set_status("resumed", RUNNING)

    def close(self) -> Status:
        """Issue no tickets from now on, for good, but accept reports; return the new status."""
        return self._set_status("closed", CLOSED)

    def _set_status(self, kind: str, status: str) -> Status:
        self._committer.do(operations.set_status(kind, status))
        return self.status()

    def expire(self) -> int:
        """Expire the tickets past their deadline, as every ask does, and return their number.

        Their money is presumed spent, or released where the terms say `on_expiry="release"`.
        Tickets that have waited `reward_within` for their reward wait no longer.
        """
        count, total = MOST_DUE, 0
        while count == MOST_DUE:
            count = self._committer.do(operations.expire())
            total += count
        return total

    def status(self) -> Status:
        """Return the balances, counts and alarms of the campaign.

        Like every method that only reads, it neither waits for a writer nor makes one wait.
        """
        look = self.storage.overview(self.name)
        check_same(self.terms, look.head)
        return make_results.status(self.terms, *look)

    def tickets(self, states: Sequence[str] = OPEN, limit: int = 1000) -> list[CampaignTicket]:
        """Return at most `limit` tickets in these states, the oldest first, without archived ones.

        states   any of "held", "told", "void", "presumed", "released", "skipped", "settled",
                 "failed" and "unrewarded"
        """
        wanted = [validation.choice("states", state, STATES) for state in states]
        limit = validation.integer("limit", limit, low=1, high=2**62)
        return (
            []
            if not wanted
            else [
                make_results.ticket(self.terms, record)
                for record in self.storage.tickets(self.name, wanted, 0, limit)
            ]
        )

    def ticket(self, number: int) -> CampaignTicket:
        """Return the ticket with this number; without its request id where it is archived.

        Raise `TicketError` when the campaign did not issue it.
        """
        number = self._number(number)
        record = stored_ticket(self.storage, self.name, number)
        if record is None:
            raise TicketError(f"ticket {number} is not one that campaign {self.name!r} issued")
        return make_results.ticket(self.terms, record)

    def journal(self, after: int = 0) -> Iterator[Entry]:
        """Yield the entries of the journal whose number is above `after`, in order."""
        after = validation.integer("after", after, low=0, high=2**62)
        while page := self.storage.entries(self.name, after, PAGE_SIZE):
            yield from page
            after = page[-1].seq

    def probabilities(
        self, arms: Sequence[str] | Mapping[str, Any] | None = None
    ) -> dict[str, float]:
        """Return {arm: the probability of this arm in the next round}.

        arms   as for `ask`
        """
        chances = self._committer.do(operations.probabilities(self._mask(arms)))
        return dict(zip(self._arms().names, chances, strict=False))

    def add_arm(self, name: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        """Add an arm, or take back a retired one with all that was learnt of it.

        cost_min, cost_max   what a pull costs, for several resources one amount for each; None: the
                             floor and the ceiling of its place

        The campaign needs a free place: see `capacity` of `create`. A new arm owes its initial
        pull where the policy begins so. Return the new status.

        Raise `InvalidInput` when there is no place, or the costs are outside floor and ceiling.
        """
        (name,) = names("name", [name])
        return self._change_arm("add_arm", name, cost_min, cost_max)

    def retire_arm(self, name: str) -> Status:
        """Choose an arm no more, and return the new status; its open tickets are told as usual."""
        self._committer.do(operations.change_arm("retire_arm", name))
        return self.status()

    def set_arm(self, name: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        """Change what an arm may cost from the next ask on, and return the new status.

        cost_min, cost_max   as for `add_arm`; None: as before

        Raise `InvalidInput` when the costs are outside the arm's floor and ceiling.
        """
        return self._change_arm("set_arm", name, cost_min, cost_max)

    def _change_arm(self, verb: str, name: str, cost_min: Any, cost_max: Any) -> Status:
        low, high = (
            None if value is None else self.terms.amounts(field, value)
            for field, value in (("cost_min", cost_min), ("cost_max", cost_max))
        )
        self._committer.do(operations.change_arm(verb, name, low, high))
        return self.status()

    def audit(
        self,
        *,
        full: bool = False,
        archives: Sequence[str | Path] = (),
        acknowledged: Iterable[int] = (),
        noted: tuple[int, str] | None = None,
    ) -> Audit:
        """Fold the journal and return where the campaign differs from it.

        full           begin at the first entry and compare every ticket; otherwise begin where the
                       last audit that found nothing ended, and compare what has changed since
        archives       the files that `archive` wrote, which a full audit needs
        acknowledged   the numbers of tickets whose reports were acknowledged
        noted          (`entries`, `digest`) of an earlier `status`

        The audit compares balances, tickets, counts, digests, the policy's choices and its state.
        What never reached this storage, or was lost with it, shows only in `acknowledged` and
        `noted`, which somebody else has kept.
        """
        return audit(
            self.terms,
            self.storage,
            full=full,
            archives=archives,
            acknowledged=[self._number(ticket) for ticket in acknowledged],
            noted=noted,
        )

    def archive(self, file: str | Path, *, before: float | None = None) -> Archived:
        """Move the oldest entries of the journal to a new file, and return what was moved.

        file     a path, which must not exist yet; keep the file, for `restore` and a full audit
        before   only entries of before this time, in seconds since 1970; None: all that can be

        Entries are moved up to the first ticket that is held or presumed. A repeated ask or tell
        of a ticket that was moved gets the same answer as before.

        Raise `PurseError` when an audit finds something, when there is nothing to move, or when the
        file exists; then nothing has changed.
        """
        if hasattr(self.storage, "committer"):
            raise PurseError(
                "an archive is made with the database's own address, not over a socket"
            )
        found = self.audit()
        if not found.ok:
            raise PurseError(f"nothing was archived, because of the audit: {found.findings[0]}")
        limit = None if before is None else round(before * 1000)
        return archive(self.terms, self.storage, Path(file).absolute(), limit)

    def export(self, file: str | Path | IO[str]) -> int:
        """Write the journal as JSON lines and return the number of entries.

        file   a path, which is written whole or not at all, or an open text file
        """
        if isinstance(file, (str, Path)):
            counts: list[int] = []
            write_atomically(
                Path(file),
                lambda raw: counts.append(
                    self.export(cast(IO[str], codecs.getwriter("utf-8")(raw)))
                ),
            )
            return counts[0]
        return write_lines(file, self.name, self.journal())

    @classmethod
    def restore(
        cls,
        file: str | Path | IO[str],
        *,
        storage: str | Storage = defaults.STORAGE,
        name: str | None = None,
        archives: Sequence[str | Path] = (),
    ) -> Campaign:
        """Create a campaign from an exported journal and return it.

        file       a path or an open text file, as `export` wrote it
        name       the name of the new campaign; None: the name in the journal
        archives   the files that `archive` wrote before the export

        The new campaign has an id of its own; its terms name the old one as `restored_from`.

        Raise `InvalidInput` when a file cannot be read or is not a journal, or when entries are
        missing.
        Raise `CampaignExists` when the storage has a campaign of this name.
        """
        if not isinstance(file, (str, Path)):
            with tempfile.TemporaryDirectory() as folder:  # it is read twice
                copy = Path(folder, "journal")
                with copy.open("w", encoding="utf-8") as whole:
                    shutil.copyfileobj(file, whole)
                return cls.restore(copy, storage=storage, name=name, archives=archives)
        path = file
        try:
            list(zip(range(1), read_journal(path), strict=False))  # before a storage is made
            kept = connect(storage)
            return cls(restore(lambda: read_journal(path), kept, name, archives), kept)
        except UnicodeError:
            raise InvalidInput(f"cannot read {str(file)!r}: it is not text") from None

    def _request(self, given: str | None) -> str:
        """Return the name of a request, or a new one where none is given.

        With a name of its own, a request that is sent again after a lost connection makes no second
        hold.
        """
        if given is None:
            # by time, so that neighbours are neighbours in the index, too
            return f"{time.time_ns():016x}{os.urandom(8).hex()}"
        if not isinstance(given, str) or not 1 <= len(given) <= 200 or not given.isprintable():
            raise invalid("request_id", given, "must be text of 1 to 200 printable characters")
        return given

    def _number(self, ticket: CampaignTicket | int) -> int:
        if isinstance(ticket, CampaignTicket):
            if ticket.campaign != self.name:
                raise invalid("ticket", ticket, f"must be one of campaign {self.name!r}")
            ticket = ticket.id
        return validation.integer("ticket", ticket, low=1, high=2**62)

    def _read(self, ticket: CampaignTicket | int, reward: Any, cost: Any) -> Report | PurseError:
        """Return a report, or the error that says why it is not one."""
        try:
            return Report(self._number(ticket), *read_report(self.terms, reward, cost))
        except PurseError as error:
            return error
