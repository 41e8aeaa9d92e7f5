"""Answers questions: select, rank, relate, fit."""
