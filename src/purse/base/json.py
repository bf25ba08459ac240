"""JSON as it is stored and sent."""

from typing import Any

import orjson


def compact(value: Any) -> str:
    """JSON without spaces; tuples with names are lists."""
    return compact_bytes(value).decode()


def compact_bytes(value: Any) -> bytes:
    """Return the same in UTF-8."""
    return orjson.dumps(value, default=list)
