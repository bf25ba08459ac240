"""A client that keeps a log of what it wants and of what it was answered."""

import json
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from purse import AskRefused, Conflict, InvalidInput
from tests.support import greedy_contexts

TERMS: dict[str, Any] = {
    "alerts": [],
    "arms": {"left": 1, "right": "1.5"},
    "budget": 12,
    "cost_min": "0.1",
    "policy": "primal-dual-bwk",
    "cooldown": 0.002,
}
# with these, clients use masks and contexts and change arms, and rewards come too late now and then
TRAFFIC: dict[str, Any] = {
    **TERMS,
    "capacity": 3,
    "cost_ceiling": 2,
    "reward_within": 0.6,
    "missing_reward": 0.3,  # nobody reports this
    "policy": str(Path(greedy_contexts.__file__)),
    "features": ["x", "y"],
}
RENEWED: dict[str, Any] = {"every": "1h"}
SHORT_HOUR = 100  # ms: periods of an hour end while clients live
FUND = "fund"  # a top-up of an account
NEW = "later"  # an arm that comes and goes
ARM_VERBS = {"arm_added": "add_arm", "arm_retired": "retire_arm", "arm_changed": "set_arm"}
Line = dict[str, Any]


class ClientLog:
    """Lines that begin with `want` before something is asked for, and with `got` once it is
    answered.
    """

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def write(self, line: Line) -> None:
        """One more line."""
        self.lines.append(line)

    @property
    def open(self) -> Line | None:
        """What was wanted last, where no answer is known."""
        return self.lines[-1] if self.lines and "want" in self.lines[-1] else None


class FileClientLog(ClientLog):
    """A log on disk: a line is synced before the client goes on."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.lines = (
            [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        )
        self._file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)

    def write(self, line: Line) -> None:
        os.write(self._file, (json.dumps(line) + "\n").encode())
        os.fsync(self._file)
        super().write(line)


class LoggingClient:
    """Asks, tells, voids and tops up at random; what was wanted when it died is wanted again, in
    the same words, by whoever goes on with its log.

    accounts   those above the campaign, which are topped up in turn with it
    """

    def __init__(
        self,
        campaign: Any,
        log: ClientLog,
        name: str,
        rng: random.Random,
        accounts: Sequence[Any] = (),
    ) -> None:
        self.campaign, self.log, self.name, self.rng = campaign, log, name, rng
        self.traffic = bool(campaign.terms.capacity)
        self.accounts = {account.name: account for account in accounts}
        self.tickets = {
            number
            for line in log.lines
            if line.get("got") == "ask"
            for number in line.get("tickets", ())
        }
        self.tickets -= {
            line["ticket"]
            for line in log.lines
            if line.get("got") in ("tell", "void", "settle", "fail")
        }
        self.settled = {line["ticket"] for line in log.lines if line.get("got") == "settle"}
        self.settled -= {line["ticket"] for line in log.lines if line.get("got") == "reward"}

    def resume(self) -> None:
        """Ask again for what was not answered, twice: both answers must be one."""
        if (line := self.log.open) is not None:
            self.have(line)
            first = self.log.lines[-1]
            if "refused" not in first and line["want"] not in ARM_VERBS.values():
                assert {**first, **self.call(line), "duplicate": True} == {
                    **first,
                    "duplicate": True,
                }, first

    def step(self) -> None:
        line = self.wish()
        self.log.write({"want": line.pop("do"), **line})
        self.have(self.log.lines[-1])

    def wish(self) -> Line:
        last = self.log.lines[-1] if self.log.lines else {}
        request = f"{self.name}-{len(self.log.lines)}"
        if last.get("refused") in ("BudgetHeld", "BudgetExhausted"):
            return {**self.money_wish(), "request": request, "amount": "2.5"}
        if self.traffic and self.rng.random() < 0.1:
            return {**self.arm_wish(), "request": request}
        if not self.tickets or self.rng.random() < 0.5:
            n = self.rng.choice((1, 1, 1, 3))
            return {"do": "ask", "request": request, "n": n, **self.mask(), **self.contexts(n)}
        ticket = self.rng.choice(sorted(self.tickets))
        reward, cost = self.rng.randrange(9) / 8, f"{self.rng.uniform(0.05, 1.7):.3f}"
        draw = self.rng.random()
        if draw < 0.1:
            return {"do": "void", "ticket": ticket}
        if draw < 0.2:
            return {"do": "fail", "ticket": ticket, "cost": cost}
        if draw < 0.4:
            return {"do": "settle", "ticket": ticket, "cost": cost}
        if draw < 0.6 and self.settled:
            return {"do": "reward", "ticket": min(self.settled), "reward": reward}
        return {"do": "tell", "ticket": ticket, "reward": reward, "cost": cost}

    def money_wish(self) -> Line:
        """Whose budget is to grow."""
        levels = [None, *self.accounts]
        name = self.rng.choice(levels) if self.accounts else None
        return {"do": "top_up"} if name is None else {"do": FUND, "account": name}

    def arm_wish(self) -> Line:
        """A change of an arm; not every one can be made."""
        verb = self.rng.choice(list(ARM_VERBS.values()))
        if verb == "set_arm":
            name, cost = self.rng.choice(("left", NEW)), self.rng.choice(("1", "1.25", "2"))
            return {"do": verb, "arm": name, "most": cost}
        return {"do": verb, "arm": self.rng.choice((NEW, NEW, "right"))}

    def mask(self) -> Line:
        """Which arms an ask allows, in half of the asks; in a quarter with what they may cost."""
        draw = self.rng.random()
        if not self.traffic or draw < 0.5:
            return {}
        names = self.rng.sample(("left", "right", NEW), self.rng.choice((1, 2, 3)))
        return {"arms": names if draw < 0.75 else dict.fromkeys(names, "0.75")}

    def contexts(self, n: int) -> Line:
        """What is known of each round, where there are features."""
        names = self.campaign.terms.features or {}
        draws = [[self.rng.randrange(-8, 9) / 8 for _ in names] for _ in range(n)]
        return {"contexts": draws} if names else {}

    def have(self, line: Line) -> None:
        """Do it, and write down the answer."""
        answer = self.call(line)
        self.log.write(
            {
                "got": line["want"],
                **{name: value for name, value in line.items() if name != "want"},
                **answer,
            }
        )
        self.tickets = self.tickets - {line.get("ticket")} | set(answer.get("tickets", ()))
        if line["want"] == "settle":
            self.settled.add(line["ticket"])
        if line["want"] == "reward":
            self.settled.remove(line["ticket"])

    def call(self, line: Line) -> Line:
        """The answer to what is wanted, as far as repeats must share it."""
        if line["want"] == "ask":
            try:
                tickets = self.campaign.ask_many(
                    line["n"], line["request"], arms=line.get("arms"), contexts=line.get("contexts")
                )
            except (AskRefused, InvalidInput) as error:  # an arm may be retired, or not there yet
                return {"refused": type(error).__name__}
            return {
                "tickets": [ticket.id for ticket in tickets],
                "chosen": [ticket.arm for ticket in tickets],
                "held": [ticket.held[0] for ticket in tickets],
            }
        if line["want"] == "top_up":
            self.campaign.top_up(line["amount"], line["request"])
            return {}
        if line["want"] == FUND:
            self.accounts[line["account"]].top_up(line["amount"], line["request"])
            return {}
        if line["want"] in ARM_VERBS.values():
            return self.change_arm(line)
        if line["want"] == "void":
            return {"state": self.campaign.void(line["ticket"]).state}
        try:
            receipt = self.report(line)
        except Conflict:
            if line["want"] != "reward":
                raise
            return {"too_late": True}  # the reward was given up
        return {
            "spent": receipt.spent[0],
            "overrun": receipt.overrun[0],
            "duplicate": receipt.duplicate,
        }

    def change_arm(self, line: Line) -> Line:
        most = {"cost_max": line["most"]} if "most" in line else {}
        try:
            getattr(self.campaign, line["want"])(line["arm"], **most)
        except InvalidInput:  # not there, no place for it, or too few would be left
            return {"refused": "InvalidInput"}
        return {}

    def report(self, line: Line) -> Any:
        given = [line[name] for name in ("reward", "cost") if name in line]
        return getattr(self.campaign, line["want"])(line["ticket"], *given)
