"""Tests of `mdmem.write`."""
