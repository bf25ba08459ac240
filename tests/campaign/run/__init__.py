"""Tests of operations, audits and restores."""
