"""Tests of what answers a question."""
