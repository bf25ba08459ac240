"""The reach of a token: the accounts and campaigns that it names and all below them. What lies
outside is answered as if it were not there.

Here alone is decided what a token reaches; a route without a campaign's or an account's name is
closed to such tokens unless it is in `_FILTERED`, and leaves out itself what they do not reach.
"""

from collections.abc import Collection, Mapping
from typing import Any

from anyio.to_thread import run_sync

from purse.campaign.api.kinds import checked_name
from purse.campaign.api.states import ACCOUNT
from purse.campaign.storage.storage import Storage
from purse.errors import CampaignExists, InvalidInput, NotFound
from purse.service.problems import NO_SUCH_PATH, WRONG_ROLE, ProblemError

_FILTERED = ("/campaigns", "/accounts", "/overview", "/metrics")
_NESTED = ("children", "error", "status")  # fields of a result that hold results
_ABOVE = "a budget above it has too little left, or was stopped"
_MONEY = ("top-ups", "budget", "charges", "pause", "resume", "end")  # set from above


class Reach:
    """What one request may see and change.

    only   names of accounts and campaigns
    """

    def __init__(self, storage: Storage, only: tuple[str, ...]) -> None:
        self.storage, self.only = storage, only
        self.above: Collection[str] = ()  # names that answers must not show

    async def admit(self, route: str, name: str | None) -> None:
        """Raise what is answered to a request for a route that is out of reach."""
        if name is None:
            if route not in _FILTERED:
                raise ProblemError(NO_SUCH_PATH, "there is nothing here for this token")
            return
        is_root = await run_sync(self.check, route.split("/")[1].removesuffix("s"), name)
        if is_root and route.endswith(_MONEY):
            detail = f"the token is for {name!r}, whose money and state are set from above"
            raise ProblemError(WRONG_ROLE, detail)
        if self.above and route.endswith("/audit"):
            detail = "an audit reads a whole tree of accounts: it needs a token of the top one"
            raise ProblemError(WRONG_ROLE, detail)

    def check(self, kind: str, name: Any) -> bool:
        """Return whether a name is one of the token's own, and not below another of them.

        Raise `NotFound` if it is out of reach, or not there: nothing tells these apart.
        """
        chain = self._chain(name)
        reached = [position for position, (level, _) in enumerate(chain) if level in self.only]
        if not reached or chain[-1][1] != kind:
            raise NotFound(f"there is no {kind} {name!r}")
        self.above = [level for level, _ in chain[: reached[0]]]
        return reached[0] == len(chain) - 1

    def _chain(self, name: Any) -> list[tuple[str, str]]:
        try:
            return self.storage.chain(checked_name("name", name))
        except InvalidInput:
            return []

    def check_new(self, values: Mapping[str, Any]) -> None:
        """Raise what is answered to a creation that is not below what the token reaches."""
        account, name = values.get("account"), values["name"]
        if account is None:
            raise InvalidInput("account: is missing; the token creates below what it reaches")
        self.check(ACCOUNT, account)
        chain = self._chain(name)
        if chain and not any(level in self.only for level, _ in chain):
            raise CampaignExists(f"the name {name!r} is in use; take another")

    def names(self) -> set[str]:
        """Return the names of all that is reached, and let answers show no other account."""
        names = {name for top in self.only for name in self.storage.names_below(top)}
        self.above = set(self.storage.names(ACCOUNT)) - names
        return names

    def hides(self, text: str) -> bool:
        """Return whether a text names what is above."""
        return any(repr(name) in text for name in self.above)

    def shown(self, facts: Any) -> Any:
        """Return a result in values of JSON without what is above."""
        if isinstance(facts, (list, tuple)):
            return list(map(self.shown, facts))
        if not isinstance(facts, dict) or not self.above:
            return facts
        return {key: self._value(key, value) for key, value in facts.items()}

    def _value(self, key: str, value: Any) -> Any:
        if key in _NESTED:
            return self.shown(value)
        if key == "account" and value in self.above:
            return ""
        return _ABOVE if key in ("why", "detail") and self.hides(value) else value
