"""Tests of `mdmem.index`."""
