"""Tests of research."""
