"""Checks of the links from one entry to another."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator

from msgspec.structs import replace

from mdmem.checks.case import Case, Link
from mdmem.checks.check import check
from mdmem.checks.fixes.base import field_at, is_only_cause, is_slip, line_start, loaded_with_fixes, with_fix
from mdmem.checks.fixes.links import with_link, with_reference
from mdmem.checks.missing_targets import Fate, MissingTarget
from mdmem.checks.paths import TrackedPaths, is_path_like
from mdmem.markdown.layout import replace_span
from mdmem.markdown.parse import Document
from mdmem.markdown.patch import remove_item
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.catalog.links import Reference

_LINK = re.compile(r"\[{1,2}\s*([^\[\],]+?)\s*\]{1,2}")


@check("wiki-link-value", Severity.ERROR)
def wiki_link_value(case: Case) -> Iterator[Finding]:
    """A field holds a wiki link.

    In YAML `[[x]]` is a list in a list, so other tools see no link there at all. In a field an address stands plain; in
    the body `[[x]]` is fine.

    Fails:

        supersedes: [[app/rules/local-times]]

    Fix: write `supersedes: [app/rules/local-times]`.
    `mdmem check --fix` does it where no doubt is left.
    """
    yield from loaded_with_fixes(case, "wiki-link-value", _plain)


def _plain(document: Document, finding: Finding) -> Finding:
    """Take the brackets away where they stand in one line."""
    start = line_start(document, finding.place.line) + finding.place.column - 1
    text = document.text[start : start + finding.place.width]
    inner = _LINK.fullmatch(text)
    if inner is None:
        return finding
    return with_fix(finding, "Write the address plain", replace_span, document, start, start + len(text), inner[1])


@check("link-placeholder", Severity.ERROR)
def link_placeholder(case: Case) -> Iterator[Finding]:
    """A word such as `n/a`, `none` or `tbd` stands where an address belongs.

    Templates ask for every field, and people who have nothing to say write that down. A reader that follows links then
    looks for an entry called `n/a`, and a check for missing successors believes that there is one.

    Fails:

        superseded_by: none
        see: [n/a]

    Fix: remove the field; a link field that is absent says the same.
    `mdmem check --fix` does it.
    """
    yield from loaded_with_fixes(case, "link-placeholder", _without_placeholder)


def _without_placeholder(document: Document, finding: Finding) -> Finding:
    found = field_at(document, finding.place)
    if found is None or is_only_cause(document, *found):
        return finding
    return with_fix(finding, f"Remove it from `{found[0]}`", remove_item, document, *found)


_SUPERSESSION = ("supersedes", "superseded_by")
_URL_HELP = "move it into the body, or into an `x-` field; a link field holds addresses of entries"


@check("dangling-link", Severity.ERROR)
def dangling_link(case: Case) -> Iterator[Finding]:
    """A link of a front matter leads to no entry.

    Whoever follows it, person or agent, misses the rule it stood for, and a supersession that leads nowhere hides what
    is in force now. The finding says what happened to the address: never there, moved, deleted in which commit, ignored
    by git, or not added yet. A link to an address that can be told, written short or as a path, is not dangling, and
    neither is what replaced an entry, or what it replaced, where that plainly lies outside: a URL, or a document by its
    number such as `RFC 6120`.

    Fails:

        see: [react/anti-patterns/indx-as-key]

    Fix: write the address that was meant; the nearest ones are named. Where an entry was renamed, `git grep
    OLD-ADDRESS` lists the entries that still name it. `mdmem check --fix` does it where no doubt is left.
    """
    missing = MissingTarget(case)
    for link in case.distinct_links:
        if link.target is None and not (
            link.field in _SUPERSESSION and missing.is_outside(link.written, link.entry.address)
        ):
            fate = missing.fate(link.written, link.entry.address)
            is_url = "://" in link.written
            message = f"`{link.field}` names `{link.written}`, which {'is a URL, no address' if is_url else fate.story}"
            help_ = _URL_HELP if is_url else fate.help(_other_ends(case, link))
            shown = case.on_entry("dangling-link", link.entry, message, help_, field=link.field, item=link.item)
            if link.field in _SUPERSESSION:
                # It hides what binds now, and so weighs as much on an entry that ended.
                shown = replace(shown, severity=Severity.ERROR)
            yield with_link(shown, case, link, fate.certain) if fate.certain else shown


def _other_ends(case: Case, link: Link) -> tuple[str, ...]:
    """Return the entries that name this one from the other end of a supersession, and that this one does not name."""
    lineage = case.catalog.lineage
    ends = {"superseded_by": lineage.successors, "supersedes": lineage.predecessors}.get(link.field, {})
    named = link.entry.links(link.field)
    return tuple(end for end in ends.get(link.entry.address, ()) if end not in named)


@check("link-not-tracked", Severity.ERROR)
def link_not_tracked(case: Case) -> Iterator[Finding]:
    """A link leads to an entry that is on disk here and not in git.

    Here it works; for everybody else it leads nowhere, since the file was never added or git ignores it. Links among
    files of which none is in git yet are not reported: they come with one commit. What is not added yet is a warning,
    what git ignores an error: `git add` passes it over.

    Fails:

        see: [app/rules/new]     (app/rules/new.md is there, but `git status` lists it as untracked)

    Fix: `git add` the file in the same commit.
    """
    if case.facts is None or not case.untracked:
        return
    tracked = TrackedPaths(case.facts)
    for link in case.distinct_links:
        if link.target not in case.untracked or link.entry.address in case.untracked:
            continue
        path = f"{link.target}.md"
        ignored = path in case.facts.ignored
        message = f"`{link.field}` names `{link.target}`, which {'git ignores' if ignored else 'is not in git'}"
        add = shlex.quote(f"{tracked.prefix}{path}")
        help_ = f"run `git add {'--force ' if ignored else ''}{add}` at the repository's top"
        place = case.catalog.place(link.entry.address, link.field, link.item)
        weight = None if ignored or case.in_ci else Severity.WARNING
        yield Finding("link-not-tracked", message, place, help_, link.entry.address, other=Place(path), severity=weight)


@check("short-address", Severity.WARNING)
def short_address(case: Case) -> Iterator[Finding]:
    """A link is written short: `room/entry-id` or `entry-id` instead of the full address.

    It is understood all the same. Other tools read the files too, and `git grep` for an address finds only what is
    written in full; a short one also changes its meaning when its entry moves.

    Fails:

        see: [index-as-key]

    Fix: write `wing/room/entry-id`; the finding names it.
    `mdmem check --fix` does it.
    """
    for link in case.distinct_links:
        if link.target is not None and link.target != link.written and not is_path_like(link.written):
            message = f"`{link.written}` is short for `{link.target}`"
            help_ = f"write `{link.target}`"
            shown = case.on_entry("short-address", link.entry, message, help_, field=link.field, item=link.item)
            yield with_link(shown, case, link, link.target)
    for found in case.references:
        written = found.link.target
        if found.path is None and found.target is not None and found.target != written and not is_path_like(written):
            message = f"`{written}` is short for `{found.target}`"
            at = {"offset": found.link.offset, "width": found.link.width}
            shown = case.in_body("short-address", found.address, message, f"write `{found.target}`", **at)
            yield with_reference(shown, case, found, found.target)


@check("link-by-path", Severity.WARNING)
def link_by_path(case: Case) -> Iterator[Finding]:
    """A link names the path of a file where an address belongs.

    An address is the path from the root without `.md`. Paths relative to the entry break when it moves, and other tools
    compare addresses as they are written. Markdown links in the body are paths and stay so.

    Fails:

        see: [../rules/retry.md]

    Fix: write the address, as in `see: [app/rules/retry]`; the finding names it.
    `mdmem check --fix` does it.
    """
    for link in case.distinct_links:
        if link.target is not None and is_path_like(link.written):
            message = f"`{link.written}` is a path; the address is `{link.target}`"
            help_ = f"write `{link.target}`"
            shown = case.on_entry("link-by-path", link.entry, message, help_, field=link.field, item=link.item)
            yield with_link(shown, case, link, link.target)
    for found in case.references:
        if found.path is None and found.target is not None and is_path_like(found.link.target):
            message = f"`{found.link.target}` is a path; the address is `{found.target}`"
            at = {"offset": found.link.offset, "width": found.link.width}
            shown = case.in_body("link-by-path", found.address, message, f"write `{found.target}`", **at)
            yield with_reference(shown, case, found, found.target)


@check("self-link", Severity.ERROR)
def self_link(case: Case) -> Iterator[Finding]:
    """An entry links to itself.

    An entry cannot supersede, override or contradict itself; the link is left over from a copied file or a rename, and
    what was meant is not there.

    Fails:

        app/rules/retry.md    supersedes: [app/rules/retry]

    Fix: write the address that was meant, or remove the link.
    `mdmem check --fix` does it.
    """
    seen: set[tuple[str, str]] = set()
    for link in case.links:
        key = (link.entry.address, link.field)
        if link.target == link.entry.address and key not in seen:
            seen.add(key)
            message = f"`{link.field}` names the entry itself"
            help_ = "remove it, or write what was meant"
            shown = case.on_entry("self-link", link.entry, message, help_, field=link.field, item=link.item)
            yield _without_link(case, link, shown)


def _without_link(case: Case, link: Link, finding: Finding) -> Finding:
    """Remove the link where nothing that another check asks for is lost with it."""
    document = case.catalog.document(link.entry.path)
    is_needed = link.field == "overrides" and len(link.entry.overrides) == 1
    if is_needed or is_only_cause(document, link.field, link.item):
        return finding
    return with_fix(finding, f"Remove it from `{link.field}`", remove_item, document, link.field, link.item)


@check("duplicate-link", Severity.WARNING)
def duplicate_link(case: Case) -> Iterator[Finding]:
    """One link field names the same entry twice.

    A merge of two branches that each add the link leaves both. Written in two forms, in full and short, they are one
    link.

    Fails:

        see: [app/rules/retry, retry]

    Fix: remove the second.
    `mdmem check --fix` does it.
    """
    first: dict[tuple[str, str, str], Link] = {}
    for link in case.links:
        meant = link.target or link.written
        if meant == link.entry.address:
            continue
        earlier = first.setdefault((link.entry.address, link.field, meant), link)
        if earlier is not link:
            place, other = (case.catalog.place(one.entry.address, one.field, one.item) for one in (link, earlier))
            message = f"`{link.field}` names `{meant}` twice"
            shown = Finding("duplicate-link", message, place, "remove this one", link.entry.address, other=other)
            document = case.catalog.document(link.entry.path)
            yield with_fix(shown, "Remove the second", remove_item, document, link.field, link.item)


_ADDRESS = re.compile(r"(?=[^a-z]*[a-z])\w[\w-]*(?:/\w[\w-]*){0,2}(?:\.md)?")
_NUMBER = re.compile(r"\d+")
# `[index](0)` and `f[T](x)` in prose about code are no links to files, nor is a URL that was written wrong.
_PATH = re.compile(r"(?=.*[A-Za-z])(?=.*[./-])(?!.*://)[^\x00-\x1f<>{}\[\]$|*?\"`\\]+")


@check("body-link-broken", Severity.WARNING)
def body_link_broken(case: Case) -> Iterator[Finding]:
    """A cross-reference in a body leads nowhere.

    Read are `[see: wing/room/entry-id]`, `[[wing/room/entry-id]]`, Markdown links to files and link definitions,
    outside code. A Markdown link is relative to its file and may leave the memory for any file that git tracks; without
    git only Markdown files of the memory are judged. `[[word]]`, one plain word, is taken for text.

    Fails:

        [see: react/anti-patterns/indx-as-key]
        [the reasons](../architecture/gone.md)

    Fix: write what was meant; the nearest addresses are named.
    `mdmem check --fix` does it where no doubt is left.
    """
    lost = [found for found in case.references if found.target is None]
    if not lost:
        return
    missing = MissingTarget(case)
    present = frozenset(file.path for file in (*case.catalog.files, *case.catalog.others))
    tracked = TrackedPaths(case.facts) if case.facts else None
    for found in lost:
        if found.path is not None and not (_is_path(found) and _is_lost(found.path, present, tracked)):
            continue
        if found.path is not None and case.catalog.hides_path(found.path):
            continue
        if found.path is None and not _is_address(found, case.prose_of(found.address)):
            continue
        fate = missing.fate(found.path or found.link.target, found.address)
        message = f"`{found.link.target}` {fate.story}"
        help_ = _path_help(fate, found.address) if found.path else fate.help()
        place = {"offset": found.link.offset, "width": found.link.width}
        shown = case.in_body("body-link-broken", found.address, message, help_, **place)
        meant = _certainly_meant(fate, found.path or found.link.target)
        yield with_reference(shown, case, found, meant) if meant else shown


def _certainly_meant(fate: Fate, written: str) -> str | None:
    """Return where the file moved to, or the only near address if it differs by the folder or one slip of the pen."""
    if fate.certain or len(fate.meant) != 1:
        return fate.certain
    wanted, near = (address.removesuffix(".md").rsplit("/", 1)[-1] for address in (written, fate.meant[0]))
    # `retry-v1` and `retry-v2` are two entries.
    same_numbers = _NUMBER.findall(wanted) == _NUMBER.findall(near)
    return fate.meant[0] if same_numbers and is_slip(wanted, near) else None


def _path_help(fate: Fate, address: str) -> str:
    if fate.unadded:
        return fate.help()
    meant = (posixpath.relpath(f"{one}.md", posixpath.dirname(address)) for one in fate.meant)
    written = " or ".join(f"`{path}`" for path in meant)
    return f"write {written}, or remove the link" if written else "correct the path, or remove the link"


def _is_address(found: Reference, prose: str) -> bool:
    """Say whether a reference is meant for an entry: `[[packages]]` is TOML, `[[1, 2]]` a list."""
    if not _ADDRESS.fullmatch(found.link.target):
        return False
    bracket = prose.rfind("[", 0, found.link.offset)
    return prose[bracket - 1 : bracket] != "[" or not found.link.target.isalnum()


def _is_path(found: Reference) -> bool:
    return _PATH.fullmatch(found.link.target) is not None


def _is_lost(path: str, present: frozenset[str], tracked: TrackedPaths | None) -> bool:
    if path in present:
        return False
    if tracked is not None:
        return not tracked.holds(path)
    # A name with a dot in front is not listed, and what lies outside the root cannot be known.
    return path.endswith(".md") and not path.startswith(("/", ".")) and "/." not in path


# What amends an ended entry is told by a check of its own.
_HISTORY = frozenset({"supersedes", "superseded_by", "amends"})


@check("link-to-superseded", Severity.WARNING)
def link_to_superseded(case: Case) -> Iterator[Finding]:
    """An entry in force refers to one that is superseded.

    Who follows the link reads a rule that no longer holds. Supersession links are there for history and are left alone,
    and so is what a session `produced`, and a reference from an entry to what it replaced itself.

    Fails:

        status: active
        see: [app/rules/retry-v1]     (superseded by app/rules/retry-v2)

    Fix: write the address of the entry that replaced it, named in the finding.
    `mdmem check --unsafe-fixes` does it where one answer is likely.
    """
    for link in case.distinct_links:
        if not _is_history(link) and link.target in case.catalog.lineage.successors:
            place = case.catalog.place(link.entry.address, link.field, link.item)
            for shown, head in _stale(case, link.entry.address, link.target, place):
                yield with_link(shown, case, link, head, is_safe=False) if head else shown
    for found in case.references:
        if found.target in case.catalog.lineage.successors:
            place = case.catalog.document(f"{found.address}.md").body_place(found.link.offset, found.link.width)
            for shown, head in _stale(case, found.address, found.target, place):
                yield with_reference(shown, case, found, head, is_safe=False) if head else shown


def _is_history(link: Link) -> bool:
    return link.field in _HISTORY or (link.field == "produced" and link.entry.label == "session")


def _stale(case: Case, address: str, target: str, place: Place) -> Iterator[tuple[Finding, str | None]]:
    """Yield the finding, if the link is stale, with the one entry that holds instead."""
    lineage = case.catalog.lineage
    heads = lineage.heads(target)
    if target in heads or address in heads or not lineage.is_current(address) or target in lineage.ancestors(address):
        return
    named = " and ".join(f"`{head}`" for head in heads)
    if heads:
        message, help_ = f"`{target}` is superseded by {named}", f"write {named}"
    else:
        message, help_ = (
            f"`{target}` is superseded, and nothing in force replaces it",
            "remove the link, or say why it stays",
        )
    finding = Finding("link-to-superseded", message, place, help_, address, other=Place(f"{target}.md"))
    yield finding, heads[0] if len(heads) == 1 else None
