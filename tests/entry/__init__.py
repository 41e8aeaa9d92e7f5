"""Tests of `mdmem.entry`."""
