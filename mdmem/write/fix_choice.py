"""Which fixes can be made together: the bytes and the renames that they lead to, none worse than before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from mdmem.markdown.layout import apply_edits
from mdmem.markdown.parse import parse_document
from mdmem.model.finding import Edit, Finding, Fix
from mdmem.store.catalog import interpret, is_entry_place
from mdmem.store.tree import FileKind, Unreadable, read_one
from mdmem.store.tree.views import OverlaidTree


class RefusedFix(Struct, frozen=True):
    """A fix that was left out, and the first finding that it would have brought."""

    finding: Finding
    fix: Fix
    brings: Finding

    @property
    def sentence(self) -> str:
        """Return what a person is told."""
        brings = f"`{self.brings.code}` to {self.brings.place.path}: {self.brings.message}"
        return f"{self.finding.place.path}: left out «{self.fix.title}», which would bring {brings}"


class FixChoice(Struct):
    """Fixes that can be made together: their findings, the bytes they lead to, by path, and the renames after them.

    `left_out` are those after which a file would load worse, each with the first finding that it would bring.
    """

    tree: OverlaidTree
    findings: list[Finding] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    renames: list[tuple[str, str]] = field(default_factory=list)
    left_out: list[RefusedFix] = field(default_factory=list)
    _edits: dict[str, list[Edit]] = field(default_factory=dict)
    _fixes: set[Fix] = field(default_factory=set)

    def offer(self, finding: Finding, fix: Fix) -> None:
        """Take a fix in if it meets none of the others and every file that it changes loads as well as before."""
        if fix in self._fixes:
            self.findings.append(finding)
            return
        if self._meets_another(fix):
            return
        edits = _by_path(fix.edits)
        contents = {path: self._with(path, some) for path, some in edits.items()}
        worse = [one for path, content in contents.items() for one in self._brought(path, content)]
        self.left_out += [RefusedFix(finding, fix, one) for one in worse[:1]]
        if worse or None in contents.values():
            return
        self.findings.append(finding)
        self.contents |= {path: content for path, content in contents.items() if content is not None}
        self.renames += fix.renames
        self._fixes.add(fix)
        for path, some in edits.items():
            self._edits.setdefault(path, []).extend(some)

    def revealed(self) -> list[str]:
        """Return the paths, as they will be, of the files that could not be read whole before these fixes."""
        now, contents = dict(self.renames), self.tree.read(list(self.contents))
        return [
            now.get(path, path)
            for path, old in contents
            if isinstance(old, Unreadable) or not _Standing.of(path, old).is_whole
        ]

    def suspects(self, new: Sequence[Finding]) -> list[Finding]:
        """Return whose fixes may have brought findings: those of their files, of these the ones that decide."""
        told = {place.path for one in new for place in (one.place, one.other) if place is not None}
        fixes = [(finding, finding.fix) for finding in self.findings if finding.fix is not None]
        near = [(one, fix) for one, fix in fixes if not told.isdisjoint(fix.paths)] or fixes
        return [one for one, fix in near if not fix.is_safe] or [one for one, _ in near]

    def _meets_another(self, fix: Fix) -> bool:
        named = {path for rename in self.renames for path in rename}
        moved = {path for rename in fix.renames for path in rename}
        if not named.isdisjoint(fix.paths) or not moved.isdisjoint(self._edits):
            return True
        if fix.renames and not self._can_move(fix):
            return True
        return any(_overlap(edit, other) for edit in fix.edits for other in self._edits.get(edit.path, ()))

    def _can_move(self, fix: Fix) -> bool:
        files = {file.path: file.kind for file in self.tree.files()}
        taken = files.keys() | self.tree.gone
        return all(files.get(old) is FileKind.FILE and new not in taken for old, new in fix.renames)

    def _with(self, path: str, edits: Sequence[Edit]) -> bytes | None:
        content = read_one(self.tree, path)
        if isinstance(content, Unreadable):
            return None
        try:
            return apply_edits(content, [*self._edits.get(path, ()), *edits])
        except ValueError:
            # Edits of one fix that overlap, or that are about other bytes than these.
            return None

    def _brought(self, path: str, content: bytes | None) -> Sequence[Finding]:
        """Return what the new content of a file would bring where it loads worse than the old one."""
        if content is None:
            return ()
        after = _Standing.of(path, content)
        if after.is_perfect:
            return ()
        before = self.contents[path] if path in self.contents else read_one(self.tree, path)
        return () if isinstance(before, Unreadable) else after.worse_than(_Standing.of(path, before))


def choose(tree: OverlaidTree, findings: Iterable[Finding], *, with_unsafe: bool) -> FixChoice:
    """Return the fixes of findings that can be made at once: the safe ones first, then in the order of reading.

    Renames wait until nothing else can be made: what another fix writes would name the old address.
    """
    chosen = FixChoice(tree)
    offered = [(finding, finding.fix) for finding in findings if finding.fix is not None]
    for finding, fix in sorted(offered, key=lambda pair: (bool(pair[1].renames), not pair[1].is_safe)):
        if fix.renames and chosen.contents and not chosen.renames:
            break
        if fix.is_safe or with_unsafe:
            chosen.offer(finding, fix)
    return chosen


def _by_path(edits: Iterable[Edit]) -> dict[str, list[Edit]]:
    found: dict[str, list[Edit]] = {}
    for edit in edits:
        found.setdefault(edit.path, []).append(edit)
    return found


def _overlap(one: Edit, other: Edit) -> bool:
    """Say whether two edits of a file touch the same bytes, or both insert at one place, where none is the first."""
    if one.start == one.end or other.start == other.end:
        return one.start <= other.end and other.start <= one.end
    return one.start < other.end and other.start < one.end


# The level of a file whose keys can be told, but no entry.
_KEYS = 1


class _Standing(Struct, frozen=True):
    """How well a file loads: what can be told from it, and what is wrong with it."""

    level: int
    findings: tuple[Finding, ...]
    unread: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: str, content: bytes) -> _Standing:
        document = parse_document(path, content)
        if not is_entry_place(path):
            return cls(2 * int(document.fields is not None), tuple(document.findings))
        loaded = interpret(document)
        level = 2 if loaded.entry is not None else int(document.fields is not None)
        unread = loaded.entry.unread if loaded.entry is not None else ()
        return cls(level, tuple(loaded.findings), unread)

    @property
    def is_perfect(self) -> bool:
        return self.level == 2 and not self.findings

    @property
    def is_whole(self) -> bool:
        """Say whether everything that the file states can be told."""
        return self.level == 2 and not self.unread

    def worse_than(self, before: _Standing) -> tuple[Finding, ...]:
        """Return what is wrong here and was not before; nothing where the file loads no worse.

        Where the keys can be told and make no entry, one fault may take another's place: a value is read only when its
        key is right.
        """
        known = Counter(one.code for one in before.findings)
        new = []
        for one in self.findings:
            known[one.code] -= 1
            new += [one] if known[one.code] < 0 else []
        if self.level < before.level:
            return tuple(new) or self.findings
        return tuple(new) if self.level == before.level != _KEYS else ()
