"""OpenTelemetry's spans of model calls (GenAI semantic conventions), a JSON object a line as the
file exporter of a collector writes them, with evaluations as events of spans or as log records.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

from purse.base.optional import pl
from purse.errors import InvalidInput, shorten
from purse.lab.data.formats import Format, LeftOut
from purse.lab.data.text_file import File, filled_lines

MARKS = ('"resourceSpans"', '"resourceLogs"')  # one of them stands in the first line
_PRICED = "price of the tokens"
_EVALUATION = "gen_ai.evaluation."
_MODEL = "gen_ai.request.model"
_USAGE = {
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
}
SPANS = Format(
    name="spans of OpenTelemetry",
    headers=frozenset({"span_id", _MODEL}),
    arm=_MODEL,
    costs=[
        "gen_ai.usage.cost.amount",
        "operation.cost",
        "litellm.cost.total",
        "gen_ai.usage.cost",
        _PRICED,
    ],
    id="span_id",
    time="start",
    session="gen_ai.conversation.id",
    size="gen_ai.usage.input_tokens",
    left_out=[
        LeftOut(
            "other spans",
            "gen_ai.operation.name",
            ["chat", "text_completion", "generate_content"],
            others=True,
        ),
        LeftOut("failed calls", "failed", ["true"]),
    ],
)


def read_spans(path: File) -> pl.DataFrame:
    """Return a row for each span that has attributes of a model call, with a column for each of its
    attributes and of its evaluations. Without a recorded cost it is the price of the tokens.

    Raise `InvalidInput` if a line is no JSON, or nothing says what calls cost.
    """
    rows, scores = [], dict[str, dict[str, float]]()
    for number, line in filled_lines(path):
        try:
            content = json.loads(line)
        except ValueError:
            shown = shorten(line.strip(), 60)
            raise InvalidInput(f"{path}, line {number}: {shown!r} must be a JSON object") from None
        for span in _nested(content, "resourceSpans", "scopeSpans", "spans"):
            attributes = _values(span)
            for event in span.get("events") or ():
                _add_score(scores, span.get("spanId"), _values(event))
            if _MODEL in attributes:
                failed = "error.type" in attributes or (span.get("status") or {}).get("code") == 2
                start = int(span.get("startTimeUnixNano") or 0)
                own = {"span_id": span.get("spanId"), "start": start, "failed": str(failed)}
                rows.append(attributes | own)
        for record in _nested(content, "resourceLogs", "scopeLogs", "logRecords"):
            values = _values(record)
            _add_score(scores, record.get("spanId") or values.get("gen_ai.response.id"), values)
    if not rows:
        raise InvalidInput(f"{path} has no span with {_MODEL}")
    for number, row in enumerate(rows):  # evaluations first: a refusal lists the first columns
        of_response = scores.get(str(row.get("gen_ai.response.id")), {})
        rows[number] = (scores.get(row["span_id"]) or of_response) | row
    if not any(cost in row for row in rows for cost in SPANS.costs):
        _add_prices(path, rows)
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


def _nested(content: Mapping[str, Any], *names: str) -> Iterator[dict[str, Any]]:
    """Yield what lists in lists have under these names."""
    for entry in content.get(names[0]) or ():
        if len(names) == 1:
            yield entry
        else:
            yield from _nested(entry, *names[1:])


def _values(holder: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes that are texts, numbers or true and false; whole numbers come as texts."""
    values = {}
    for entry in holder.get("attributes") or ():
        ((kind, value),) = list((entry.get("value") or {"": None}).items())[:1]
        if kind in ("stringValue", "doubleValue", "boolValue"):
            values[entry["key"]] = value
        elif kind == "intValue":
            values[entry["key"]] = int(value)
    return values


def _add_score(scores: dict[str, dict[str, float]], owner: Any, values: Mapping[str, Any]) -> None:
    """Keep the score of an evaluation, if that is what these attributes are."""
    name, value = (values.get(f"{_EVALUATION}{key}") for key in ("name", "score.value"))
    if owner and name is not None and value is not None:
        scores.setdefault(str(owner), {})[str(name)] = float(value)


def _add_prices(path: File, rows: list[dict[str, Any]]) -> None:
    """Give each row the price of its tokens by genai-prices."""
    try:
        prices = import_module("genai_prices")
    except ModuleNotFoundError:
        raise InvalidInput(
            f"{path}: no span has a cost (gen_ai.usage.cost.amount, operation.cost); "
            "pip install genai-prices, which knows what tokens cost"
        ) from None
    for row in rows:
        tokens = {
            name: next((row[key] for key in keys if key in row), 0) for name, keys in _USAGE.items()
        }
        provider = row.get("gen_ai.provider.name") or row.get("gen_ai.system")
        with suppress(LookupError):
            priced = prices.calc_price(prices.Usage(**tokens), row[_MODEL], provider_id=provider)
            row[_PRICED] = float(priced.total_price)
            continue
        raise InvalidInput(
            f"{path}: no span has a cost, and genai-prices does not know {row[_MODEL]!r}"
        )
