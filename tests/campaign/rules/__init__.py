"""Tests of the rules of the verbs."""
