"""Tests of `mdmem.store.index`."""
