"""What is reported of a call that failed, and what a caller gets whose request is not made."""

import sys
import time
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

from purse.base import problem_types
from purse.campaign.spending import reason_of
from purse.errors import ArmsCoolingDown, AskRefused, BudgetHeld, PurseError, StorageUnavailable

Report = tuple[Any, ...] | None  # a verb of a campaign and its values; None: nothing is reported

_NOT_SENT = {"ConnectError", "ConnectTimeout", "ProxyError", "UnsupportedProtocol"}
_NOT_SENT |= {"LocalProtocolError", "WriteError", "WriteTimeout"}
_THE_REQUESTS_FAULT = {*range(300, 404), 405, 413, 415, 422} - {402}
_MAYBE_BILLED = {408, 499, 504, 522, 524}  # a gateway gave up; the model may go on
_LONGEST_REST = 3600.0  # seconds
_SLUGS = {kind: problem.slug for kind, problem in problem_types.OF_ERRORS.items()}


def of_exception(error: Exception) -> Report:
    """Return the report on a call that got no answer."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "PoolTimeout" in kinds:  # no connection was free here
        return ("void",)
    return "fail", 0 if kinds & _NOT_SENT else None, reason_of(error)


def of_response(response: Any) -> Report:
    """Return the report on a provider's refusal; None if it begins to answer."""
    status = response.status_code
    if status < 300:
        return None
    if status in _THE_REQUESTS_FAULT:
        return ("void",)
    cost = None if status in _MAYBE_BILLED else 0
    return "fail", cost, f"status {status}", _rest_of(response.headers)


def _rest_of(headers: Any) -> float | None:
    """Return the seconds for which a provider wants to rest; None if it does not say."""
    text, seconds = headers.get("retry-after", ""), 0.0
    with suppress(ValueError):  # a time, or nothing
        seconds = parsedate_to_datetime(text).timestamp() - time.time()
    with suppress(ValueError):
        seconds = float(text)
    with suppress(ValueError):
        seconds = float(headers.get("retry-after-ms", "")) / 1000
    return min(seconds, _LONGEST_REST) if seconds > 0 else None


def refusal(request: Any, error: PurseError) -> Any:
    """Return the answer to a request that is not made, in the words of a provider.

    SDKs repeat a refusal that may be over soon, and no other: they would repeat an exception.
    """
    slug = next(_SLUGS[kind] for kind in type(error).__mro__ if kind in _SLUGS)
    told = {"type": slug, "code": slug, "message": str(error)}
    headers = {"x-should-retry": "false"}
    match error:
        case BudgetHeld():
            status, headers = 429, {}
        case ArmsCoolingDown():
            status, headers = 503, {"retry-after-ms": str(int(1000 * error.seconds) + 1)}
        case StorageUnavailable():
            status, headers = 503, {}
        case AskRefused():
            status = 402
        case _:
            status = 400
    return library_of(request).Response(
        status, headers=headers, json={"type": "error", "error": told}
    )


def library_of(thing: Any) -> Any:
    """Return httpx2 or httpx, whichever made a request or a response."""
    return sys.modules[type(thing).__module__.partition(".")[0]]
