"""Tests of `mdmem.authoring`."""
