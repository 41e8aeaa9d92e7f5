"""Tests of `mdmem.markdown`."""
