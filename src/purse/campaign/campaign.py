"""`purse.Campaign`: asks, reports and voids under a budget.

All that is billed counts, for any number of threads, processes and machines, and when any of them
dies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import IO, TYPE_CHECKING, Any, Literal, Self, TypeVar

from purse.base.optional import needs, pl
from purse.base.plain_validation import choice, flag, integer, request_of
from purse.campaign.api import defaults, kinds
from purse.campaign.api.journal import Entry, without_contexts
from purse.campaign.api.kinds import MOST, Report, number_of
from purse.campaign.api.results import Audit, CampaignTicket, LabelStatus, Receipt, Status
from purse.campaign.api.states import ALERT_WORDS, CAMPAIGN, OPEN, STATES
from purse.campaign.api.verb import of_all, verb
from purse.campaign.budget import LARGEST, Budget, Place
from purse.campaign.spending import Spending, SpendingVerb
from purse.client.server import Server
from purse.errors import (
    ArmsCoolingDown,
    AskRefused,
    BudgetExhausted,
    BudgetHeld,
    CampaignEnded,
    CampaignExists,
    CampaignPaused,
    Conflict,
    HorizonReached,
    InvalidInput,
    LabelExhausted,
    LabelHeld,
    NotFound,
    PolicyFileRefused,
    PurseError,
    TicketError,
    invalid,
)
from purse.identification.certificate import Certificate
from purse.identification.recommendation import (
    CONFIDENCE,
    REWARD,
    Criterion,
    Recommendation,
    check_confidence,
)
from purse.policies import DEFAULT

if TYPE_CHECKING:
    from pathlib import Path

    from purse.campaign.rules.transaction import Transaction
    from purse.campaign.terms.terms import Terms

T = TypeVar("T")


class Campaign(Budget[Status], SpendingVerb[Spending]):
    """A campaign: a budget, its tickets and the policy that chooses the arms, kept in a storage.

    `create` makes a new campaign and `open` opens an existing one. Any number of threads and
    processes may then ask and tell. The verbs are the same for a file, a database and a server.
    """

    KIND, STATUS, ALERTS = CAMPAIGN, Status, ALERT_WORDS
    _call = Spending

    @classmethod
    @of_all("POST", "admin", CampaignExists, CampaignEnded, NotFound)
    def create(
        cls,
        name: kinds.Name,
        *,
        arms: kinds.Arms,
        budget: kinds.Amounts,
        prompt_tokens: kinds.Tokens | None = None,
        answer_tokens: kinds.Tokens | None = None,
        cost_min: kinds.Costs = None,
        resources: kinds.Resources | None = None,
        horizon: kinds.Rounds | None = defaults.HORIZON,
        skip: bool = False,
        policy: str = DEFAULT,
        seed: int = 0,
        expires_after: kinds.Seconds | None = defaults.EXPIRES_AFTER,
        cooldown: kinds.Seconds | None = defaults.COOLDOWN,
        reward_within: kinds.Seconds | None = None,
        missing_reward: float | None = None,
        reward_range: kinds.Range | None = None,
        explore: kinds.Share | None = None,
        capacity: int | None = None,
        cost_ceiling: kinds.Costs = None,
        features: kinds.Features = None,
        map: str | None = None,
        account: kinds.Name | None = None,
        every: str | None = None,
        until: kinds.When | None = None,
        time_zone: str | None = None,
        carry: str = defaults.CARRY,
        alerts: kinds.Alerts = defaults.ALERTS,
        limits: kinds.Limits | None = None,
        unlabelled: str = defaults.REFUSE,
        storage: Place = defaults.STORAGE,
        token: str | None = None,
        exist_ok: kinds.ExistOk = False,
    ) -> Self:
        """Create a campaign in its storage and return it.

        name           1 to 100 letters, digits, dots, dashes or underscores
        arms           {name: the most that a pull may cost}; for several resources {name: [most,
                       most]} or {name: {resource: most}}. Or, with `prompt_tokens`, a list of
                       language models: the most that a call costs is their price
        budget         decimal text or a number; for several resources a list, or {resource: amount}
        prompt_tokens   the longest prompt of a language model; None: `arms` says what pulls cost
        answer_tokens   the longest answer, hidden reasoning included; None: `arms` says it
        cost_min       the least that a pull costs: one amount, one for each arm, or one for each
                       arm and resource, shape (K, d); None: a thousandth of the most. If both
                       are equal for all arms, costs are known, as some policies need it
        resources      the names of what is spent, such as "USD" and "tokens"; None: those of the
                       account above, or "units"
        horizon        the number of rounds, of each period; "traffic": a forecast from the times of
                       asks, for which the campaign needs `every` or `until`; "auto": "traffic" if
                       there is one of them and the policy plans by forecasts, else no limit;
                       None: no limit
        skip           whether rounds may pass without a pull, so that money is kept for others,
                       which needs a horizon; if not, every ask that is granted returns an arm
        policy         a name with options, such as "exp3++.bwk:beta=1", or the path of a policy
                       file
        seed           the same seed and the same reports give the same choices
        expires_after  seconds after which a ticket without a report counts as spent at its maximum;
                       None: its hold stays until a report comes
        cooldown       seconds for which an arm is not chosen after a call of it failed; twice as
                       long after the next failure, up to 5 minutes; None: failures have no
                       consequence
        reward_within  seconds after its cost in which the reward of a ticket has to come; None: it
                       may come at any time
        missing_reward   what a reward counts as that does not come in time; to be given with
                       `reward_within`
        reward_range   the least and the largest reward, such as (0, 20) for revenue; None: rewards
                       lie between 0 and 1
        explore        the share of the money for arms drawn at random, such as 0.05, so that the
                       journal can be evaluated; None: nothing
        capacity       places for arms; None: as many as are named. For one more the policy learns
                       its journal again
        cost_ceiling   the most that a pull may come to cost, as the policy knows it, given as
                       `cost_min`; None: what `arms` says. Above it, the policy learns again
        features       what a context holds: a number of features, a list of names, or a mapping
                       from names to a range (low, high), to (low, high, "optional") or to
                       classes; None: no contexts. Ranges are mapped to [-1, 1]
        map            random cosines of the features that the policy sees, too, such as
                       "fourier:48", so that it can learn what is not linear; None: none
        account        the account above the campaign, from which its money comes, too; None: none
        every          how often the budget is renewed and `horizon` begins again: "day", "week",
                       "month", or hours such as "6h"; None: never. Days begin at midnight, weeks
                       on Monday, months on the first
        until          the last day, such as "2027-12-31", or a time, such as "2027-12-31T18:00",
                       after which asks are refused; reports are still taken. None: no end
        time_zone      the time zone of days, weeks and months, and of `until`, such as
                       "Europe/Berlin"; None: that of the account above, or "UTC"
        carry          what is kept at the end of a period of the money that is left: "none" or
                       "all"
        alerts         rules of the events that webhooks are told of: "80%" of a budget, from "1%"
                       to "100%", "overrun", "cooling-down", "expired" and "forecast"; (): none
        limits         {key of labels: the most that each of its values may spend and hold}, such
                       as {"user": "2.00"}, in each period if there are any; for several resources
                       a list, or {resource: amount}; None: labels have no limits
        unlabelled     what becomes of an ask without a label whose key has a limit: "refuse" or
                       "allow"
        storage        an address such as sqlite:///purse.db, postgresql://user@host/database,
                       https://host or unix:/run/purse.sock
        token          for a server; None: the environment variable PURSE_TOKEN
        exist_ok       take the campaign of this name if it was created with the same values;
                       "update": if budget, alerts, arms and limits are the only others, set
                       them as `set_budget`, `set_alerts`, `add_arm`, `set_arm`, `retire_arm` and
                       `set_limit` do

        Raise `CampaignExists` when the storage has a campaign of this name, or with `exist_ok` one
        that was created with other values.
        Raise `InvalidInput` when a value is not allowed, or genai-prices knows no price of a model.
        """
        values = locals()
        tokens = values.pop("prompt_tokens"), values.pop("answer_tokens")
        if tokens != (None, None):
            from purse.base.token_prices import arm_costs

            values["arms"], least = arm_costs(arms, *tokens)
            values["cost_min"] = least if cost_min is None else cost_min
            if resources is None and account is None:
                values["resources"] = ["USD"]
        return cls._create(values)

    @property
    def terms(self) -> Terms:
        """What the campaign was created with, if this process reaches its storage itself."""
        terms: Terms = self._here().terms
        return terms

    def ask(
        self,
        request_id: str | None = None,
        *,
        arms: kinds.Allowed | None = None,
        context: kinds.Context = None,
        labels: kinds.Labels | None = None,
        session: kinds.Session | None = None,
    ) -> CampaignTicket:
        """Return a ticket for the next round, and hold the most that its arm may cost.

        request_id   1 to 200 printable characters that name this ask; a repeat returns the same
                     ticket and holds nothing more
        arms         the arms that may be chosen; or {arm: the most that this call may cost}, at
                     most the arm's own maximum, which is then held; None: all arms
        context      the values of the features, by name or in order, if there are features
        labels       what this call is for, such as {"tenant": "acme"}: `labels()` sums what was
                     spent for each value. A campaign has at most 8 keys. They stay in the journal
        session      1 to 200 printable characters that name a conversation: its asks keep the arm
                     of the first one, as providers cache prompts, while it is allowed, fits and
                     does not cool down, and within an hour of the last ask

        Raise `InvalidInput` when the context does not fit the features.
        Raise `BudgetExhausted` when the budget cannot cover the pull; then nothing has changed.
        Raise `BudgetHeld`, a subclass, when the pull may fit once open tickets are told or voided.
        Raise `LabelExhausted` or `LabelHeld`, subclasses of these, when a label has too little left
        of its limit; others may have more.
        Raise `ArmsCoolingDown` when calls of all allowed arms failed just now.
        Raise `HorizonReached`, `CampaignPaused` or `CampaignEnded` when no round can be asked for.
        Raise `Conflict` when `request_id` was used before for another request, context or labels,
        or when its ticket is void or failed by now.
        """
        return self._ask(request_id, arms=arms, context=context, labels=labels, session=session)[0]

    def ask_many(
        self,
        n: int,
        request_id: str | None = None,
        *,
        arms: kinds.Allowed | None = None,
        contexts: kinds.Contexts | None = None,
        labels: kinds.Labels | None = None,
        session: kinds.Session | None = None,
    ) -> list[CampaignTicket]:
        """Return as many tickets as fit, at least 1 and at most `n`, for one request.

        n            from 1 to 1,000
        contexts     `n` of what `ask` takes as a context, if there are features; the tickets are
                     for the first of them, in order
        request_id, arms, labels, session   as for `ask`, the same for all tickets

        Raise what `ask` raises when not even one ticket fits.
        """
        n = integer("n", n, low=1, high=MOST)
        return self._ask(
            request_id, n, arms=arms, contexts=contexts, labels=labels, session=session
        )

    @verb(
        "POST", "asks", "act", Conflict, BudgetExhausted, BudgetHeld, LabelExhausted, LabelHeld,
        ArmsCoolingDown, HorizonReached, AskRefused, CampaignPaused, CampaignEnded,
        PolicyFileRefused, key="tickets",
    )  # fmt: skip
    def _ask(
        self,
        request_id: kinds.RequestId | None = None,
        n: int | None = None,
        *,
        arms: kinds.Allowed | None = None,
        context: kinds.Context = None,
        contexts: kinds.Contexts | None = None,
        labels: kinds.Labels | None = None,
        session: kinds.Session | None = None,
    ) -> list[CampaignTicket]:
        """Ask which arms to pull, and hold the most that they may cost; return as many tickets as
        fit, at least one.

        n   tickets at most, up to 1,000: as many as fit, and at least one; None: one
        contexts   with `n`, a context for each ticket, in order
        request_id, arms, context, labels, session   as for `ask`
        """
        from purse.campaign.ledger.ask_inputs import read_contexts, read_labels
        from purse.campaign.ledger.ticket import user_ticket
        from purse.campaign.rules import asks

        level = self._local
        mask, encoded = level.mask(arms), None
        if n is None and contexts is None:
            one = level.context(context)
            encoded = None if one is None else [one]
        elif context is not None:
            raise invalid("context", context, "must be left out if n or contexts are given")
        else:
            n = integer("n", 1 if n is None else n, low=1, high=MOST)
            if contexts is not None or level.terms.features:
                encoded = read_contexts(level.terms, n, contexts)
        request, labels_read = request_of(request_id), read_labels(labels)
        if session is not None:
            request_of(session, "session")
        tickets, names = level.do(
            lambda change: (
                asks.ask(change, n or 1, request, mask, encoded, labels_read, session),
                change.campaign.arms,
            ),
            requests=(request,),
            asks=True,
            expires=True,
            labels=tuple((labels_read or {}).items()),
            sessions=() if session is None else (session,),
        )
        return [user_ticket(level.terms, names, ticket) for ticket in tickets]

    @verb(
        "POST", "probabilities", "act", BudgetExhausted, BudgetHeld, ArmsCoolingDown,
        PolicyFileRefused, key="probabilities",
    )  # fmt: skip
    def probabilities(
        self, arms: kinds.Allowed | None = None, context: kinds.Context = None
    ) -> dict[str, float]:
        """Return the probability of each arm in the next round.

        arms, context   as for `ask`
        """
        from purse.campaign.rules import asks

        mask, encoded = self._local.mask(arms), self._local.context(context)
        chances = self._local.do(
            lambda change: asks.foresee(change, mask, encoded), asks=True, looks=True
        )
        return dict(zip(self._local.arms.names, chances, strict=False))

    @verb("POST", "tickets/{ticket}/tell", "act", TicketError, Conflict)
    def tell(self, ticket: kinds.Ticket, reward: kinds.Reward, cost: kinds.Amounts) -> Receipt:
        """Report the reward and the cost of a ticket, and return a receipt.

        ticket   what `ask` returned, or its number
        reward   from 0 to 1, or in the campaign's range
        cost     an amount, at least 0; for several resources a list, or {resource: amount}

        A repeat of the same report has no second effect. A cost above the hold is accepted: it is
        spent, and the part above the hold is an overrun, too. If the arm could not cost so much,
        it can from now on, see `set_arm`.

        Raise `Conflict` when the ticket was told before with another report; the first report
        stands.
        Raise `TicketError` when the campaign did not issue the ticket, or its round passed without
        a pull.
        """
        from purse.campaign.rules import reports

        level, number = self._local, number_of(ticket, self.name)
        costs = reports.read_costs(level.terms, cost)
        gain = reports.read_reward(level.terms, reward)
        return level.do(lambda change: reports.tell(change, number, gain, costs), tickets=(number,))

    def tell_many(
        self, reports: Iterable[tuple[CampaignTicket | int, Any, Any]]
    ) -> list[Receipt | PurseError]:
        """Report many tickets, a thousand in one transaction, and return a receipt or an error for
        each.

        reports   triples of ticket, reward and cost, as `tell` takes them

        Each report stands alone: the error of one is returned in its place, and the others count.
        """
        answers: dict[int, Receipt | PurseError] = {}
        waiting: list[tuple[int, Report]] = []  # each with its place
        for index, report in enumerate(kinds.listed("reports", reports)):
            ticket, reward, cost = kinds.triple(index, report)
            try:
                waiting.append((index, Report(number_of(ticket, self.name), reward, cost)))
            except InvalidInput as error:
                answers[index] = error
        for start in range(0, len(waiting), MOST):
            places, batch = zip(*waiting[start : start + MOST], strict=True)
            answers |= zip(places, self._tell_many(batch), strict=True)
        return [answers[index] for index in sorted(answers)]

    @verb("POST", "tells", "act", key="receipts")
    def _tell_many(self, reports: kinds.Reports) -> list[Receipt | PurseError]:
        """Report many tickets; each report stands alone.

        reports   of each ticket the reward and the cost
        """
        from purse.campaign.rules.reports import read_costs, read_reward, tell

        terms = self._local.terms

        def read(report: Report) -> tuple[int, float, list[int]]:
            number, costs = number_of(report.ticket, self.name), read_costs(terms, report.cost)
            return number, read_reward(terms, report.reward), costs

        read_reports = [_attempt(read, report) for report in reports]
        good = [report for report in read_reports if not isinstance(report, PurseError)]
        answers = iter(
            self._local.do(
                lambda change: [_attempt(tell, change, *report) for report in good],
                tickets=[number for number, *_ in good],
            )
        )
        return [
            report if isinstance(report, PurseError) else next(answers) for report in read_reports
        ]

    @verb("POST", "tickets/{ticket}/settle", "act", TicketError, Conflict)
    def settle(self, ticket: kinds.Ticket, cost: kinds.Amounts) -> Receipt:
        """Report the cost of a ticket whose reward is not known yet, and return a receipt.

        ticket, cost   as for `tell`

        The money is spent and the rest of the hold released at once; the ticket waits for `reward`,
        and the policy learns when both are known. A repeat has no second effect.

        Raise `Conflict` when another cost was reported before; the first report stands.
        Raise `TicketError` as `tell` does.
        """
        from purse.campaign.rules import reports

        level, number = self._local, number_of(ticket, self.name)
        costs = reports.read_costs(level.terms, cost, zero=True)
        return level.do(lambda change: reports.settle(change, number, costs), tickets=(number,))

    @verb("POST", "tickets/{ticket}/reward", "act", TicketError, Conflict)
    def reward(self, ticket: kinds.Ticket, reward: kinds.Reward) -> Receipt:
        """Report the reward of a ticket, before or after its cost, and return a receipt.

        ticket, reward   as for `tell`

        The policy learns when the cost is known, too, with the probability that the ticket was
        drawn with. It learns nothing from a ticket that was voided or failed. A repeat
        has no second effect.

        Raise `Conflict` when another reward was reported before; the first report stands.
        Raise `TicketError` as `tell` does.
        """
        from purse.campaign.rules import reports

        level, number = self._local, number_of(ticket, self.name)
        gain = reports.read_reward(level.terms, reward)
        return level.do(lambda change: reports.reward(change, number, gain), tickets=(number,))

    @verb("POST", "tickets/{ticket}/fail", "act", TicketError, Conflict)
    def fail(
        self,
        ticket: kinds.Ticket,
        cost: kinds.Amounts | None = None,
        reason: str = "",
        rest: kinds.Seconds | None = None,
    ) -> Receipt:
        """Report that the call of a ticket did not work, and return a receipt.

        ticket   as for `tell`
        cost     what it cost all the same, as `tell` takes it: 0 for a call that was refused or
                 never sent; None: not known, as after a time-out or a stream that broke
        reason   for people; the journal keeps the first 200 printable characters
        rest     seconds for which the arm cools down at least, such as a provider's `Retry-After`;
                 None: as long as the campaign's `cooldown` says

        The cost is spent, the rest of the hold released, and nothing is learnt. Without a cost the
        ticket stays open: its hold is kept, and counts as spent at its deadline, until a report
        says the cost. An arm owes an initial pull that failed again, in a new round. A repeat has
        no second effect.

        Raise `Conflict` when the ticket was told, settled or voided, or failed with another cost,
        before.
        Raise `TicketError` as `tell` does.
        """
        from purse.campaign.rules import reports
        from purse.campaign.terms.readers import milliseconds

        level, text = self._local, reports.read_note("reason", reason)
        number = number_of(ticket, self.name)
        costs = None if cost is None else reports.read_costs(level.terms, cost, zero=True)
        pause = milliseconds("rest", rest)
        return level.do(
            lambda change: reports.fail(change, number, costs, text, pause), tickets=(number,)
        )

    @verb("POST", "tickets/{ticket}/void", "act", TicketError, Conflict)
    def void(self, ticket: kinds.Ticket) -> Receipt:
        """Cancel a ticket for which nothing was spent: release its hold and learn nothing.

        ticket   as for `tell`

        An arm owes an initial pull that was cancelled again, in a new round. A repeat has no
        second effect.

        Raise `Conflict` when the ticket was told, settled or failed before.
        Raise `TicketError` as `tell` does.
        """
        from purse.campaign.rules import reports

        number = number_of(ticket, self.name)
        return self._local.do(lambda change: reports.void(change, number), tickets=(number,))

    def frame(self) -> pl.DataFrame:
        """Return a row for each ticket so far, in Polars: when it was asked for, arm, probability,
        state, reward, a cost for each resource, and a column for each key of labels.

        Raise `MissingExtra` when the extra `lab` is not installed.
        """
        from purse.campaign.views.frame import frame_of

        return frame_of(self.journal())

    def _repr_html_(self) -> str:
        """Return the status, for notebooks."""
        return self.status()._repr_html_()

    @verb("POST", "expire", "act", key="expired")
    def expire(self) -> int:
        """Expire the tickets past their deadline, as every ask does, and return their number.

        Their money is presumed spent.
        Tickets that have waited `reward_within` for their reward wait no longer.
        """
        from purse.campaign.rules.reports import count_expired
        from purse.campaign.storage.sql import MOST_DUE

        count, total = MOST_DUE, 0
        while count == MOST_DUE:
            count = self._local.do(count_expired, expires=True)
            total += count
        return total

    @verb("POST", "arms", "admin", CampaignEnded, PolicyFileRefused)
    def add_arm(
        self,
        name: kinds.ArmName,
        *,
        cost_min: kinds.Amounts | None = None,
        cost_max: kinds.Amounts | None = None,
    ) -> Status:
        """Add an arm, or take back a retired one with all that was learnt of it.

        name       of the arm
        cost_min   the least that a pull costs, for several resources one amount for each; None: of
                   a new arm the least that `create` allows, of a retired one as before
        cost_max   the most that a pull costs, in the same way; None: of a new arm the most that
                   `create` allows, of a retired one as before

        A new arm owes its initial pull if the policy begins so. If there is no place for it, or if
        it may cost more than `create` said, the policy learns its journal again, and plays on as
        it is if that takes long. Return the new status.

        Raise `InvalidInput` when the policy cannot play with such costs.
        """
        from purse.campaign.rules import operators

        self._local.change_arm(operators.add_arm, name, cost_min, cost_max)
        return self.status()

    @verb("POST", "arms/retire", "admin", CampaignEnded)
    def retire_arm(self, name: kinds.ArmName) -> Status:
        """Choose an arm no more, and return the new status; its open tickets are told as usual.

        name   of the arm
        """
        from purse.campaign.rules import operators

        self._local.change_arm(operators.retire_arm, name)
        return self.status()

    @verb("POST", "arms/set", "admin", CampaignEnded, PolicyFileRefused)
    def set_arm(
        self,
        name: kinds.ArmName,
        *,
        cost_min: kinds.Amounts | None = None,
        cost_max: kinds.Amounts | None = None,
    ) -> Status:
        """Change what an arm may cost from the next ask on, and return the new status.

        name                 of the arm
        cost_min, cost_max   as for `add_arm`; None: as before

        A report above the most has moved it already; this says that it was right, or sets it back.
        If the arm may cost more than `create` said, the policy learns its journal again.

        Raise `InvalidInput` when the policy cannot play with such costs.
        """
        from purse.campaign.rules import operators

        self._local.change_arm(operators.set_arm, name, cost_min, cost_max)
        return self.status()

    @verb("POST", "limits", "admin", CampaignEnded)
    def set_limit(self, key: str, amount: kinds.Amounts | None, value: str | None = None) -> Status:
        """Set what each value of a key of labels may spend and hold, or what one value may, from
        now on; return the new status.

        key      such as "user", of asks so far or with a limit; a new limit counts from now on
        amount   for several resources one for each; None: a value has that of its key again
        value    such as "ada", whose limit alone changes, and who may not have asked yet; None: all
                 that have none of their own

        With a limit below what a value has taken, it gets no tickets until a new period, or a
        larger limit, has made up for that.
        """
        from purse.campaign.ledger.ask_inputs import read_labels
        from purse.campaign.rules import operators
        from purse.campaign.terms.readers import checked_key

        checked_key("key", key)
        if value is not None:
            read_labels({key: value})
        if amount is None and value is None:
            raise invalid("amount", amount, "must be an amount; None is for one value of a key")
        units = None if amount is None else self._local.terms.amounts("amount", amount, low=0)

        def decide(change: Transaction) -> None:
            operators.check_limited_key(change, key)
            operators.set_limit(change, key, value, units)

        self._local.do(decide, labels=() if value is None else ((key, value),), limits=(key,))
        return self.status()

    @verb("POST", "hand-over", "admin", PolicyFileRefused, key="said")
    def hand_over(self) -> str:
        """Let the policy choose as this purse has it, and return a sentence that says so.

        Asks are refused while another version of it is in charge. The new one learns from all
        reports so far, and the journal says that it took over.

        Raise `InvalidInput` when it cannot play, or when a later version is in charge.
        """
        from purse.campaign.run.teacher import take_over

        said = self._local.do(take_over)
        if not said:
            return f"campaign {self.name!r}: this version of its policy is in charge already"
        return f"handed over {said}"

    def tickets(
        self, states: kinds.States = OPEN, limit: int = 1_000, after: int = 0
    ) -> list[CampaignTicket]:
        """Return at most `limit` tickets in these states, the oldest first.

        states   any of "held", "told", "void", "presumed", "skipped", "settled" and "failed"
        limit    the number of tickets at most
        after    only tickets whose number is above this one
        """
        states = kinds.listed("states", states)
        limit = integer("limit", limit, low=1, high=LARGEST)
        tickets = page = self._tickets(states, min(limit, MOST), after)
        while len(page) == MOST and len(tickets) < limit:
            page = self._tickets(states, min(limit - len(tickets), MOST), tickets[-1].id)
            tickets += page
        return tickets

    @verb("GET", "tickets", "read", key="tickets")
    def _tickets(
        self, states: kinds.States = OPEN, limit: int = MOST, after: int = 0
    ) -> list[CampaignTicket]:
        """Return at most 1,000 tickets, the oldest first.

        states, limit, after   as for `tickets`
        """
        wanted = [choice("states", state, STATES) for state in states]
        limit = integer("limit", limit, low=1, high=MOST)
        after = integer("after", after, low=0, high=LARGEST)
        return self._local.tickets(wanted, limit, after)

    @verb("GET", "tickets/{ticket}", "read", TicketError)
    def ticket(self, ticket: kinds.Ticket) -> CampaignTicket:
        """Return the ticket with this number, as it is now.

        ticket   as for `tell`

        Raise `TicketError` when the campaign did not issue it.
        """
        return self._local.ticket(number_of(ticket, self.name))

    @verb("GET", "labels", "read", key="labels")
    def labels(
        self, key: str | None = None, limit: int = 100, by: Literal["day"] | None = None
    ) -> list[LabelStatus]:
        """Return the labels of asks on which most was spent of the first resource, the largest
        first.

        key     only labels with this key; None: with any
        limit   the number of labels at most, 1 to 10,000; by day that of each day
        by      "day" sums the tickets of each day on which they were asked for, in the campaign's
                time zone, the latest day last; it reads the whole journal; None: of all days
        """
        from purse.campaign.ledger.ask_inputs import MOST_LISTED
        from purse.campaign.ledger.campaign_level import CampaignLevel
        from purse.campaign.terms.readers import checked_key
        from purse.campaign.views.labels import labels

        key = None if key is None else checked_key("key", key)
        limit = integer("limit", limit, low=1, high=MOST_LISTED)
        if by is not None:
            from purse.campaign.views.labels import labels_by_day

            choice("by", by, ("day",))
            return labels_by_day(self._local.journal(), self._local.terms.time_zone, key, limit)
        level, storage = self._local.look()[0], self._local.storage
        assert isinstance(level, CampaignLevel)
        keys = level.head.labels if key is None else [key]
        pages = storage.largest([(self.name, name) for name in keys], limit)
        rows = [row for page in pages for row in page]
        return labels(rows, limit, level.head.limits, level.period_number)

    @verb("GET", "recommendation", "read", PolicyFileRefused)
    def recommend(
        self,
        by: Criterion = REWARD,
        *,
        cap: kinds.Amount | None = None,
        confidence: float = CONFIDENCE,
        within: float = 0.0,
        resource: str | None = None,
    ) -> Recommendation:
        """Return which arm is best, and how sure that is.

        by           "reward": the mean reward; "ratio": the mean reward over the mean cost
        cap          an amount, the most that a pull of the best arm may cost, on average; None:
                     anything
        confidence   that is wanted, above 0 and below 1
        within       by how much the best arm may be missed, in rewards or in rewards per cost
        resource     what costs are counted in; None: the first resource

        The confidence stays valid however often one asks, and whenever one stops. It takes for
        granted that the pulls of an arm are independent and that no arm drifts. Retired arms are
        not recommended.

        Raise `InvalidInput` when a value is not allowed, or when the policy chooses arms by the
        context: then the arms were tried on different requests, and their means cannot be compared.
        """
        from purse.campaign.views.history import History
        from purse.campaign.views.recommendation import recommendation_of

        sums, level = self._local.history.look(History.arm_sums), self._local.campaign
        return recommendation_of(
            level, sums, by, resource, cap=cap, confidence=confidence, within=within
        )

    @verb("GET", "certificate", "read")
    def certificate(self, confidence: float = CONFIDENCE) -> Certificate:
        """Return which share of the best this campaign has earned for certain.

        confidence   of the statement, above 0 and below 1

        The gain so far is at least this share of what the best way to spend the same money, in as
        many rounds if they are limited, would have brought on average: any rule that never pays
        more, even one that knows the mean reward and cost of each arm. The money is what was paid
        or presumed spent so far, not the whole budget; what is held or left counts for neither.

        With this confidence it holds at all times at once, for every policy, so that one may look
        whenever one likes. It assumes that an arm's rewards and costs are independent draws that do
        not change: after a change it is void, and a change of an arm that is no longer played shows
        nowhere. Retired arms do not count for the best way.

        There is no `share`, and `notes` says why, if there are features, if asks allowed only some
        of the arms, if a test of the reports has found a change, if rewards are waited for, or if a
        report was outside the declared ranges.

        Raise `InvalidInput` when the confidence is not allowed.
        """
        from purse.campaign.views.certificate import certificate_of

        sure = check_confidence(confidence)
        return self._local.history.look(lambda history: certificate_of(history, sure))

    @verb("POST", "audit", "admin", PolicyFileRefused, timeout=600.0)
    def audit(
        self,
        *,
        full: bool = False,
        acknowledged: kinds.Tickets = (),
        noted: kinds.Noted | None = None,
    ) -> Audit:
        """Fold the journal and return where the campaign differs from it.

        full           begin at the first entry and compare every ticket; otherwise begin where the
                       last audit that found nothing ended, and compare what has changed since
        acknowledged   the numbers of tickets whose reports were acknowledged
        noted          (`entries`, `digest`) of an earlier `status`

        The audit compares balances, tickets, counts, digests, the policy's choices and its state.
        What never reached this storage, or was lost with it, shows only in `acknowledged` and
        `noted`, which the caller has kept elsewhere.
        """
        acknowledged = kinds.listed("acknowledged", acknowledged)
        match noted:
            case None:
                pass
            case [entries, str()]:
                integer("noted", entries, low=0, high=LARGEST)
            case _:
                raise invalid("noted", noted, "must be the entries and the digest of a status")
        return self._local.audited(
            full=flag("full", full),
            acknowledged=[number_of(ticket, self.name) for ticket in acknowledged],
            noted=noted,
        )

    def export(self, file: str | Path | IO[str], *, contexts: bool = True) -> int:
        """Write the journal as JSON lines and return the number of entries.

        file       a path, which is written whole or not at all, or an open text file
        contexts   whether the contexts of asks are written, too; a journal without them can be
                   restored if the policy does not see contexts
        """
        if flag("contexts", contexts):
            return super().export(file)

        def bare(entry: Entry) -> Entry:
            if entry.kind == "seal":
                raise invalid("contexts", contexts, "must be left out; a seal holds contexts")
            body = entry.body if entry.seq == 1 else without_contexts(entry.body)
            return entry._replace(body=body, salt=None)

        return self._export(file, map(bare, self.journal()), without_contexts=True)

    @classmethod
    def restore(
        cls,
        file: str | Path | IO[str],
        *,
        storage: Place = defaults.STORAGE,
        name: str | None = None,
        account: str | None = None,
    ) -> Self:
        """Create a campaign from an exported journal and return it.

        file       a path or an open text file, as `export` wrote it
        name       the name of the new campaign; None: the name in the journal
        account    the account above the new campaign; None: none, whatever the old one had. What
                   the campaign has spent and held has to fit into it

        The new campaign has an id of its own; its terms name the old one as `restored_from`.

        Raise `PurseError` when the storage is a server: it is done with the database's own address.
        Raise `InvalidInput` when a file cannot be read or is not a journal, or when entries are
        missing.
        Raise `CampaignExists` when the storage has a campaign of this name.
        Raise `BudgetExhausted` when the account has too little left.
        """
        if Server.at(storage, None):
            raise PurseError("a journal is restored on the machine of the database, by its address")
        with needs(f"a {cls.KIND} at {storage!r}"):
            from purse.campaign.run import local_level

        level = local_level.restore_level(file, storage, name, account)
        return cls(level.name, level)


def _attempt(act: Callable[..., T], *values: Any) -> T | PurseError:
    """Call a function; return its result, or the error that it raised."""
    try:
        return act(*values)
    except PurseError as error:
        return error
