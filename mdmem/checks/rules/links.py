"""Checks of links between entries."""

from __future__ import annotations

import difflib
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from mdmem.checks.case import Case, Link
from mdmem.checks.check import check
from mdmem.checks.fixes import is_only_cause, is_typo, with_fix, with_link
from mdmem.markdown.patch import remove_item
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.catalog.addresses import full_address, number_in
from mdmem.store.catalog.links import Reference

# The number of most likely addresses that are compared letter by letter.
_COMPARED = 8
# A piece of a name that more addresses than this have is ignored.
_COMMON = 200
_CLOSE = 0.7
_SHOWN = 3
# Matches `RFC 6120`, `ISO-8601`, `IEEE 802.3`, and any text of several words, since an address has no spaces.
_OUTSIDE = re.compile(r"[A-Z][A-Z0-9]{1,40}[ -]?\d[\d.:-]*\Z|\S+(?:\s+\S+)+\Z")
_IN_INDEX, _MISSING = "git's index", "does not exist"
_NUMBER = re.compile(r"\d+")


@check("link-placeholder", Severity.ERROR, per_file=True)
def link_placeholder(case: Case) -> Iterator[Finding]:
    """A link field contains a word such as `n/a`, `none` or `tbd` instead of an address.

    A program would look for an entry called `n/a`, and a check for a missing successor would accept it.

    Fails:
        superseded_by: none
        see: [n/a]

    Fix: remove the field; an absent link field means the same. `mdmem check --fix` does it.
    """
    for document, finding in case.loaded_with_document("link-placeholder"):
        name, title = finding.cause, f"Remove it from `{finding.cause}`"
        is_fixable = not is_only_cause(document, name)
        yield with_fix(finding, title, remove_item, document, name, finding.item) if is_fixable else finding


class _Cause(Struct, frozen=True):
    """What happened to a missing address, as the end of a sentence, and the addresses that may be meant, best first.

    `certain` is the only address that can be meant. `hint` is the hint for a file that is not in git.
    """

    text: str
    likely: tuple[str, ...] = ()
    certain: str | None = None
    hint: str = ""

    def help(self, first: Sequence[str] = (), *, from_path: str = "") -> str:
        """Return the hint for a broken link: `first` and others as addresses, or relative to the file `from_path`."""
        if self.hint:
            return self.hint
        meant = tuple(dict.fromkeys([*first, *self.likely]))[:_SHOWN]
        if not meant:
            return "correct the path, or remove the link" if from_path else "remove the link, or write that entry first"
        if from_path:
            meant = tuple(posixpath.relpath(f"{one}.md", posixpath.dirname(from_path)) for one in meant)
        is_moved = self.text.endswith(_IN_INDEX) and not from_path
        moving = "; `mdmem mv` moves an entry with its links" if is_moved else ""
        return f"write {' or '.join(f'`{address}`' for address in meant)}, or remove the link{moving}"


class _MissingTargets(Struct, frozen=True, dict=True):
    """Finds out what happened to missing addresses; git is only asked if there is such an address."""

    case: Case

    def explain(self, written: str, source: str) -> _Cause:
        """Return what happened to a missing address that the entry at `source` links to."""
        lost = full_address(written, source, self._lost)
        if lost is not None:
            found = self._lost[lost]
            return found if isinstance(found, _Cause) else self._explain_deleted(lost, source)
        # A number such as `ADR-0004` means the only entry of the room, or else of the wing, with this number.
        known = self.case.numbered.get(number_in(written) or "", ())
        in_room = [one for one in known if one.startswith(f"{source.rpartition('/')[0]}/")]
        numbered = in_room or [one for one in known if one.startswith(f"{source.partition('/')[0]}/")]
        if len(numbered) == 1 and numbered[0] != source:
            return _Cause("is a number, not an address", (numbered[0],), numbered[0])
        return _Cause(_MISSING, self._nearest(written, source))

    def _explain_deleted(self, gone: str, source: str) -> _Cause:
        """Follow the moves of a file to its current address, or to the commit that deleted it."""
        present, followed, commit, to = self.case.catalog.addresses, set[str](), "", gone
        while to and to not in present and to not in followed and isinstance(step := self._lost.get(to), tuple):
            followed.add(to)
            commit, to = step[0], (step[1] or "").removesuffix(".md")
        where = f"commit `{commit}`" if commit else _IN_INDEX
        if not to:
            return _Cause(f"was deleted in {where}", self._nearest(gone, source))
        if to in present:
            return _Cause(f"moved to `{to}` in {where}", (to,), to)
        return _Cause(f"moved to `{to}` in {where}, and is not there either", self._nearest(to, source))

    def is_outside(self, written: str, source: str) -> bool:
        """Return whether a text means a web page, or a document by its number, and no entry of the memory."""
        if "://" in written or not _OUTSIDE.match(written):
            return "://" in written
        plain = "-".join(written.lower().split())
        series = f"{plain.rstrip('0123456789.-')}-"
        return series not in self._series and not self.explain(plain, source).likely

    @cached_property
    def _series(self) -> frozenset[str]:
        """Return the beginning of each entry-id up to each hyphen."""
        ids = map(_entry_id, self.case.catalog.addresses)
        return frozenset(one[: hyphen.end()] for one in ids for hyphen in re.finditer("-", one))

    def _nearest(self, written: str, source: str) -> tuple[str, ...]:
        """Return up to three addresses, best first: with the same entry-id, else similar ones in the same wing."""
        parts = written.removesuffix(".md").strip("./").split("/")
        wing, entry_id = (parts if len(parts) > 2 else source.split("/"))[0], parts[-1].lower()
        same = [address for address in self._by_piece.get(("", entry_id), ()) if address != source]
        if same:
            return tuple(sorted(same, key=lambda address: (not address.startswith(f"{wing}/"), address))[:_SHOWN])
        groups = [self._by_piece.get((wing, piece), ()) for piece in _pieces(entry_id)]
        shared = Counter(address for group in groups if len(group) <= _COMMON for address in group)
        # Numbers must be equal, since `adr-12` is as similar to `adr-13` as to `adr-2`.
        numbers = _NUMBER.findall(entry_id)
        others = (one for one, _ in shared.most_common() if one != source)
        likely = [one for one in others if _NUMBER.findall(_entry_id(one)) == numbers]
        by_id = {_entry_id(address): address for address in likely[:_COMPARED]}
        return tuple(by_id[one] for one in difflib.get_close_matches(entry_id, by_id, n=_SHOWN, cutoff=_CLOSE))

    @cached_property
    def _by_piece(self) -> dict[tuple[str, str], list[str]]:
        """Return the addresses by wing and piece of the entry-id, and by "" and the whole entry-id."""
        found: dict[tuple[str, str], list[str]] = {}
        for address in sorted(self.case.catalog.addresses):
            entry_id = _entry_id(address)
            found.setdefault(("", entry_id), []).append(address)
            for piece in _pieces(entry_id):
                found.setdefault((address.split("/", 1)[0], piece), []).append(address)
        return found

    @cached_property
    def _lost(self) -> dict[str, _Cause | tuple[str, str | None]]:
        """Return what happened to each address that git knows, or the commit that deleted it and its new path."""
        facts, lost = self.case.facts, dict[str, _Cause | tuple[str, str | None]]()
        if facts is not None:
            lost |= {path: _Cause("is on disk and not in git", hint=facts.add_hint(path)) for path in facts.not_added}
            lost |= dict.fromkeys(facts.ignored, _Cause("is ignored by git"))
            lost |= facts.deleted
        return {path.removesuffix(".md"): one for path, one in lost.items()}


def is_outside(case: Case, field: str, written: str, source: str) -> bool:
    """Return whether a field of the entry at `source` supersedes a web page or document outside the memory."""
    return field in ("supersedes", "superseded_by") and _MissingTargets(case).is_outside(written, source)


def _pieces(entry_id: str) -> set[str]:
    """Return the words of an entry-id, its start and its end; a typing mistake changes few of these pieces."""
    return {f"^{entry_id[:3]}", f"{entry_id[-3:]}$", *re.split(r"[-_. ]+", entry_id)}


def _entry_id(address: str) -> str:
    return address.split("/", 2)[-1].lower()


_URL_HELP = "move it into the body, or into an `x-` field; a link field takes addresses of entries"


@check("dangling-link", Severity.ERROR)
def dangling_link(case: Case) -> Iterator[Finding]:
    """A link in a front matter leads to no entry.

    The finding says what happened to the address: for instance that it was moved, or deleted in a commit. `supersedes`
    and `superseded_by` may also contain a URL or the number of a document outside the memory, such as `RFC 6120`.

    Fails:
        see: [react/anti-patterns/indx-as-key]

    Fix: write the address that was meant; the finding lists similar ones.
    """
    missing, lineage = _MissingTargets(case), case.catalog.lineage
    for link in case.distinct_links:
        if link.target is not None:
            continue
        is_supersession = link.field in ("supersedes", "superseded_by")
        if is_supersession and missing.is_outside(link.written, link.entry.address):
            continue
        cause, is_url = missing.explain(link.written, link.entry.address), "://" in link.written
        story = "is a URL and not an address" if is_url else cause.text
        message = f"`{link.field}` contains `{link.written}`, which {story}"
        # Suggest the entries that say they are linked with this one, but that this one does not list, first.
        ends = {"superseded_by": lineage.successors, "supersedes": lineage.predecessors}.get(link.field, {})
        named = link.entry.links(link.field)
        first = [end for end in ends.get(link.address, ()) if end not in named]
        help_ = _URL_HELP if is_url else cause.help(first)
        # A broken supersession hides the current entry, so it is also an error on a deprecated entry.
        found = case.on_link(link, message, help_, severity=Severity.ERROR if is_supersession else None)
        likely = {*first, *cause.likely}
        if cause.certain:
            found = _corrected(found, case, link, cause.certain)
        elif len(likely) == 1 and cause.text == _MISSING and not is_url:
            found = _corrected(found, case, link, likely.pop(), is_safe=False)
        yield found


def _corrected(found: Finding, case: Case, link: Link | Reference, meant: str, *, is_safe: bool = True) -> Finding:
    """Return a finding with the fix that corrects a link, unless another check would report the link then."""
    catalog, field = case.catalog, link.field if isinstance(link, Link) else ""
    here, there = (catalog.wings.get(one.partition("/")[0]) for one in (link.address, meant))
    if here is None or there is None:
        return found
    if field in ("supersedes", "superseded_by"):
        new, old = (here, there) if field == "supersedes" else (there, here)
        is_fit = new is old or (new.is_shared and not old.is_shared)
    else:
        is_fit = here.may_read(there) or (isinstance(link, Reference) and link.path is not None)
    # `link-to-superseded` would report the link, and its fix decides something.
    if meant in catalog.lineage.successors and catalog.lineage.is_current(link.address) and field not in _HISTORY:
        is_safe = False
    return with_link(found, case, link, meant, is_safe=is_safe) if is_fit else found


@check("link-not-tracked", Severity.ERROR, asks_git=True, same_when_ended=True)
def link_not_tracked(case: Case) -> Iterator[Finding]:
    """A link leads to an entry that is on disk but not in git, so it works on this machine only.

    A link between two files that are both not in git yet is fine. If the linked file is not added yet, the finding is a
    warning, in CI an error. If git ignores it, the finding is always an error.

    Fails:
        see: [app/rules/new]     (app/rules/new.md is there, but `git status` lists it as untracked)

    Fix: `git add` the file in the same commit.
    """
    if case.facts is None or not case.untracked:
        return
    for link in case.distinct_links:
        if link.target not in case.untracked or link.entry.address in case.untracked:
            continue
        path = f"{link.target}.md"
        ignored = path in case.facts.ignored
        message = f"`{link.field}` contains `{link.target}`, which {'git ignores' if ignored else 'is not in git'}"
        help_ = case.facts.add_hint(path)
        severity = None if ignored or case.in_ci else Severity.WARNING
        yield case.on_link(link, message, help_, other=Place(path), severity=severity)


@check("link-form", Severity.WARNING)
def link_form(case: Case) -> Iterator[Finding]:
    """A link is a short address or a path instead of the full address.

    After a move, such a link may mean another entry. Markdown links in the body are paths and are fine.

    Fails:
        see: [../rules/retry.md]

    Fix: write `wing/room/entry-id` without `.md`; the finding says the address. `mdmem check --fix` does this.
    """
    for link in case.all_links:
        written = link.written if isinstance(link, Link) else link.link.target
        if link.target in (None, written) or (isinstance(link, Reference) and link.path is not None):
            continue
        message, former = f"`{written}` is short for `{link.target}`", "short-address"
        if written.endswith(".md") or written.startswith((".", "/")):
            message, former = f"`{written}` is a path; the address is `{link.target}`", "link-by-path"
        found = case.on_link(link, message, f"write `{link.target}`", former=former)
        yield with_link(found, case, link, link.target)


@check("needless-link", Severity.ERROR)
def needless_link(case: Case) -> Iterator[Finding]:
    """An entry links to itself, or a link field lists the same entry twice.

    A link to itself is usually left over from a copied file. A repeated link, in full or short, is a warning.

    Fails:
        app/rules/retry.md    supersedes: [app/rules/retry]
        app/rules/calls.md    see: [app/rules/retry, retry]

    Fix: write the address that was meant, or remove the link. `mdmem check --fix` removes it.
    """
    first: dict[tuple[str, str, str], Link] = {}
    for link in case.links:
        address, meant = link.entry.address, link.target or link.written
        earlier = first.setdefault((address, link.field, meant), link)
        if (earlier is link) != (meant == address):
            continue
        document, title = case.catalog.document(link.entry.path), "Remove the second"
        if earlier is link:
            message, help_ = f"`{link.field}` contains the entry itself", "remove it, or write what was meant"
            found, title = case.on_link(link, message, help_, former="self-link"), f"Remove it from `{link.field}`"
        else:
            other = case.place(address, earlier.field, earlier.item)
            message, level, former = f"`{link.field}` contains `{meant}` twice", Severity.WARNING, "duplicate-link"
            found = case.on_link(link, message, "remove this one", other=other, severity=level, former=former)
        # Offer no fix if the entry itself is the only override, or the only reason why the entry is deprecated.
        is_needed = link.field == "overrides" and len(link.entry.overrides) == 1
        is_fixable = meant != address or not (is_needed or is_only_cause(document, link.field))
        yield with_fix(found, title, remove_item, document, link.field, link.item) if is_fixable else found


_ADDRESS = re.compile(r"(?=[^a-z]*[a-z])\w[\w-]*(?:/\w[\w-]*){0,2}(?:\.md)?")
# A link target must look like a path, since `[index](0)` and `f[T](x)` in a text about code are no links.
_PATH = re.compile(r"(?=.*[A-Za-z])(?=.*[./-])(?!.*://)[^\x00-\x1f<>{}\[\]$|*?\"`\\]+")


@check("body-link-broken", Severity.WARNING)
def body_link_broken(case: Case) -> Iterator[Finding]:
    """A link in a body leads nowhere.

    The check reads `[see: wing/room/entry-id]`, `[[wing/room/entry-id]]`, Markdown links to files, and link
    definitions, but not in code. A Markdown link may lead to any file that git tracks; outside git, only links to
    Markdown files of the memory are checked. `[[word]]` with a single plain word counts as text.

    Fails:
        [see: react/anti-patterns/indx-as-key]

    Fix: correct the link; the finding lists similar ones. `mdmem check --fix` does this if the meaning is certain.
    """
    lost = [one for one in case.references if one.target is None]
    if not lost:
        return
    missing = _MissingTargets(case)
    present = frozenset(file.path for file in case.all_files)
    for one in lost:
        written = one.path or one.link.target
        if one.path is None:
            # `[[packages]]` is TOML, and `[[1, 2]]` is a list.
            prose = case.prose_of(one.address)
            bracket = prose.rfind("[", 0, one.link.offset)
            is_plain_word = prose[bracket - 1 : bracket] == "[" and written.isalnum()
            if is_plain_word or not _ADDRESS.fullmatch(written):
                continue
        elif case.catalog.hides_path(one.path) or one.path in present or not _PATH.fullmatch(one.link.target):
            continue
        elif case.facts is not None:
            if case.facts.has(one.path):
                continue
        elif not one.path.endswith(".md") or one.path.startswith(("/", ".")) or "/." in one.path:
            # Outside git, hidden files and files outside the root are unknown, so links to them are not reported.
            continue
        cause = missing.explain(written, one.address)
        story, help_ = cause.text, cause.help(from_path=one.address if one.path else "")
        if case.facts is not None and written.startswith("../"):
            story = "is not a file that git tracks"
            help_ = "`git add` it, correct the path, or remove the link" if case.facts.is_on_disk(written) else help_
        found, meant = case.on_link(one, f"`{one.link.target}` {story}", help_), cause.certain
        if not meant and len(cause.likely) == 1:
            # Correct the only similar address if just its folder or one letter differs, but no number, since
            # `retry-v1` and `retry-v2` are two entries.
            wanted, close = (name.removesuffix(".md").rsplit("/", 1)[-1] for name in (written, *cause.likely))
            is_same = is_typo(wanted, close) and _NUMBER.findall(wanted) == _NUMBER.findall(close)
            meant = cause.likely[0] if is_same else None
        yield _corrected(found, case, one, meant) if meant else found


# The fields that record the past, so they may link to superseded entries. `amendment-invalid` checks `amends`.
_HISTORY = frozenset({"supersedes", "superseded_by", "amends"})


@check("link-to-superseded", Severity.WARNING)
def link_to_superseded(case: Case) -> Iterator[Finding]:
    """A current entry links to a superseded entry.

    Supersession links, the `produced` links of a session, and links to an entry's own predecessor are fine.

    Fails:
        status: active
        see: [app/rules/retry-v1]     (superseded by app/rules/retry-v2)

    Fix: link to the entry in the message. `mdmem check --unsafe-fixes` does this if one answer is likely.
    """
    lineage = case.catalog.lineage
    for link in case.all_links:
        address, target = link.address, link.target
        if target not in lineage.successors or not lineage.is_current(address):
            continue
        field = link.field if isinstance(link, Link) else ""
        heads = lineage.heads(target)
        if field in _HISTORY or (field == "produced" and case.catalog.entries[address].label == "session"):
            continue
        if target in heads or address in heads or target in lineage.ancestors(address):
            continue
        named = " and ".join(f"`{head}`" for head in heads)
        message, help_ = f"`{target}` is superseded by {named}", f"write {named}"
        if not heads:
            message = f"`{target}` is superseded, and no current entry replaces it"
            help_ = "remove the link, or say why it stays"
        found = case.on_link(link, message, help_, other=Place(f"{target}.md"))
        yield with_link(found, case, link, heads[0], is_safe=False) if len(heads) == 1 else found
