"""Arms whose rewards do not arrive: they get a small part of the tickets, whatever the policy."""

from __future__ import annotations

SILENT = 20  # tickets after which an arm that has brought no reward yet may be left out
SILENT_SHARE = 5  # it gets one ticket in so many
