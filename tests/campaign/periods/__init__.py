"""Tests of periods."""
