"""A review as one JSON document."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import fields

from mdmem.change.review_report import ReviewReport
from mdmem.model.finding import Finding
from mdmem.render.json import dump
from mdmem.render.review.graph import mermaid


def review_json(review: ReviewReport) -> str:
    """Return every part of the review, none left out, with the drawing of the chains as `graph.mermaid`."""
    plain = {one.name: _plain(getattr(review, one.name)) for one in fields(review)}
    plain["graph"]["mermaid"] = mermaid(review.graph)
    return dump({"changed": not review.is_empty, **plain})


def _plain(value: object) -> Any:
    if isinstance(value, Finding):
        return {
            "code": value.code,
            "severity": value.severity,
            "path": value.place.path,
            "line": value.place.line,
            "address": value.address,
            "message": value.message,
            "help": value.help,
        }
    if isinstance(value, Struct):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, frozenset):
        return sorted(value)
    return [_plain(one) for one in value] if isinstance(value, tuple) else value
