"""A second reader of a memory, which shares no line with mdmem: what it finds, `mdmem check` must find.

    python tests/bench/independent_faults.py ROOT

Prints one fault a line: code, path, and the other end of a link. It knows the plain forms of front matter alone: one
key a line, its value plain, quoted, a flow list, or a list of lines that start with a hyphen.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from datetime import date
from itertools import product
from pathlib import Path
from typing import NamedTuple

TYPES = {"invariant", "decision", "pattern", "note"}
STATUSES = {"draft", "active", "under_review", "deprecated"}
LINKS = ("supersedes", "superseded_by", "overrides", "conflicts_with", "see", "produced")
DATES = ("created_at", "verified_at", "deprecated_at", "expires_at")
NEEDED = ("type", "status", "created_at")
PLACEHOLDER = re.compile(r"(?i)(n/?a|none|null|nil|tbd|tba|todo|unknown|\?+|-+)\Z")
ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\Z")

Fields = dict[str, list[str]]


class Fault(NamedTuple):
    """One fault of one file; `other` is the other end of a link, as it is written."""

    code: str
    path: str
    other: str = ""


class File(NamedTuple):
    """What one entry states, every value as a list, and its body."""

    fields: Fields
    body: str


def read(root: Path) -> dict[str, File]:
    """Return every file at `wing/room/name.md` by address."""
    paths = (path for path in sorted(root.glob("*/*/*.md")) if path.name != "README.md")
    return {path.relative_to(root).as_posix()[:-3]: parse(path.read_text(encoding="utf-8")) for path in paths}


def parse(text: str) -> File:
    """Return the fields and the body of one file."""
    head, _, body = text.removeprefix("---\n").partition("\n---\n")
    fields: Fields = {}
    key = ""
    for line in head.split("\n"):
        if item := re.match(r"\s*- (.+)", line):
            fields[key].append(plain(item[1]))
        elif named := re.match(r"([\w-]+):\s*(.*)", line):
            key = named[1]
            fields[key] = values(named[2])
    return File(fields, body)


def values(written: str) -> list[str]:
    """Return the items of a flow list, or the one value of anything else; none of what is empty."""
    if not written.startswith("["):
        return [plain(written)] if written else []
    try:
        return [str(item) for item in json.loads(written)]
    except ValueError:
        return [plain(item) for item in written.strip("[]").split(",") if item.strip()]


def plain(written: str) -> str:
    """Return a scalar without its quotes."""
    written = written.strip()
    if written.startswith('"'):
        return str(json.loads(written))
    return written.strip("'")


def faults(root: Path) -> list[Fault]:
    """Return every fault of a root, sorted."""
    files = read(root)
    found = {fault for address, file in files.items() for fault in of_one(address, file, files)}
    return sorted(found | set(of_edges(files)))


def of_one(address: str, file: File, files: dict[str, File]) -> Iterator[Fault]:
    """Yield the faults that one file shows."""
    path = f"{address}.md"
    yield from (Fault("missing-field", path) for name in NEEDED if name not in file.fields)
    for name, known in (("type", TYPES), ("status", STATUSES)):
        for value in file.fields.get(name, []):
            if value not in known:
                yield Fault("template-leftover" if value.count("|") > 1 else "invalid-value", path)
    for name in DATES:
        yield from (Fault(code, path) for value in file.fields.get(name, []) for code in of_date(value))
    for name in LINKS:
        outside = [link for link in file.fields.get(name, []) if link not in files]
        # What replaced an entry, or what it replaced, may be a page of the web.
        unknown = [link for link in outside if not (name.startswith("supersede") and "://" in link)]
        yield from (of_link(path, address, link, files) for link in unknown)
    if address in (file.fields.get("supersedes", []) + file.fields.get("superseded_by", [])):
        yield Fault("needless-link", path)
    if not any(line.strip() and not line.startswith("#") for line in file.body.split("\n")):
        yield Fault("body-empty", path)


def of_date(value: str) -> Iterator[str]:
    """Yield the code of what is wrong with a date."""
    if not ISO.match(value):
        yield "date-form"
        return
    try:
        date.fromisoformat(value[:10])
    except ValueError:
        yield "date-form"


def of_link(path: str, address: str, link: str, files: dict[str, File]) -> Fault:
    """Return the fault of a link that is not an address of the root."""
    wing, room, _ = address.split("/")
    if PLACEHOLDER.match(link):
        return Fault("link-placeholder", path, link)
    is_short = f"{wing}/{link}" in files or f"{wing}/{room}/{link}" in files
    return Fault("link-form" if is_short else "dangling-link", path, link)


def of_edges(files: dict[str, File]) -> Iterator[Fault]:
    """Yield what is wrong between the two ends of each supersession within the root."""
    claimed = edges(files, "supersedes")
    named = {(old, new) for new, old in edges(files, "superseded_by")}
    for new, old in sorted(claimed ^ named):
        if (new, old) in named:
            yield Fault("supersession-one-sided", f"{old}.md", new)
        elif status(files[new]) != "draft":
            yield Fault("turned-down" if ended_alone(files[new]) else "supersession-one-sided", f"{new}.md", old)
    for new, old in sorted(claimed & named):
        if status(files[new]) != "draft" and status(files[old]) != "deprecated":
            yield Fault("superseded-but-active", f"{old}.md", new)
    yield from of_splits(files, claimed, named)
    yield from (Fault("supersession-cycle", f"{address}.md") for address in on_cycles(claimed | named))


def edges(files: dict[str, File], name: str) -> set[tuple[str, str]]:
    """Return who names whom in one link field, within the root."""
    return {(one, other) for one, file in files.items() for other in file.fields.get(name, []) if other in files}


def of_splits(files: dict[str, File], claimed: set[tuple[str, str]], named: set[tuple[str, str]]) -> Iterator[Fault]:
    """Yield each entry that two that are no drafts replace, unless it names both and says why."""
    for old, file in files.items():
        live = {new for new, other in claimed | named if other == old and status(files[new]) != "draft"}
        is_declared = {(new, old) for new in live} <= named and has_reason(file)
        claimants, namesakes = ({new for new, other in some if other == old} & live for some in (claimed, named))
        if is_declared or len(live) < 2:
            continue
        is_split = len(claimants) > 1 or len(namesakes) > 1
        yield Fault("two-successors" if is_split else "supersession-one-sided", f"{old}.md")


def on_cycles(pairs: set[tuple[str, str]]) -> list[str]:
    """Return the addresses that lead to themselves, by the closure of all pairs."""
    reach = {pair for pair in pairs if pair[0] != pair[1]}
    while more := {(a, d) for (a, b), (c, d) in product(reach, reach) if b == c} - reach:
        reach |= more
    return sorted({one for one, other in reach if one == other})


def has_reason(file: File) -> bool:
    """Say whether a file tells why it ended."""
    return bool(file.fields.keys() & {"reason", "deprecated_reason"})


def ended_alone(file: File) -> bool:
    """Return whether a record ended for its own reason, so that it may never have replaced another record."""
    return status(file) == "deprecated" and has_reason(file) and "superseded_by" not in file.fields


def status(file: File) -> str:
    """Return the status of a file as it is written."""
    return (file.fields.get("status") or [""])[0]


if __name__ == "__main__":
    for fault in faults(Path(sys.argv[1])):
        print(*fault)
