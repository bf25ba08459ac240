"""Tests of what users see of a level."""
