"""Tests of entries and of what is folded from them."""
