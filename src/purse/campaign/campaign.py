"""`purse.Campaign`: asks, reports and voids under a budget that cannot be overspent.

This holds for any number of threads, processes and machines, and when any of them dies.
"""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from purse.base import validation
from purse.campaign import defaults, make_results, operations
from purse.campaign.archive_file import read_journal
from purse.campaign.arms import Arms
from purse.campaign.contexts import Context, read_context, read_contexts
from purse.campaign.group_commit import write_set
from purse.campaign.ledger import Ledger
from purse.campaign.mask import Mask, read_mask
from purse.campaign.operator_verbs import OperatorVerbs
from purse.campaign.read_terms import IGNORE
from purse.campaign.record_verbs import RecordVerbs
from purse.campaign.report_verbs import ReportVerbs
from purse.campaign.restore import restore
from purse.campaign.results import CampaignTicket
from purse.campaign.rules import Transaction
from purse.campaign.spending import SpendingVerb
from purse.campaign.storage.base import Storage
from purse.campaign.storage.connect import connect
from purse.campaign.terms import PRESUME, RELEASE, WEAKER_PROMISE, Terms
from purse.errors import CampaignExists, InvalidInput, NoSuchCampaign, suggest
from purse.policies import DEFAULT

MAX_BATCH = 1_000  # tickets in one request


class Campaign(ReportVerbs, OperatorVerbs, RecordVerbs, SpendingVerb):
    """A campaign: a budget, its tickets and the policy that chooses the arms, kept in a storage.

    `create` makes a new campaign and `open` opens an existing one. Any number of threads and
    processes may then ask and tell.
    """

    @classmethod
    def create(
        cls,
        name: str,
        *,
        arms: Sequence[str] | Mapping[str, Any],
        budget: Any,
        cost_min: Any = None,
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
        features: Any = None,
        per_arm: bool = False,
        storage: str | Storage = defaults.STORAGE,
        exist_ok: bool = False,
    ) -> Campaign:
        """Create a campaign in its storage and return it.

        arms           the names of the arms; or {name: the most that a pull may cost}, without
                       `cost_max`
        budget         decimal text or a number; for several resources a list, or {resource: amount}
        cost_min, cost_max   the least and the most that a pull costs: one amount, one for each arm,
                             or one for each arm and resource, shape (K, d). Where `cost_min` is
                             left out it is `costs`, or else a thousandth of `cost_max`
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
        features       what a context holds: a number of features, a list of names, or a mapping
                       from names to a range (low, high), to (low, high, "optional") or to
                       classes; None: no contexts. Ranges are mapped to [-1, 1]
        per_arm        whether each arm has a context of its own
        storage        an address such as sqlite:///purse.db or postgresql://user@host/database
        exist_ok       return the campaign of this name where the storage has one that was created
                       with the same values

        Raise `CampaignExists` when the storage has a campaign of this name, or with `exist_ok` one
        that was created with other values.
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
            features=features,
            per_arm=per_arm,
        )
        terms.check_state()
        if terms.on_expiry == RELEASE:
            warnings.warn(WEAKER_PROMISE, stacklevel=2)
        kept = connect(storage)
        transaction = Transaction(Ledger(terms), kept.now())
        transaction.add("created", terms.as_dict())
        try:
            kept.create(name, [write_set(transaction)])
        except CampaignExists as error:
            if not exist_ok:
                hint = (
                    "Campaign.open opens it, exist_ok (--exist-ok) takes it where all is the same"
                )
                raise CampaignExists(f"{error}; {hint}") from None
            found = cls.open(name, storage=kept)
            terms.check_same_as(found.terms)
            return found
        return cls(terms, kept)

    @classmethod
    def open(cls, name: str, *, storage: str | Storage = defaults.STORAGE) -> Campaign:
        """Return an existing campaign as its storage holds it.

        Raise `NoSuchCampaign` when the storage has no campaign of this name.
        """
        kept = connect(storage, create=False)
        try:
            (first,) = kept.entries(name, 0, 1)
        except NoSuchCampaign as error:
            raise with_hint(error, name, kept) from None
        return cls(Terms.from_dict(first.body), kept)

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

    def ask(
        self,
        request_id: str | None = None,
        *,
        arms: Sequence[str] | Mapping[str, Any] | None = None,
        context: Any = None,
    ) -> CampaignTicket:
        """Return a ticket for the next round, and hold the most that its arms may cost.

        request_id   1 to 200 printable characters that name this ask; a repeat returns the same
                     ticket and holds nothing more
        arms         the arms that may be chosen; or {arm: the most that this call may cost}, at
                     most the arm's own maximum, which is then held; None: all arms
        context      the values of the features, by name or in order, where there are features; with
                     `per_arm` those of each arm, by name or in order

        Raise `InvalidInput` when the context does not fit the features.
        Raise `BudgetExhausted` when the budget cannot cover the pull; then nothing has changed.
        Raise `BudgetHeld`, a subclass, when the pull may fit once open tickets are told or voided.
        Raise `ArmsCoolingDown` when calls of all allowed arms failed just now.
        Raise `HorizonReached`, `CampaignPaused` or `CampaignClosed` when no round can be asked for.
        Raise `Conflict` when `request_id` was used before for another request or context, or when
        its ticket is void, released or failed by now.
        """
        mask, seen = self._mask(arms), self._context(context)
        return self._ask(1, request_id, mask, None if seen is None else [seen])[0]

    def ask_many(
        self,
        n: int,
        request_id: str | None = None,
        *,
        arms: Sequence[str] | Mapping[str, Any] | None = None,
        contexts: Sequence[Any] | None = None,
    ) -> list[CampaignTicket]:
        """Return as many tickets as fit, at least 1 and at most `n`, for one request.

        n            from 1 to 1,000
        request_id   as for `ask`; a repeat returns the same tickets
        arms         as for `ask`, the same for all tickets
        contexts     `n` of what `ask` takes as a context, where there are features; the tickets are
                     for the first of them, in order

        Raise what `ask` raises when not even one ticket fits.
        """
        n = validation.integer("n", n, low=1, high=MAX_BATCH)
        mask = self._mask(arms)
        if contexts is None and not self.terms.features:
            return self._ask(n, request_id, mask, None)
        return self._ask(n, request_id, mask, read_contexts(self.terms, n, contexts, self._arms))

    def _ask(
        self,
        n: int,
        request_id: str | None,
        mask: Mask | None,
        contexts: list[Context] | None,
    ) -> list[CampaignTicket]:
        operation = operations.ask(n, self._request(request_id), mask, contexts)
        return [make_results.ticket(self.terms, record) for record in self._committer.do(operation)]

    def probabilities(
        self,
        arms: Sequence[str] | Mapping[str, Any] | None = None,
        context: Any = None,
    ) -> dict[str, float]:
        """Return {arm: the probability of this arm in the next round}.

        arms, context   as for `ask`
        """
        mask, seen = self._mask(arms), self._context(context)
        chances = self._committer.do(operations.probabilities(mask, seen))
        return dict(zip(self._arms().names, chances, strict=False))

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

    def _context(self, context: Any) -> Context | None:
        """Return the context of an ask, encoded; None where there are no features."""
        if context is None and not self.terms.features:
            return None
        return read_context(self.terms, context, self._arms)

    def _arms(self) -> Arms:
        return Arms(self.terms, self.storage.overview(self.name).head.arms)


def with_hint(error: NoSuchCampaign, name: str, storage: Storage) -> NoSuchCampaign:
    """Return the error with the nearest name that the storage has."""
    hint = suggest(str(name), storage.names())
    return NoSuchCampaign(f"{error}; {hint}" if hint else str(error))
