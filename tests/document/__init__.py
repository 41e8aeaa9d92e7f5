"""Tests of `mdmem.document`."""
