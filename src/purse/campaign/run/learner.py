"""The policy of a campaign: what it has learnt is the fold of the journal's reports, in their order
(P5).
"""

from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from purse.base import amounts
from purse.campaign.api.states import HELD, OPEN
from purse.campaign.ledger import masks
from purse.campaign.ledger.ask_inputs import CONTEXT
from purse.campaign.ledger.entry import FORGOTTEN, LedgerEntry
from purse.campaign.ledger.records import POLICY, seal, unseal
from purse.campaign.storage.storage import Storage
from purse.campaign.terms.arms import MaskRows, PolicyView, Widened
from purse.campaign.terms.terms import Terms
from purse.compiler.fingerprint import fingerprint
from purse.engine.ask_tell import DONE, tell
from purse.engine.job import make_game, make_policy, sees_contexts
from purse.engine.rules import NEVER
from purse.engine.steps import CallBuffer, make_steps, new_game
from purse.errors import InvalidInput, PurseError, StorageUnavailable
from purse.kernels.fourier import as_seen
from purse.live.save_file import layout
from purse.types import Floats

_WORD = 8  # bytes
_PAGE_SIZE = 5_000  # reports read at a time
_MOST_TAUGHT = 1_000  # times that an arm's mean report is learnt from a seal
CHECKPOINT_EVERY = 5_000  # entries


class JournalRewound(StorageUnavailable):
    """The journal is not the one that the policy has learnt from: a backup took its place."""


class Lessons(NamedTuple):
    """What a seal says of the reports before it."""

    seq: int  # of the last entry
    digest: str  # of the journal up to it
    rounds: int
    # by arm: reports, and sums of rewards, costs (d,) and numbers of contexts
    sums: dict[str, list[Any]]


class Learner:
    """A policy that chooses for a campaign and learns from its journal.

    widened       what arms may cost that the terms do not say, see `Arms.widened`
    taught_from   the last entry of the seal from whose sums it has to learn; 0: of none
    """

    def __init__(self, terms: Terms, widened: Widened = (), taught_from: int = 0) -> None:
        problem = terms.problem_with(widened) if widened else terms.problem
        self.module, params = make_policy(terms.policy, problem)
        game = make_game(self.module, problem, terms.seed, problem.horizon or NEVER)
        self.forgotten = 0  # entries of which contexts were forgotten before it has learnt
        self.terms, self.widened, self.n_arms = terms, list(widened), problem.n_arms
        self.taught_from = taught_from
        self.seq = 0  # of the last entry that it has seen
        self.digest = ""  # of the journal up to that entry
        self._low, self._high = terms.bounds(widened)
        self._buffer = CallBuffer(problem)
        self._zeros = (0,) * problem.n_resources
        self._masks: MaskRows = ()  # that its workspace holds
        self.sees_contexts = bool(terms.features) and sees_contexts(self.module)
        state, self._whole = _in_one(self.module.init(params, problem))
        anew = [getattr(state, name) for name in getattr(self.module, "PERIOD", ())]
        self._anew = [(array, array.copy()) for array in anew]  # what a period begins with
        self.kinds = ("told", "renewed") if anew else ("told",)  # of the entries that it heeds
        self._game = new_game(self.module, params, state, game, self._buffer, problem)
        self.code = sha256(
            f"{fingerprint((tell, self.module.update, params))} {layout(self.state)}".encode()
            + (repr(self.widened).encode() if widened else b"")
            + (b"%d" % taught_from if taught_from else b"")
            + self._whole.tobytes()
        ).hexdigest()
        self._steps = make_steps(self.module, self._game)

    def choose(self, view: PolicyView) -> tuple[int, float]:
        """Return an arm, and the probability that it was drawn with."""
        space, masked = self._game.workspace, self._see(view)
        if self.terms.initial_rounds:
            space.owed[:] = 0
            space.owed[list(view.owed)] = 1
        self._steps.ask(view.t, masked)
        return int(space.arms[0]), float(space.probs[0])

    def _see(self, view: PolicyView) -> bool:
        """Write what the policy sees; return whether arms are masked."""
        space = self._game.workspace
        space.left_units[:] = view.left
        if view.rounds_left is not None:
            self._game.horizon[0] = view.t - 1 + view.rounds_left
        if self.terms.pending:
            space.pending[:] = view.pending
        if self.terms.masks and view.masks != self._masks:
            masks.write(view.masks, self._masks, space.masks, space.seen)
            self._masks = view.masks
        if self.sees_contexts:
            self._see_context(view.context)
        if view.allowed is None:
            return False
        space.allowed[:] = False
        space.allowed[list(view.allowed)] = True
        return True

    def _see_context(self, numbers: Sequence[float] | None) -> None:
        """Write the numbers of a context where the policy looks at them."""
        if numbers is None:
            raise InvalidInput(
                f"the journal of {self.terms.name!r} is without its contexts, and "
                f"{self.terms.policy} sees them: it cannot choose or learn again"
            )
        rows, features = self._game.workspace.context[:, :-1], self.terms.context
        exact = np.array(numbers, np.float32).astype(np.float64)
        rows[...] = as_seen(features, exact.reshape(len(rows), features.n_columns))

    def probabilities(self, view: PolicyView) -> list[float]:
        """Return the probability of each arm."""
        out: Floats = np.zeros(self.n_arms)
        if any(view.allowed is None or arm in view.allowed for arm in view.owed):
            arm, _ = self.choose(view)
            if arm >= 0:
                out[arm] = 1.0
        elif self._steps.look is None:
            raise InvalidInput(f"{self.terms.policy} draws its arm without computing probabilities")
        else:
            self._steps.look(view.t, self._see(view), out)
        return out.tolist()

    def begin_period(self, rounds: int) -> None:
        """Let the horizon count from this many rounds on; rounds keep their numbers."""
        if isinstance(length := self.terms.horizon, int):
            self._game.horizon[0] = rounds + length

    def expect_many(self) -> None:
        """Expect a whole journal: say about how long that takes if there is no compiler."""
        self._steps.expect_many()

    def learn(self, reports: Iterable[tuple[int, dict[str, Any]]], seq: int, digest: str) -> None:
        """Take in the reports and the begins of periods among the entries up to `seq`, each with
        the number of its entry; those seen before are left out. `digest` is that of the journal up
        to `seq`.

        A period sets what the policy names in `PERIOD` back to its beginning. A report on a ticket
        whose hold was gone teaches nothing. The policy sees costs within their declared bounds, and
        rewards as parts of their declared range.
        """
        buffer, space, low, high = self._buffer, self._game.workspace, self._low, self._high
        pack, words, zeros = buffer.form.pack_into, buffer.words, self._zeros
        bounds = self.terms.reward_range
        for number, body in reports:
            if number <= self.seq:
                continue
            if "from" not in body:  # of a period
                for array, first in self._anew:
                    array[...] = first
                continue
            if body["from"] not in OPEN:
                continue
            arm, reward = body["arm"], body["reward"]
            if bounds is not None:
                reward = _scaled(reward, *bounds)
            costs = map(min, map(max, body["costs"], low[arm]), high[arm])
            pack(words, 0, arm, body["p"], *zeros, reward, *costs)
            if self.sees_contexts:
                if body.get(CONTEXT, ()) is None:  # it is forgotten, and teaches nothing
                    continue
                self._see_context(body.get(CONTEXT))
            space.left_units[:] = amounts.LARGEST  # the ledger guards the budget, not this step
            if self._steps.tell(body["t"]) != DONE:
                raise PurseError(
                    f"entry {number} of the journal of {self.terms.name!r} holds an "
                    "impossible report (reward or cost out of range)"
                )
        if seq >= self.seq:
            self.seq, self.digest = seq, digest

    def teach(self, lessons: Lessons) -> bool:
        """Take in what a seal says of each arm's reports, as if each had been the mean one, and all
        had been spread over the rounds so far; at most `_MOST_TAUGHT` of an arm.
        """
        seq, digest, rounds, sums = lessons
        times = {arm: min(row[0], _MOST_TAUGHT) for arm, row in sums.items()}
        total, reports = sum(times.values()), list[tuple[float, dict[str, Any]]]()
        for arm, (n, reward, costs, numbers) in sums.items():
            body = {"arm": int(arm), "p": times[arm] / total, "reward": reward / n, "from": HELD}
            body |= {"costs": [round(units / n) for units in costs]}
            body |= {CONTEXT: [each / n for each in numbers]} if numbers else {}
            reports += [((i + 0.5) / times[arm], body) for i in range(times[arm])]
        reports.sort(key=itemgetter(0))
        rows = [
            (seq, {**body, "t": number * rounds // total})
            for number, (_, body) in enumerate(reports, 1)
        ]
        self.learn([*rows, (seq, {})], seq, digest)  # as if a period had begun
        return True

    @property
    def state(self) -> dict[str, Any]:
        """What it has learnt, as arrays."""
        return self._game.state._asdict()

    def stored(self) -> tuple[str, int, str, bytes]:
        """Return kind, entry, digest and body of a checkpoint, with a hash of code and layout."""
        body = f"{self.code}\n".encode() + self._whole.tobytes()
        return POLICY, self.seq, self.digest, seal(body)

    def begin_at(self, row: Sequence[Any] | None) -> bool:
        """Take over a checkpoint; False, and no change, if it is damaged or of other code."""
        body = None if row is None else unseal(row[2])
        if row is None or body is None:
            return False
        code, _, state = body.partition(b"\n")
        if code.decode() != self.code or len(state) != self._whole.nbytes:
            return False
        self._whole[:] = np.frombuffer(state, np.uint8)
        self.seq, self.digest = row[0], row[1]
        return True

    def agrees(self, row: Sequence[Any]) -> bool:
        """Whether a checkpoint holds what this policy has learnt by now, or is of other code: then
        nobody begins at it.
        """
        body = unseal(row[2])
        if body is not None and not body.startswith(f"{self.code}\n".encode()):
            return True
        return self.stored()[1:] == (row[0], row[1], bytes(row[2]))


def recovered(terms: Terms, storage: Storage) -> Learner:
    """Return the policy in charge as the journal taught it, from the last sound checkpoint on."""
    head = storage.level(terms.name)[-1].head
    if head.policy:
        terms = terms.in_charge(head.policy)
    terms.check_version()
    learner = Learner(terms, head.taught, head.taught_from)
    learner.forgotten = head.forgotten
    for row in _policies(storage, terms.name):
        if learner.begin_at(row) and _catch_up(learner, storage):
            return learner
    return learn_all(terms, storage, head.taught)


def _policies(storage: Storage, name: str) -> Iterator[Sequence[Any] | None]:
    """Yield the policies that are stored, each read when the one before it was of no use."""
    for kind in (POLICY, FORGOTTEN):
        yield storage.checkpoint(name, kind)
    yield sealed_policy(storage.seal(name))


def lessons_of(seal: LedgerEntry) -> Lessons:
    """Return the lessons of a seal for a policy that cannot take over the state in it."""
    body, (head, *_) = seal.body, seal.body["state"]["level"]
    return Lessons(seal.seq, body["digest"], head["rounds"], body["summary"]["sums"])


def sealed_policy(seal: LedgerEntry | None) -> tuple[int, str, bytes] | None:
    """Return the checkpoint of the policy in a seal."""
    if seal is None or seal.body["summary"]["policy"] is None:
        return None
    return seal.seq, seal.body["digest"], b64decode(seal.body["summary"]["policy"])


def learn_all(terms: Terms, storage: Storage, widened: Widened) -> Learner:
    """Return a policy as the whole journal teaches it, or what is sealed of it and the rest."""
    forgotten, seal = storage.level(terms.name)[-1].head.forgotten, storage.seal(terms.name)
    learner = Learner(terms, widened, seal.seq if seal else 0)
    learner.forgotten = forgotten
    if seal is not None:
        learner.teach(lessons_of(seal))
    if not _catch_up(learner, storage):
        raise JournalRewound(f"the journal of {terms.name!r} was replaced while it was read")
    return learner


def _catch_up(learner: Learner, storage: Storage) -> bool:
    """Learn all reports there are; return False if the journal is another one."""
    while True:
        digest, rows = storage.reports(learner.terms.name, learner.seq, _PAGE_SIZE)
        if digest != learner.digest:
            return False
        if not rows:
            return True
        if len(rows) == _PAGE_SIZE:
            learner.expect_many()
        learner.learn(parsed(rows), rows[-1][0], rows[-1][1])


def parsed(reports: Sequence[Sequence[Any]]) -> list[tuple[int, dict[str, Any]]]:
    """Read the bodies of reports, all at once, which takes a third of the time."""
    bodies = orjson.loads(f"[{','.join(row[2] for row in reports)}]")
    return [(row[0], body) for row, body in zip(reports, bodies, strict=True)]


def _scaled(reward: float, low: float, high: float) -> float:
    """Return a reward as a part of its range, from 0 to 1.

    >>> _scaled(5, 0, 20), _scaled(-3, 0, 20), _scaled(21, 0, 20)
    (0.25, 0.0, 1.0)
    """
    return min(1.0, max(0.0, (reward - low) / (high - low)))


def _in_one(state: Any) -> tuple[Any, NDArray[np.uint8]]:
    """Return a state whose arrays lie in one block, and the block: it is copied in one go."""
    offsets = np.cumsum([0, *(-(-array.nbytes // _WORD) * _WORD for array in state)])
    whole = np.zeros(offsets[-1], np.uint8)
    parts = [
        whole[offset : offset + array.nbytes].view(array.dtype).reshape(array.shape)
        for offset, array in zip(offsets, state, strict=False)
    ]
    for part, array in zip(parts, state, strict=True):
        part[...] = array
    return type(state)(*parts), whole
