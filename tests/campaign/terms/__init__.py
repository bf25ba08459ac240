"""Tests of terms."""
