"""Tests of files and frames."""
