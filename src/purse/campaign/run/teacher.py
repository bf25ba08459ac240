"""A policy that learns all again: another version of it takes over, or an arm costs more than the
policy in charge can know, or was added. Then the other one plays on meanwhile: no ask waits for a
long journal.
"""

import threading
from contextlib import suppress
from contextvars import copy_context

from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.rules import operators
from purse.campaign.rules.transaction import Transaction
from purse.campaign.run.learner import JournalRewound, Learner, learn_all
from purse.campaign.storage.storage import Storage
from purse.campaign.terms.arms import Widened
from purse.campaign.terms.terms import Terms
from purse.errors import PurseError

_FEW = 1_000  # entries, which are learnt while an ask waits


def take_over(transaction: Transaction, taught_from: int | None = None) -> str:
    """Let the policy take over as this purse has it; return what `hand_over` does. Raise
    `InvalidInput` if it cannot play.
    """
    level = transaction.campaign
    terms = level.terms.in_charge(level.policy)
    policy = terms.present_policy()
    if policy != level.policy:
        Learner(terms.in_charge(policy), level.arms.widened)
    return operators.hand_over(transaction, policy, taught_from)


def try_take_over(transaction: Transaction) -> list[str]:
    """Let the policy of a campaign take over, if it can play, and the rules of this version decide
    in any case; return a sentence if anything is to be said.
    """
    try:
        is_campaign = isinstance(transaction.level, CampaignLevel)
        said = take_over(transaction) if is_campaign else operators.hand_over(transaction)
    except PurseError as error:
        operators.hand_over(transaction)
        return [f"{transaction.level.title}: {error}"]
    return [f"handed over {said}"] if said else []


class Teacher:
    """Teaches the next policy of a campaign, beside the one in charge if that takes long."""

    def __init__(self, terms: Terms, storage: Storage) -> None:
        self._terms, self._storage = terms, storage
        self._wanted: Widened = ()
        self._is_due = False  # the next policy is to play now
        self._pupil: Learner | None = None
        self._thread: threading.Thread | None = None

    def look(self, level: CampaignLevel, policy: Learner) -> None:
        """Begin to teach if arms may cost what a policy in charge does not know.

        Raise `JournalRewound` if the next one is ready, or has few entries to learn from, or if
        another process has put another one in charge.
        """
        wanted, head = level.arms.widened, level.head
        is_other = policy.taught_from not in (head.taught_from, head.sealed)
        if is_other or policy.terms.policy_version != level.policy[1]:
            raise JournalRewound(f"another policy plays {self._terms.name!r} now; try again")
        if policy.widened == wanted:
            return
        self._terms = policy.terms
        is_ready = self._pupil is not None and self._pupil.widened == wanted
        if is_ready or level.seq <= _FEW:
            self._wanted, self._is_due = wanted, True
            raise JournalRewound(f"the policy of {self._terms.name!r} learns all again; try again")
        if policy.widened != head.taught:
            raise JournalRewound(f"another policy plays {self._terms.name!r} now; try again")
        if self._thread is None or not self._thread.is_alive():
            self._wanted = wanted
            self._thread = threading.Thread(
                target=copy_context().run, args=(self._teach,), daemon=True, name="purse teacher"
            )
            self._thread.start()

    def next_policy(self) -> Learner | None:
        """Return the policy that is to play now, if there is another one."""
        if not self._is_due:
            return None
        self._is_due, pupil, self._pupil = False, self._pupil, None
        if pupil is None or pupil.widened != self._wanted:
            pupil = learn_all(self._terms, self._storage, self._wanted)
        return pupil

    def _teach(self) -> None:
        """Teach the next policy."""
        with suppress(PurseError):  # the next ask begins again
            self._pupil = learn_all(self._terms, self._storage, self._wanted)
