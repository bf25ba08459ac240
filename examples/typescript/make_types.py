"""Write `purse.d.ts`, the types of the service's API for TypeScript, from its OpenAPI description.

Run it where the API has changed: npm ci && python make_types.py. It needs Node and purse[serve].
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TYPES = HERE / "purse.d.ts"
DIGEST = "// SHA-256 of the API's types: "
# what the description says beside the types
PROSE = ("title", "description", "summary", "example", "examples")


def document() -> dict[str, Any]:
    """Return the OpenAPI description of the service that is installed."""
    command = [sys.executable, "-m", "purse", "serve", "--openapi"]
    description: dict[str, Any] = json.loads(subprocess.run(command, stdout=-1, check=True).stdout)
    return description


def types_of(part: Any) -> Any:
    """Return a part of the description without prose. A field of a type may be called `title`; such
    a field has a description of its own, and a prose of that name is text.
    """
    if isinstance(part, list):
        return [types_of(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        name: types_of(value)
        for name, value in part.items()
        if name not in PROSE or (name == "title" and isinstance(value, dict))
    }


def digest(described: dict[str, Any]) -> str:
    """Return what tells one set of types from another: a hash of paths and components."""
    parts = types_of({name: described[name] for name in ("paths", "components")})
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def typescript(described: dict[str, Any]) -> str:
    """Return the types in TypeScript, with the digest in front."""
    tool = HERE / "node_modules" / ".bin" / "openapi-typescript"
    output = subprocess.run(
        [tool, "--default-non-nullable=false"],
        input=json.dumps(described).encode(),
        stdout=-1,
        check=True,
    )
    return f"{DIGEST}{digest(described)}\n{output.stdout.decode()}"


if __name__ == "__main__":
    TYPES.write_text(typescript(document()))
