"""Tests of `mdmem.model`."""
