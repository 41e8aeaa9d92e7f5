"""Mending what the checks found: fixes chosen, tried in memory until none is left, and made one plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from mdmem.authoring.change_set import Change, ChangeSet
from mdmem.catalog import interpret, is_entry_place
from mdmem.checks.engine import CheckReport
from mdmem.checks.run import CheckRequest, check_all, reported
from mdmem.document.parse import parse_document
from mdmem.document.patch import apply_edits
from mdmem.errors import UsageError
from mdmem.finding import Edit, Finding, Fix
from mdmem.tree import FileKind, Tree, Unreadable, read_one
from mdmem.tree.overlay import OverlaidTree
from mdmem.workspace.workspace import Workspace

# One fix may make room for the next: the Python proposals took four rounds.
_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class FixResult:
    """What mending comes to: the report on the files as they will be, what it ended, and what is to be written."""

    report: CheckReport
    fixed: tuple[Finding, ...]
    plan: ChangeSet


def mend_all(tree: Tree, check: Callable[[Tree], CheckReport], *, with_unsafe: bool = False) -> FixResult:
    """Return what is left when every fix that can be made was made; nothing is written.

    `check` is asked again after each round of fixes, with the tree that they lead to.
    """
    current, moves, fixed = OverlaidTree(tree), _Moves(), list[Finding]()
    report = check(current)
    for _ in range(_ROUNDS):
        chosen = choose(current, report.findings, with_unsafe=with_unsafe)
        if not chosen.findings:
            break
        current = current.with_changes(chosen.contents, chosen.renames)
        moves.follow(chosen)
        fixed += chosen.findings
        report = check(current)
    return FixResult(report, _ended(fixed, report), moves.plan(current))


def _ended(fixed: Iterable[Finding], report: CheckReport) -> tuple[Finding, ...]:
    """Leave out those that are found again; what was mended in a later round stands where it then stood."""
    left = {(finding.code, finding.place.path, finding.message) for finding in report.findings}
    ended = {finding for finding in fixed if (finding.code, finding.place.path, finding.message) not in left}
    return tuple(sorted(ended, key=lambda finding: finding.sort_key))


@dataclass(slots=True)
class FixChoice:
    """Fixes that can be made together: their findings, the bytes they lead to, by path, and the renames after them."""

    tree: OverlaidTree
    findings: list[Finding] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    renames: list[tuple[str, str]] = field(default_factory=list)
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
        if any(content is None or self._is_worse(path, content) for path, content in contents.items()):
            return
        self.findings.append(finding)
        self.contents |= {path: content for path, content in contents.items() if content is not None}
        self.renames += fix.renames
        self._fixes.add(fix)
        for path, some in edits.items():
            self._edits.setdefault(path, []).extend(some)

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

    def _is_worse(self, path: str, content: bytes) -> bool:
        after = _Standing.of(path, content)
        if after.is_perfect:
            return False
        before = self.contents[path] if path in self.contents else read_one(self.tree, path)
        return isinstance(before, Unreadable) or after.is_worse_than(_Standing.of(path, before))


def choose(tree: OverlaidTree, findings: Iterable[Finding], *, with_unsafe: bool) -> FixChoice:
    """Return the fixes of findings that can be made at once: the safe ones first, then in the order of reading."""
    chosen = FixChoice(tree)
    offered = [(finding, finding.fix) for finding in findings if finding.fix is not None]
    for finding, fix in sorted(offered, key=lambda pair: not pair[1].is_safe):
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


@dataclass(frozen=True, slots=True)
class _Standing:
    """How well a file loads: what can be told from it, and the codes of what is wrong with it."""

    level: int
    codes: Counter[str]

    @classmethod
    def of(cls, path: str, content: bytes) -> _Standing:
        document = parse_document(path, content)
        if not is_entry_place(path):
            return cls(int(document.fields is not None), Counter(one.code for one in document.findings))
        loaded = interpret(document)
        level = 2 if loaded.entry is not None else int(document.fields is not None)
        return cls(level, Counter(one.code for one in loaded.findings))

    @property
    def is_perfect(self) -> bool:
        return self.level == 2 and not self.codes

    def is_worse_than(self, before: _Standing) -> bool:
        return self.level < before.level or (self.level == before.level and bool(self.codes - before.codes))


@dataclass(slots=True)
class _Moves:
    """Every file that a round touched, in the order of the first touch, by its path before and after."""

    _now: dict[str, str] = field(default_factory=dict)

    def follow(self, chosen: FixChoice) -> None:
        before = {now: before for before, now in self._now.items()}
        for path in chosen.contents:
            self._now.setdefault(before.get(path, path), path)
        for old, new in chosen.renames:
            self._now[before.get(old, old)] = new

    def plan(self, mended: OverlaidTree) -> ChangeSet:
        """Return the difference between the tree below and the mended one."""
        changes = []
        for path, to in self._now.items():
            before, after = mended.bytes_below(path), read_one(mended, to)
            if not isinstance(before, Unreadable) and not isinstance(after, Unreadable):
                changes.append(Change(path, to, before, after))
        return ChangeSet(
            tuple(change for change in changes if (change.path, change.before) != (change.to, change.after))
        )


def mend(
    workspace: Workspace, asked: CheckRequest, *, with_unsafe: bool, is_dry: bool
) -> tuple[CheckReport, FixResult]:
    """Mend what can be mended and return what is left, and what was changed; with `is_dry` nothing is written.

    Raises UsageError where another tree than the working tree is read, and what `apply` raises.
    """
    from mdmem.authoring.change_set import apply
    from mdmem.authoring.write import is_unchanged

    if not workspace.snapshot.is_working_tree:
        raise UsageError("only files on disk can be mended; leave out --staged, --rev and --merge")

    known = workspace.catalog.file_digests

    def mended_in(one: Workspace) -> FixResult:
        return mend_all(one.tree, lambda tree: check_all(one.over(tree), asked), with_unsafe=with_unsafe)

    mended = mended_in(workspace)

    def newest() -> ChangeSet:
        nonlocal mended
        fresh = workspace.reread()
        mended = mended if is_unchanged(workspace, fresh, known) else mended_in(fresh)
        return mended.plan

    if not is_dry:
        apply(workspace.location.root, mended.plan, state=workspace.state_folder, newest=newest)
    return reported(replace(mended.report, fixed=mended.fixed, is_dry=is_dry), asked), mended
