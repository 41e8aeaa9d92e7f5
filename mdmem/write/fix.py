"""Fix findings: choose fixes that do not overlap, try them in memory, and check that they cause no new finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.checks.engine import CheckReport
from mdmem.checks.run import CheckRequest, check_all, limited
from mdmem.errors import UsageError
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.parse import parse_document
from mdmem.model.finding import Edit, Finding, Fix
from mdmem.store.catalog.addresses import is_entry_place, load_entry
from mdmem.store.tree import FileKind, Tree, TreeView, Unreadable, read_one
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet
from mdmem.write.write import WriteOptions, write

# Several rounds, because fixes that overlap and renames have to wait for a later round.
_ROUNDS = 20
# This check reports new files until they are added to git, whatever they contain.
_UNTIL_ADDED = "link-not-tracked"
# In a file that no fix changes, this check reports what people meant: a supersession that had a broken link.
_OF_SUPERSESSION = "link-to-superseded"
_Check = Callable[[Tree], CheckReport]
_Renames = Sequence[tuple[str, str]]
# Code, path and title, which identify the same fix in each round.
_Key = tuple[str, str, str]


class RefusedFix(Struct, frozen=True):
    """A fix that was left out, and the first new finding that the fix would have caused."""

    finding: Finding
    brings: Finding

    def sentence(self, show_path: Callable[[str], str]) -> str:
        """Return a sentence that explains to people what was not fixed, and why."""
        place, title = self.finding.place, self.finding.fix.title if self.finding.fix is not None else ""
        brings = f"`{self.brings.code}` to {show_path(self.brings.place.path)}: {self.brings.message}"
        found = f"{show_path(place.path)}:{place.line}: {self.finding.message}"
        return f"{found}; left out «{title}», which would cause {brings}"


class FixResult(Struct, frozen=True):
    """The tree after some fixes, the report on it, all findings in it (`known`), and the fixes made and left out."""

    tree: TreeView
    report: CheckReport
    known: tuple[Finding, ...]
    fixed: tuple[Finding, ...] = ()
    renames: tuple[tuple[str, str], ...] = ()
    refused: tuple[RefusedFix, ...] = ()

    @property
    def plan(self) -> ChangeSet:
        """Return the changes that make all the fixes."""
        return _plan(self.tree, self.renames)


def fix(
    workspace: Workspace, request: CheckRequest, *, with_unsafe: bool, is_dry: bool
) -> tuple[CheckReport, FixResult]:
    """Fix the findings of a request; return the report on the remaining findings, and the result of the fixes.

    With `is_dry`, nothing is written. Raises UsageError unless the request is about the working tree, and the errors
    of `write`.
    """
    if not workspace.snapshot.is_working_tree:
        raise UsageError("only files on disk can be fixed; leave out --staged, --rev and --merge")
    whole = replace(request, select=(), ignore=(), paths=())
    planned: list[FixResult] = []

    def plan(one: Workspace) -> ChangeSet:
        def checked_for(asked: CheckRequest) -> _Check:
            return lambda tree: check_all(one.over(tree), asked)

        full_check = None if whole == request else checked_for(whole)
        result = fix_all(one.tree, checked_for(request), with_unsafe=with_unsafe, full_check=full_check)
        planned.append(result)
        return result.plan

    write(workspace, plan, WriteOptions(is_dry=is_dry, commit=False))
    result = planned[-1]
    return limited(replace(result.report, fixed=result.fixed, is_dry=is_dry), request), result


def fix_all(tree: Tree, check: _Check, *, with_unsafe: bool = False, full_check: _Check | None = None) -> FixResult:
    """Return the result of all possible fixes. Nothing is written.

    `check` finds the findings to fix, and is called again after each round. `full_check` runs every check on the whole
    tree, if `check` does not. A fix that would cause a new finding is left out.
    """
    run = _FixRun(tree, check, full_check or check, with_unsafe=with_unsafe)
    first = set(map(_key, run.state.report.findings))
    for _ in range(_ROUNDS):
        if not run.apply({_key(one) for one in run.state.report.findings} - run.excluded):
            break
    state = run.state
    left = {(one.code, one.place.path, one.message) for one in state.report.findings}
    ended = {one for one in state.fixed if (one.code, one.place.path, one.message) not in left}
    fixed = tuple(sorted(ended, key=lambda one: one.sort_key))
    # The report must not offer a fix that was left out.
    rest = (replace(one, fix=None) if _key(one) in run.excluded else one for one in state.report.findings)
    later = sum(_key(one) not in first for one in fixed)
    report = replace(state.report, findings=tuple(rest), later=later)
    return replace(state, report=report, fixed=fixed, refused=tuple(run.refused))


def plan_fix(tree: Tree, finding: Finding) -> ChangeSet:
    """Return the changes for the fix of one finding. There are none if the fix cannot be applied."""
    overlaid = TreeView(tree, changed={})
    chosen = choose(overlaid, [finding], with_unsafe=True)
    return _plan(overlaid.with_changes(chosen.contents, chosen.renames), chosen.renames)


def _plan(fixed: TreeView, renames: _Renames) -> ChangeSet:
    first: dict[str, str] = {}
    for old, new in renames:
        first[new] = first.pop(old, old)
    changes = []
    for path, after in (fixed.changed or {}).items():
        old = first.get(path, path)
        before = fixed.bytes_below(old)
        if not isinstance(before, Unreadable) and (old, before) != (path, after):
            changes.append(Change(old, path, before, after))
    return ChangeSet(tuple(changes), is_checked=True)


class FixChoice(Struct):
    """Fixes that can be applied together: contents, renames, and the files (`revealed`) that they make readable."""

    tree: TreeView
    findings: list[Finding] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    renames: list[tuple[str, str]] = field(default_factory=list)
    revealed: set[str] = field(default_factory=set)
    _edits: dict[str, list[Edit]] = field(default_factory=dict)
    _fixes: set[Fix] = field(default_factory=set)

    def add(self, finding: Finding, fix: Fix) -> None:
        """Add a fix, unless it overlaps a fix that was added before, or does not fit the file as it is now."""
        if fix in self._fixes:
            self.findings.append(finding)
            return
        named = {path for rename in self.renames for path in rename}
        moved = {path for rename in fix.renames for path in rename}
        if not named.isdisjoint(fix.paths) or not moved.isdisjoint(self._edits):
            return
        files = {file.path: file.kind for file in self.tree.files()} if fix.renames else {}
        taken = files.keys() | self.tree.gone
        if not all(files.get(old) is FileKind.FILE and new not in taken for old, new in fix.renames):
            return
        edits: dict[str, list[Edit]] = {}
        for edit in fix.edits:
            # Two edits that touch also overlap, because one may be an insert and their order is not defined.
            if any(edit.start <= one.end and one.start <= edit.end for one in self._edits.get(edit.path, ())):
                return
            edits.setdefault(edit.path, []).append(edit)
        contents, revealed = {}, set()
        for path, some in edits.items():
            original = read_one(self.tree, path)
            if isinstance(original, Unreadable):
                return
            try:
                content = apply_edits(original, [*self._edits.get(path, ()), *some])
            except ValueError:
                # The edits overlap, or were made for another version of the file.
                return
            contents[path] = content
            if (level := _level(path, original)) < _WHOLE and _level(path, content) >= level:
                revealed.add(dict(fix.renames).get(path, path))
        self.findings.append(finding)
        self.contents |= contents
        self.revealed |= revealed
        self.renames += fix.renames
        self._fixes.add(fix)
        for path, some in edits.items():
            self._edits.setdefault(path, []).extend(some)


def choose(tree: TreeView, findings: Iterable[Finding], *, with_unsafe: bool) -> FixChoice:
    """Return fixes for one round, safe ones first. Renames wait, since other fixes need the old paths."""
    chosen = FixChoice(tree)
    offers = [(finding, finding.fix) for finding in findings if finding.fix is not None]
    for finding, fix in sorted(offers, key=lambda pair: (bool(pair[1].renames), not pair[1].is_safe)):
        if fix.renames and chosen.contents and not chosen.renames:
            break
        if fix.is_safe or with_unsafe:
            chosen.add(finding, fix)
    return chosen


_WHOLE = 3


def _level(path: str, content: bytes) -> int:
    """Return how completely a file can be parsed: _WHOLE, 2 without some keys, 1 for keys alone, 0 if not at all."""
    document = parse_document(path, content)
    if document.fields is None or not is_entry_place(path):
        return 0 if document.fields is None else _WHOLE
    entry = load_entry(document).entry
    return 1 if entry is None else 2 if entry.unread else _WHOLE


class _FixRun:
    """The rounds of one run: the `state` after the fixes so far, the `refused` ones, and their keys (`excluded`)."""

    def __init__(self, tree: Tree, check: _Check, full_check: _Check, *, with_unsafe: bool) -> None:
        self._check, self._full_check, self._with_unsafe = check, full_check, with_unsafe
        overlaid = TreeView(tree, changed={})
        self.state = FixResult(overlaid, *self._checked(overlaid))
        self.refused: list[RefusedFix] = []
        self.excluded: set[_Key] = set()

    def apply(self, keys: Collection[_Key]) -> bool:
        """Apply fixes by key, except those that cause a new finding. Return whether there is any fix to apply."""
        # The files may have changed since, so use the fixes in the last report.
        chosen = self._choose(self.state, keys)
        if not chosen.findings:
            return False
        new = self._try(chosen)
        tried = list(dict.fromkeys(map(_key, chosen.findings)))
        if new is not None and len(tried) == 1:
            self.excluded.update(tried)
            self.refused.append(RefusedFix(chosen.findings[0], new))
        elif new is not None:
            self.apply(tried[: len(tried) // 2])
            self.apply(tried[len(tried) // 2 :])
        return True

    def _try(self, chosen: FixChoice) -> Finding | None:
        """Apply some fixes, and others that they make necessary; if they cause a new finding, only return this."""
        state, revealed, first = self.state, set[str](), None
        for _ in range(_ROUNDS):
            tree = state.tree.with_changes(chosen.contents, chosen.renames)
            fixed, renames = (*state.fixed, *chosen.findings), (*state.renames, *chosen.renames)
            state = FixResult(tree, *self._checked(tree), fixed, renames)
            # A file that could not be parsed completely already had its other faults before this fix.
            revealed |= {path.removesuffix(".md") for path in chosen.revealed}
            ended, moved = fixed[len(self.state.fixed) :], renames[len(self.state.renames) :]
            new = []
            for one in find_new(self.state.known, state.known, ended=ended, renames=moved):
                # The files of the finding and of its other end.
                files = {place.path.removesuffix(".md") for place in (one.place, one.other) if place is not None}
                is_hidden = not files.isdisjoint(revealed) or any(f"`{name}`" in one.message for name in revealed)
                is_meant = one.code == _OF_SUPERSESSION and one.place.path not in chosen.contents
                if not (is_hidden or is_meant):
                    new.append(one)
            if not new:
                self.state = state
                return None
            first = first or new[0]
            fixes = [one.fix for one in new if one.fix is not None and _key(one) not in self.excluded]
            can_fix = len(fixes) == len(new) and all(one.is_safe or self._with_unsafe for one in fixes)
            chosen = self._choose(state, set(map(_key, new)))
            if not (can_fix and chosen.findings):
                break
        return first

    def _choose(self, state: FixResult, keys: Collection[_Key]) -> FixChoice:
        found = (one for one in state.report.findings if _key(one) in keys)
        return choose(state.tree, found, with_unsafe=self._with_unsafe)

    def _checked(self, tree: TreeView) -> tuple[CheckReport, tuple[Finding, ...]]:
        report = self._check(tree)
        return report, (report if self._full_check is self._check else self._full_check(tree)).findings


def _key(finding: Finding) -> _Key:
    return finding.code, finding.place.path, finding.fix.title if finding.fix is not None else ""


def find_new(
    before: Sequence[Finding], after: Sequence[Finding], *, ended: Collection[Finding], renames: _Renames = ()
) -> list[Finding]:
    """Return the new findings after a round of fixes; `renames` are pairs of old and new path.

    If only the text or line of a finding changed, it is not new, unless it is in `ended`, the findings that the round
    was meant to fix.
    """
    origins, to_end = dict[str, str](), frozenset(ended)
    for old, new in renames:
        origins[new] = origins.pop(old, old)

    def text(one: Finding) -> tuple[str, str, str]:
        return one.code, origins.get(one.place.path, one.place.path), one.message

    def place(one: Finding) -> Hashable:
        _, path, _ = text(one)
        # A finding about a folder is reported at one of its files, and after a rename maybe at another one.
        return one.code, path.rpartition("/")[0] if renames else path

    added = _unmatched((one for one in after if one.code != _UNTIL_ADDED), text, before)
    removed = _unmatched((one for one in before if one not in to_end), text, after)
    return _unmatched(added, place, removed)


def _unmatched(
    findings: Iterable[Finding], key: Callable[[Finding], Hashable], others: Iterable[Finding]
) -> list[Finding]:
    """Return the findings that have no counterpart with the same key among the others."""
    rest, left = Counter(map(key, others)), []
    for finding in findings:
        rest[key(finding)] -= 1
        if rest[key(finding)] < 0:
            left.append(finding)
    return left
