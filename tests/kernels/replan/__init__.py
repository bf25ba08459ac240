"""Tests of the parts of `replan`."""
