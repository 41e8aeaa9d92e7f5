"""Fix findings: choose fixes that fit together, try them in memory, and prove that they bring no new finding."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.checks.check import find_check
from mdmem.checks.engine import CheckReport, sameness
from mdmem.checks.run import CheckRequest, check_all, limited
from mdmem.errors import UsageError
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.parse import parse_document
from mdmem.model.finding import Edit, Finding, Fix
from mdmem.store.catalog import interpret, is_entry_place
from mdmem.store.tree import FileKind, Tree, Unreadable, read_one
from mdmem.store.tree.views import OverlaidTree
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.apply import put, writers_lock
from mdmem.write.change_set import Change, ChangeSet
from mdmem.write.write import is_unchanged

# One fix may make room for the next, and renames wait for the rest.
_ROUNDS = 20
# Reported until the files are added to git, whatever they contain.
_UNTIL_ADDED = "link-not-tracked"
_Check = Callable[[Tree], CheckReport]
_Key = Callable[[Finding], Hashable]
# Identifies a fix from round to round: code, path and title.
_Name = tuple[str, str, str]


class RefusedFix(Struct, frozen=True):
    """A fix that was left out, and the first finding that it would have brought."""

    finding: Finding
    fix: Fix
    brings: Finding

    @property
    def sentence(self) -> str:
        """Return the sentence for people."""
        brings = f"`{self.brings.code}` to {self.brings.place.path}: {self.brings.message}"
        return f"{self.finding.place.path}: left out «{self.fix.title}», which would bring {brings}"


class FixResult(Struct, frozen=True):
    """The report on the fixed files, the findings that ended, the changes, and the fixes that were left out."""

    report: CheckReport
    fixed: tuple[Finding, ...]
    plan: ChangeSet
    refused: tuple[RefusedFix, ...] = ()


def mend(
    workspace: Workspace, asked: CheckRequest, *, with_unsafe: bool, is_dry: bool
) -> tuple[CheckReport, FixResult]:
    """Make the fixes of some findings and return the report on the rest; with `is_dry` nothing is written.

    Raises UsageError for another tree than the working tree, and what `put` raises.
    """
    if not workspace.snapshot.is_working_tree:
        raise UsageError("only files on disk can be mended; leave out --staged, --rev and --merge")
    whole = replace(asked, select=(), ignore=(), paths=())

    def mended_in(one: Workspace) -> FixResult:
        def check(tree: Tree) -> CheckReport:
            return check_all(one.over(tree), asked)

        def prove(tree: Tree) -> CheckReport:
            return check_all(one.over(tree), whole)

        return mend_all(one.tree, check, with_unsafe=with_unsafe, prove=check if whole == asked else prove)

    known = workspace.catalog.file_digests
    mended = mended_in(workspace)
    if mended.plan.changes and not is_dry:
        with writers_lock(workspace.state_folder):
            fresh = workspace.reread()
            mended = mended if is_unchanged(workspace, fresh, known) else mended_in(fresh)
            put(workspace.location.root, mended.plan.changes)
    return limited(replace(mended.report, fixed=mended.fixed, is_dry=is_dry), asked), mended


def mend_all(tree: Tree, check: _Check, *, with_unsafe: bool = False, prove: _Check | None = None) -> FixResult:
    """Return the result of all fixes that can be made; nothing is written.

    `check` finds what to fix, and is asked again after each round of fixes. `prove` runs every check on the whole tree
    where `check` does not: a fix that would bring a new finding is left out.
    """
    mending = _Mending(tree, check, prove or check, with_unsafe=with_unsafe)
    while mending.take_round():
        pass
    proved = mending.proved
    left = {(one.code, one.place.path, one.message) for one in proved.report.findings}
    ended = {one for one in proved.fixed if (one.code, one.place.path, one.message) not in left}
    fixed = tuple(sorted(ended, key=lambda one: one.sort_key))
    return FixResult(proved.report, fixed, _plan(proved.tree, proved.touched), tuple(mending.refused))


def plan_fix(tree: Tree, finding: Finding) -> ChangeSet:
    """Return the changes of one finding's fix; none where it cannot be made, or a file would load worse."""
    overlaid = OverlaidTree(tree)
    chosen = choose(overlaid, [finding], with_unsafe=True)
    return _plan(overlaid.with_changes(chosen.contents, chosen.renames), _touched({}, chosen))


def _touched(before: Mapping[str, str], chosen: FixChoice) -> dict[str, str]:
    """Return the touched files, as first path to present path, with those of another round."""
    now, first = dict(before), {to: path for path, to in before.items()}
    for path in chosen.contents:
        now.setdefault(first.get(path, path), path)
    for old, new in chosen.renames:
        now[first.get(old, old)] = new
    return now


def _plan(mended: OverlaidTree, touched: Mapping[str, str]) -> ChangeSet:
    """Return the difference between the tree below and the mended one."""
    changes = []
    for path, to in touched.items():
        before, after = mended.bytes_below(path), read_one(mended, to)
        if isinstance(before, Unreadable) or isinstance(after, Unreadable) or (path, before) == (to, after):
            continue
        changes.append(Change(path, to, before, after))
    return ChangeSet(tuple(changes))


class FixChoice(Struct):
    """Fixes that can be made together, with the contents and the renames that they lead to.

    `left_out` are fixes after which a file would load worse.
    """

    tree: OverlaidTree
    findings: list[Finding] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    renames: list[tuple[str, str]] = field(default_factory=list)
    left_out: list[RefusedFix] = field(default_factory=list)
    _edits: dict[str, list[Edit]] = field(default_factory=dict)
    _fixes: set[Fix] = field(default_factory=set)

    def offer(self, finding: Finding, fix: Fix) -> None:
        """Add a fix if it overlaps none of the others and every file that it changes loads as well as before."""
        if fix in self._fixes:
            self.findings.append(finding)
            return
        if self._overlaps(fix):
            return
        edits: dict[str, list[Edit]] = {}
        for edit in fix.edits:
            edits.setdefault(edit.path, []).append(edit)
        contents = {path: self._with(path, some) for path, some in edits.items()}
        known = {path: content for path, content in contents.items() if content is not None}
        worse = [one for path, content in known.items() for one in self._brought(path, content)]
        self.left_out += [RefusedFix(finding, fix, one) for one in worse[:1]]
        if worse or len(known) < len(contents):
            return
        self.findings.append(finding)
        self.contents |= known
        self.renames += fix.renames
        self._fixes.add(fix)
        for path, some in edits.items():
            self._edits.setdefault(path, []).extend(some)

    def revealed(self) -> list[str]:
        """Return the later paths of files that could not be read whole before these fixes."""
        now, contents = dict(self.renames), self.tree.read(list(self.contents))
        return [
            now.get(path, path)
            for path, old in contents
            if isinstance(old, Unreadable) or not _Quality.of(path, old).is_whole
        ]

    def suspects(self, new: Sequence[Finding]) -> list[Finding]:
        """Return the findings whose fixes may have brought new ones: those of the same files, unsafe ones if any."""
        paths = {place.path for one in new for place in (one.place, one.other) if place is not None}
        fixes = [(finding, finding.fix) for finding in self.findings if finding.fix is not None]
        near = [(one, fix) for one, fix in fixes if not paths.isdisjoint(fix.paths)] or fixes
        return [one for one, fix in near if not fix.is_safe] or [one for one, _ in near]

    def _overlaps(self, fix: Fix) -> bool:
        named = {path for rename in self.renames for path in rename}
        moved = {path for rename in fix.renames for path in rename}
        if not named.isdisjoint(fix.paths) or not moved.isdisjoint(self._edits):
            return True
        if fix.renames:
            files = {file.path: file.kind for file in self.tree.files()}
            taken = files.keys() | self.tree.gone
            if not all(files.get(old) is FileKind.FILE and new not in taken for old, new in fix.renames):
                return True
        return any(_overlap(edit, other) for edit in fix.edits for other in self._edits.get(edit.path, ()))

    def _with(self, path: str, edits: Sequence[Edit]) -> bytes | None:
        content = read_one(self.tree, path)
        if isinstance(content, Unreadable):
            return None
        try:
            return apply_edits(content, [*self._edits.get(path, ()), *edits])
        except ValueError:
            # The edits overlap, or belong to other bytes.
            return None

    def _brought(self, path: str, content: bytes) -> Sequence[Finding]:
        """Return the findings that a new content would bring where the file loads worse than before."""
        after = _Quality.of(path, content)
        if after.level == 2 and not after.findings:
            return ()
        before = self.contents[path] if path in self.contents else read_one(self.tree, path)
        return () if isinstance(before, Unreadable) else after.worse_than(_Quality.of(path, before))


def choose(tree: OverlaidTree, findings: Iterable[Finding], *, with_unsafe: bool) -> FixChoice:
    """Return the fixes of findings that can be made at once: safe ones first, then in their order.

    Renames wait until nothing else can be made: another fix would write the old address.
    """
    chosen = FixChoice(tree)
    offered = [(finding, finding.fix) for finding in findings if finding.fix is not None]
    for finding, fix in sorted(offered, key=lambda pair: (bool(pair[1].renames), not pair[1].is_safe)):
        if fix.renames and chosen.contents and not chosen.renames:
            break
        if fix.is_safe or with_unsafe:
            chosen.offer(finding, fix)
    return chosen


def _overlap(one: Edit, other: Edit) -> bool:
    """Return whether two edits of a file touch the same bytes, or insert at one place, where neither is first."""
    if one.start == one.end or other.start == other.end:
        return one.start <= other.end and other.start <= one.end
    return one.start < other.end and other.start < one.end


class _Quality(Struct, frozen=True):
    """How well a file loads: as an entry (2), as keys (1) or not (0), with its findings and unread keys."""

    level: int
    findings: tuple[Finding, ...]
    unread: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: str, content: bytes) -> _Quality:
        document = parse_document(path, content)
        if not is_entry_place(path):
            return cls(2 * int(document.fields is not None), tuple(document.findings))
        loaded = interpret(document)
        level = 2 if loaded.entry is not None else int(document.fields is not None)
        return cls(level, tuple(loaded.findings), loaded.entry.unread if loaded.entry is not None else ())

    @property
    def is_whole(self) -> bool:
        return self.level == 2 and not self.unread

    def worse_than(self, before: _Quality) -> tuple[Finding, ...]:
        """Return the findings that were not there before; none where the file loads no worse.

        While the keys make no entry, one fault may take another's place: a value is read only once its key is right.
        """
        new = _surplus(self.findings, _code, Counter(map(_code, before.findings)))
        if self.level < before.level:
            return tuple(new) or self.findings
        return tuple(new) if self.level == before.level != 1 else ()


def _code(finding: Finding) -> str:
    return finding.code


class _State(Struct, frozen=True):
    """The tree after some rounds, the findings there, and the results of the rounds so far."""

    tree: OverlaidTree
    report: CheckReport
    known: tuple[Finding, ...]
    fixed: tuple[Finding, ...] = ()
    touched: Mapping[str, str] = field(default_factory=dict)
    renames: tuple[tuple[str, str], ...] = ()
    revealed: frozenset[str] = frozenset()


class _Mending:
    """The rounds of one run.

    `proved` is the state after the rounds that brought no new finding. A round may bring one that can be fixed in turn,
    such as the second end of a supersession; the rounds after it are proved against the same state.
    """

    def __init__(self, tree: Tree, check: _Check, prove: _Check, *, with_unsafe: bool) -> None:
        self._check, self._prove, self._with_unsafe = check, prove, with_unsafe
        overlaid = OverlaidTree(tree)
        self.proved = self._state = _State(overlaid, *self._checked(overlaid))
        self.refused: list[RefusedFix] = []
        self._suspects: list[_Name] = []
        self._barred: set[_Name] = set()
        self._doubtful: tuple[FixChoice, list[Finding]] | None = None
        self._rounds_left = _ROUNDS

    def take_round(self) -> bool:
        """Make the fixes that can be made together; False where none is left."""
        if not self._rounds_left:
            return False
        self._rounds_left -= 1
        kept_back = self._barred.union(self._suspects)
        chosen = self._choose(one for one in self._state.report.findings if _name(one) not in kept_back)
        if chosen.findings:
            self._prove_round(chosen)
        elif self._doubtful is not None:
            self._give_up(*self._doubtful)
        elif self._suspects:
            suspect = self._suspects.pop()
            self._barred.add(suspect)
            alone = self._choose(one for one in self._state.report.findings if _name(one) == suspect)
            self.refused += alone.left_out
            if alone.findings:
                self._prove_round(alone)
        else:
            self.refused += chosen.left_out
            return False
        return True

    def _choose(self, findings: Iterable[Finding]) -> FixChoice:
        return choose(self._state.tree, findings, with_unsafe=self._with_unsafe)

    def _checked(self, tree: OverlaidTree) -> tuple[CheckReport, tuple[Finding, ...]]:
        report = self._check(tree)
        return report, (report if self._prove is self._check else self._prove(tree)).findings

    def _prove_round(self, chosen: FixChoice) -> None:
        state, proved = self._state, self.proved
        tree = state.tree.with_changes(chosen.contents, chosen.renames)
        self._state = state = _State(
            tree,
            *self._checked(tree),
            fixed=(*state.fixed, *chosen.findings),
            touched=_touched(state.touched, chosen),
            renames=(*state.renames, *chosen.renames),
            revealed=state.revealed.union(chosen.revealed()),
        )
        ended, renames = state.fixed[len(proved.fixed) :], state.renames[len(proved.renames) :]
        found = brought(proved.known, state.known, ended=ended, renames=renames)
        # A file that could not be read whole had these faults before.
        revealed = {path.removesuffix(".md") for path in state.revealed}
        new = [one for one in found if not _is_about(one, revealed)]
        self._doubtful = self._doubtful or (chosen, new)
        if not new:
            self.proved, self._doubtful = state, None
        elif not all(self._can_be_mended(finding) for finding in new):
            self._give_up(self._doubtful[0], new if self._doubtful[0] is chosen else self._doubtful[1])

    def _can_be_mended(self, finding: Finding) -> bool:
        fix = finding.fix
        return fix is not None and (fix.is_safe or self._with_unsafe) and _name(finding) not in self._barred

    def _give_up(self, chosen: FixChoice, new: Sequence[Finding]) -> None:
        """Return to the proved state, without the fixes that brought new findings; several suspects are tried alone."""
        self._state, self._doubtful, self._rounds_left = self.proved, None, _ROUNDS
        culprits = _culprits(chosen, new)
        if culprits:
            self.refused += culprits
            self._barred.update(_name(one.finding) for one in culprits)
            return
        named = {_name(finding) for finding in chosen.findings}
        if len(named) > 1:
            self._suspects += sorted({_name(finding) for finding in chosen.suspects(new)})
            return
        self._barred |= named
        first = chosen.findings[0]
        if first.fix is not None:
            self.refused.append(RefusedFix(first, first.fix, new[0]))


def _culprits(chosen: FixChoice, new: Iterable[Finding]) -> list[RefusedFix]:
    """Return the fixes that surely brought a finding about a change: each is the only one that edits its file."""
    editing: dict[str, list[tuple[Finding, Fix]]] = {}
    for finding in chosen.findings:
        if finding.fix is not None:
            for path in {edit.path for edit in finding.fix.edits}:
                editing.setdefault(path, []).append((finding, finding.fix))
    found: dict[_Name, RefusedFix] = {}
    for one in new:
        check, fixes = find_check(one.code), editing.get(one.place.path, ())
        if check is not None and check.needs_base and len(fixes) == 1:
            found[_name(fixes[0][0])] = RefusedFix(*fixes[0], one)
    return list(found.values())


def _name(finding: Finding) -> _Name:
    return finding.code, finding.place.path, finding.fix.title if finding.fix is not None else ""


def brought(
    before: Sequence[Finding],
    after: Sequence[Finding],
    *,
    ended: Collection[Finding],
    renames: Sequence[tuple[str, str]] = (),
) -> list[Finding]:
    """Return the findings after a round of fixes that were not there before; `renames` are paths from and to.

    A finding in other words, or on another line of its file, is the same one, unless the round was to end it.
    """
    follow, mended = _following(renames), frozenset(ended)
    left, new = list(before), [one for one in after if one.code != _UNTIL_ADDED]
    # A finding about a folder is at one of its files, which may be another one after a rename.
    for key in (sameness, _in_words, _in_place) if renames else (sameness, _in_place):
        had, has = Counter(key(follow(one)) for one in left), Counter(map(key, new))
        left, new = _surplus(map(follow, left), key, has, of=left), _surplus(new, key, had)
        # One that was to end and has the same words did not end; one in other words is another.
        left = [finding for finding in left if finding not in mended]
    return new


def _surplus(
    findings: Iterable[Finding], key: _Key, others: Counter[Hashable], *, of: Sequence[Finding] | None = None
) -> list[Finding]:
    """Return the findings, or the ones `of` the same places, that have no partner of the same key among others."""
    found, rest, left = list(findings), Counter(others), []
    for finding, one in zip(found, of if of is not None else found, strict=True):
        rest[key(finding)] -= 1
        left += [one] if rest[key(finding)] < 0 else []
    return left


def _in_words(finding: Finding) -> Hashable:
    return finding.code, finding.message


def _in_place(finding: Finding) -> Hashable:
    return finding.code, finding.place.path


def _following(renames: Sequence[tuple[str, str]]) -> Callable[[Finding], Finding]:
    """Return a function that rewrites a finding as it reads after some files were renamed."""
    if not renames:
        return lambda finding: finding
    names: dict[str, str] = {}
    for old, new in ((old.removesuffix(".md"), new.removesuffix(".md")) for old, new in renames):
        names = {first: new if last == old else last for first, last in names.items()}
        names.setdefault(old, new)
    named = re.compile("|".join(rf"(?<![\w/-]){re.escape(old)}(?![\w/-])" for old in sorted(names, reverse=True)))

    def moved(text: str) -> str:
        return named.sub(lambda found: names[found.group()], text)

    def follow(finding: Finding) -> Finding:
        place, address = replace(finding.place, path=moved(finding.place.path)), finding.address
        return replace(finding, place=place, address=address and moved(address), message=moved(finding.message))

    return follow


def _is_about(finding: Finding, names: Collection[str]) -> bool:
    """Return whether a finding is in one of some files, or mentions one as its other end."""
    paths = {finding.place.path.removesuffix(".md"), finding.other.path.removesuffix(".md") if finding.other else ""}
    return not paths.isdisjoint(names) or any(f"`{name}`" in finding.message for name in names)
