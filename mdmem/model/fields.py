"""The table of fields, derived from `Entry` and `Wing`, and the first text and the origin of an entry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha1
from typing import get_type_hints
from zlib import crc32

from msgspec import Struct
from msgspec.structs import replace

from mdmem.model.entry import Entry, EntryType, Field, Holder, Kind, Searched, Wing

# What each field means, with an example of its value.
_TABLE: Mapping[str, Field] = {
    "type": Field(
        "the kind of entry, from most to least authority", "decision", searched=Searched.WHOLE, required=True
    ),
    "status": Field(
        "whether the entry applies; a draft has no effect yet",
        "active",
        set_by="its writer, `mdmem approve`, `doubt`, `verify`, `deprecate` and `supersede`",
        searched=Searched.WHOLE,
        required=True,
    ),
    "created_at": Field("when the entry was written", "2026-03-05", searched=Searched.DATE, required=True),
    "title": Field("one line (default: the first heading, else the entry-id)", "Use threads", searched=Searched.TITLE),
    "verified_at": Field(
        "when somebody last confirmed the entry",
        "2026-04-10",
        "`mdmem verify`, `doubt --done`, `approve` for a draft of an earlier day, and `save_pattern`",
        Searched.DATE,
    ),
    "deprecated_at": Field(
        "when the entry was deprecated", "2026-06-30", "`mdmem deprecate`, `supersede` and `approve`"
    ),
    "expires_at": Field("after this day, the entry counts as under review", "2026-12-31"),
    "version": Field("raise this number when you reword a current rule", "2"),
    "label": Field("the kind of a pattern or note, such as incident or session", "incident", searched=Searched.WHOLE),
    "owner": Field("who is responsible for the entry", "navigation-team", searched=Searched.WHOLE),
    "topic": Field("the subject of the entry, narrower than its room", "executors", searched=Searched.WHOLE),
    "focus": Field(
        "the area of work to which the entry belongs; `--focus` filters by it", "docking", searched=Searched.WHOLE
    ),
    "agent": Field("the agent that wrote the entry", "review-bot", set_by="`mdmem save` and the tools of the server"),
    "tags": Field("more words by which search finds the entry", "[executor, navigation]", searched=Searched.TAG),
    "applies_to": Field(
        "globs of the files to which the entry or wing applies, from the repository's top", '["src/navigation/**"]'
    ),
    "confidence": Field("how sure the writer is, from 0 to 1", "0.8"),
    "relevance_score": Field("how much the entry matters, from 0 to 1", "0.6"),
    "supersedes": Field(
        "the older entries that this entry replaces", "[app/rules/one-thread]", "its writer, and `mdmem supersede`"
    ),
    "superseded_by": Field(
        "the newer entries that replace this entry", "[app/rules/threads]", "`mdmem supersede` and `approve`"
    ),
    "amends": Field("the entries that this entry changes in part; they stay current", "[app/rules/retry]"),
    "overrides": Field("the shared rules that this entry replaces in its own wing", "[ros2/rules/one-thread]"),
    "conflicts_with": Field("the entries that this entry contradicts", "[ros2/communication/sensor-streams-reliable]"),
    "see": Field("related entries", "[ros2/anti-patterns/blocking-callbacks]"),
    "produced": Field("the entries that resulted from this entry", "[app/rules/retry-by-error-code]"),
    "reason": Field(
        "why this entry supersedes, overrides or contradicts another one",
        "it was slow",
        "its writer, and `mdmem supersede`",
    ),
    "deprecated_reason": Field("why the entry was deprecated", "the dock is gone", set_by="`mdmem deprecate`"),
    "approved_by": Field("the person who made the entry active", "Ada <ada@example.com>", set_by="`mdmem approve`"),
    "editorial_at": Field(
        "when a mistake in the text was corrected; the rule stayed the same", "2026-05-02", "`mdmem edit --editorial`"
    ),
    "ignore": Field("checks that do not report this entry, each with a reason", "{local-path: it is the subject}"),
    "trigger": Field("when the pattern applies", "A callback has to wait for another node", holder=Holder.PATTERN),
    "repeatable_steps": Field("the steps, in their order", "[Add a group, Await it]", holder=Holder.PATTERN),
    "exclusions": Field("when the pattern does not apply", "[Nodes with one callback]", holder=Holder.PATTERN),
    "objective": Field("the purpose of the session", "Find out why docking stalls", holder=Holder.SESSION),
    "actions_taken": Field("the actions that were taken", "[Replayed the bag of the night run]", holder=Holder.SESSION),
    "decisions_made": Field("the decisions that were made", "[Retry by error code]", holder=Holder.SESSION),
    "open_items": Field("the open questions", "[The beacon's range is unknown]", holder=Holder.SESSION),
    "next_actions": Field("the next steps", "[Measure the range in the hall]", holder=Holder.SESSION),
    "entity": Field("the name of the thing that the note describes", "docking station", holder=Holder.ENTITY),
    "relations": Field(
        "how the thing relates to others", "[{type: part-of, to: app/entities/fleet}]", holder=Holder.ENTITY
    ),
    "kind": Field("a project's wing, or one that projects share", "project", holder=Holder.WING),
    "project_id": Field(
        "the id by which clients know the project",
        "lifecore-ros2",
        set_by="its writer, and the MCP tool `save_session`",
        holder=Holder.WING,
    ),
    "owners": Field("who is responsible for the wing", "[navigation-team]", holder=Holder.WING),
    "shared_wings": Field(
        "the shared wings that the project reads, in this order (default: all)", "[ros2]", holder=Holder.WING
    ),
    "description": Field("the purpose of the wing", "The navigation stack of the delivery robot", holder=Holder.WING),
    "last_hygiene_at": Field(
        "when `mdmem hygiene` was last recorded for the wing",
        "2026-11-09",
        set_by="`mdmem hygiene --record`",
        holder=Holder.WING,
    ),
}


_OF_ENTRIES, _OF_WINGS = (get_type_hints(owner, include_extras=True) for owner in (Entry, Wing))
# The fields of entries in the order of their attributes, then the fields that only a wing's manifest has.
FIELDS = tuple(
    replace(
        _TABLE[name],
        name=name,
        kind=hint.__metadata__[0],
        example=f"{name}: {_TABLE[name].example}",
        in_manifest=name in _OF_ENTRIES and name in _OF_WINGS,
    )
    for name, hint in (_OF_ENTRIES | _OF_WINGS).items()
    if name in _TABLE
)


def names_of(*kinds: Kind) -> tuple[str, ...]:
    """Return the names of the fields that have one of the given kinds, in order."""
    return tuple(field.name for field in FIELDS if field.kind in kinds)


def searched_as(*ways: Searched) -> tuple[str, ...]:
    """Return the names of the fields that full-text search reads in one of the given ways, in order."""
    return tuple(field.name for field in FIELDS if field.searched in ways)


WING_FIELDS = frozenset(field.name for field in FIELDS if field.is_of_wings)
KNOWN_FIELDS = frozenset(field.name for field in FIELDS if field.holder is not Holder.WING)
REQUIRED = tuple(field.name for field in FIELDS if field.required)
# A list of one item may be written without brackets.
LISTS = frozenset(names_of(Kind.TEXTS, Kind.WINGS, Kind.LINKS, Kind.GLOBS, Kind.RELATIONS))
LINK_FIELDS = names_of(Kind.LINKS)
DATE_FIELDS = tuple(name for name in names_of(Kind.MOMENT) if name in KNOWN_FIELDS)
# The fields, besides title and links, that say what an entry demands and where it applies.
_OF_A_KIND = [one for one in FIELDS if one.holder not in (Holder.ENTRY, Holder.WING)]
BINDING_FIELDS = ("applies_to", *(one.name for one in _OF_A_KIND if one.kind is not Kind.RELATIONS))
# A successor without one of these fields gets the value of the entry that it supersedes.
INHERITED = ("label", "owner", "topic", "focus", "tags", "applies_to")
# The fields of each type of entry. The key None has the fields of a wing's manifest.
FIELDS_OF: Mapping[EntryType | None, Mapping[str, Kind]] = {
    **{kind: {one.name: one.kind for one in FIELDS if one.holder.type in ("entry", kind)} for kind in EntryType},
    None: {one.name: one.kind for one in FIELDS if one.is_of_wings},
}


_PARSING = [(one.name, one.kind, one.holder, one.searched, one.required, one.in_manifest) for one in FIELDS]
# A checksum of how fields are parsed and searched. Caches of parsed entries store it, and are read again if it changes.
VERSION = f"{crc32(repr(_PARSING).encode()):08x}"

# The initial body of a new entry of each type.
BODIES: Mapping[EntryType, str] = {
    EntryType.INVARIANT: """\
<State the rule in one sentence with must or must not.>

Rationale: <say what breaks when it is violated.>
""",
    EntryType.DECISION: """\
<State what was decided in one sentence.>

Rationale: <say why, and what was turned down.>
""",
    EntryType.PATTERN: """\
<Say which problem this solves, then how.>

1. <First step.>
2. <Second step.>
""",
    EntryType.NOTE: """\
<State the fact, and where it was learned.>
""",
}
# The editor shows these comments. Unchanged comments are removed when the entry is saved.
HINTS = """\
# applies_to: ["src/**"]
# owner: a team or a person
# tags: [a, b]
# supersedes: [wing/room/entry-id]
# reason: why it supersedes; `mdmem guide fields` explains every key
"""


def with_hints(text: str) -> str:
    """Return the text of a new entry with comments about optional keys at the end of its front matter."""
    front, fence, body = text.partition("\n---\n")
    return f"{front}\n{HINTS.rstrip()}{fence}{body}"


def without_hints(text: str) -> str:
    """Return a text without the comments that `with_hints` added, except changed ones."""
    hints = HINTS.splitlines()
    return "".join(line for line in text.splitlines(keepends=True) if line.rstrip("\r\n") not in hints)


# The placeholder that a person has to replace with a reason.
REASON = "<say why>"
PLACEHOLDERS: frozenset[str] = frozenset(
    part.split(">")[0] for text in (*BODIES.values(), REASON) for part in text.split("<")[1:]
)


ORIGIN = "x-imported-from"
_WRITTEN = re.compile(r"(?P<path>[^#]+?)(?:#(?P<part>[^@]*))?@(?P<digest>[0-9a-f]{12})\Z")
ORIGIN_LINE = re.compile(rf"^{ORIGIN}:[ \t]+(?P<value>.+?)[ \t]*\r?$", re.MULTILINE)


class Origin(Struct, frozen=True):
    """The imported file (from the project's top), or a part of it; `digest` is the start of git's blob hash."""

    path: str
    part: str
    digest: str

    def __str__(self) -> str:
        """Return the origin as it is written in a front matter. `read_origin` parses this text."""
        path = self.path.replace("%", "%25").replace("#", "%23")
        return f"{path}{f'#{self.part}' if self.part else ''}@{self.digest}"


def content_digest(content: bytes) -> str:
    """Return the first 12 digits of git's blob hash for some content, with line ends converted to LF."""
    plain = content.replace(b"\r\n", b"\n")
    return sha1(b"blob %d\0" % len(plain) + plain, usedforsecurity=False).hexdigest()[:12]


def read_origin(written: object) -> Origin | None:
    """Parse the value of `x-imported-from`; None if it does not have the form of an `Origin`."""
    found = _WRITTEN.match(written) if isinstance(written, str) else None
    if found is None:
        return None
    path = found["path"].replace("%23", "#").replace("%25", "%")
    return Origin(path, found["part"] or "", found["digest"])


def origin_in(text: str) -> Origin | None:
    """Return the origin in the text of an entry's file, or None. The front matter is searched, not parsed as YAML."""
    found = ORIGIN_LINE.search(text.partition("\n---")[0])
    return read_origin(found["value"].strip("\"'")) if found else None
