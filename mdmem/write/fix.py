"""Mending what the checks found: fixes chosen, tried in memory until none is left, and made one plan.

The proof of a round of fixes: which findings it would bring that nothing told of before.
"""

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

_Key = Callable[[Finding], Hashable]
# Is told until the files are added to git, whatever they say.
_UNTIL_ADDED = "link-not-tracked"


def brought(
    before: Sequence[Finding],
    after: Sequence[Finding],
    *,
    ended: Collection[Finding],
    renames: Sequence[tuple[str, str]] = (),
) -> list[Finding]:
    """Return the findings after a round of fixes that were not there before; `renames` are paths from and to.

    One that says its fact in other words, or at another line of its file, is no new one, unless it was to be `ended`.
    """
    follow, mended = _following(renames), frozenset(ended)
    left, new = list(before), [one for one in after if one.code != _UNTIL_ADDED]
    # What is told of a folder is told at one of its files, which may be another once the folder has another name.
    for key in (sameness, _in_words, _in_place) if renames else (sameness, _in_place):
        left, new = _unmatched(left, new, key, follow)
        # What was to be ended and is found word for word was not ended; in other words it is another.
        left = [finding for finding in left if finding not in mended]
    return new


def unrevealed(findings: Iterable[Finding], revealed: Iterable[str]) -> list[Finding]:
    """Return the findings that are about none of some files that could not be read whole before.

    What those hold was true before, and nobody could tell.
    """
    names = frozenset(path.removesuffix(".md") for path in revealed)
    return [finding for finding in findings if not _is_about(finding, names)]


def _unmatched(
    before: Sequence[Finding], after: Sequence[Finding], key: _Key, follow: Callable[[Finding], Finding]
) -> tuple[list[Finding], list[Finding]]:
    """Return what is left on both sides when each finding has met one of the same key on the other side."""
    keys = [key(follow(finding)) for finding in before]
    had, has = Counter(keys), Counter(map(key, after))
    return _beyond(zip(before, keys, strict=True), has), _beyond(((one, key(one)) for one in after), had)


def _beyond(pairs: Iterable[tuple[Finding, Hashable]], others: Counter[Hashable]) -> list[Finding]:
    left, open_ = [], Counter(others)
    for finding, key in pairs:
        if open_[key] <= 0:
            left.append(finding)
        open_[key] -= 1
    return left


def _in_words(finding: Finding) -> Hashable:
    return finding.code, finding.message


def _in_place(finding: Finding) -> Hashable:
    return finding.code, finding.place.path


def _following(renames: Sequence[tuple[str, str]]) -> Callable[[Finding], Finding]:
    """Return what tells a finding as it reads after some files were renamed."""
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
    """Say whether a finding stands in one of some files, or names one as the other end of what it tells."""
    paths = {finding.place.path.removesuffix(".md"), finding.other.path.removesuffix(".md") if finding.other else ""}
    return not paths.isdisjoint(names) or any(f"`{name}`" in finding.message for name in names)


# One fix may make room for the next, and renames wait for the rest: the Python proposals took four rounds.
_ROUNDS = 20
_Check = Callable[[Tree], CheckReport]
_Name = tuple[str, str, str]


class FixResult(Struct, frozen=True):
    """What mending comes to: the report on the files as they will be, what it ended, and what is to be written.

    `refused` are the fixes that were left out since each would have brought a new finding.
    """

    report: CheckReport
    fixed: tuple[Finding, ...]
    plan: ChangeSet
    refused: tuple[RefusedFix, ...] = ()


def mend_all(tree: Tree, check: _Check, *, with_unsafe: bool = False, prove: _Check | None = None) -> FixResult:
    """Return what is left when every fix that can be made was made; nothing is written.

    `check` is asked again after each round of fixes, with the tree that they lead to. `prove` asks every check about
    the whole tree, where `check` asks less: a fix that would bring a new finding is left out.
    """
    mending = _Mending(tree, check, prove or check, with_unsafe=with_unsafe)
    while mending.take_round():
        pass
    proved = mending.proved
    plan = proved.moves.plan(proved.tree)
    return FixResult(proved.report, _ended(proved.fixed, proved.report), plan, tuple(mending.refused))


def plan_fix(tree: Tree, finding: Finding) -> ChangeSet:
    """Return what the fix of one finding changes; nothing where it cannot be made, or a file would load worse."""
    overlaid = OverlaidTree(tree)
    chosen = choose(overlaid, [finding], with_unsafe=True)
    return _Moves().after(chosen).plan(overlaid.with_changes(chosen.contents, chosen.renames))


class _Mending:
    """The rounds of one run.

    `proved` is how far they brought no new finding. A round may bring one that can be mended in turn, as the second end
    of a supersession is; what comes of it is proved against the same state, and given up together.
    """

    def __init__(self, tree: Tree, check: _Check, prove: _Check, *, with_unsafe: bool) -> None:
        self._check, self._prove, self._with_unsafe = check, prove, with_unsafe
        self.proved = self._state = self._checked(OverlaidTree(tree))
        self.refused: list[RefusedFix] = []
        self._suspects: list[_Name] = []
        self._barred: set[_Name] = set()
        self._doubtful: tuple[FixChoice, list[Finding]] | None = None
        self._rounds_left = _ROUNDS

    def _checked(self, tree: OverlaidTree) -> _State:
        report = self._check(tree)
        known = report if self._prove is self._check else self._prove(tree)
        return _State(tree, report, known.findings)

    def take_round(self) -> bool:
        """Make fixes that can be made together; False where none is left."""
        if not self._rounds_left:
            return False
        self._rounds_left -= 1
        chosen = choose(self._state.tree, self._offered(), with_unsafe=self._with_unsafe)
        if chosen.findings:
            self._prove_round(chosen)
        elif self._doubtful is not None:
            self._give_up(*self._doubtful)
        elif self._suspects:
            self._try_alone(self._suspects.pop())
        else:
            self.refused += chosen.left_out
            return False
        return True

    def _offered(self) -> list[Finding]:
        kept_back = self._barred.union(self._suspects)
        return [finding for finding in self._state.report.findings if _name(finding) not in kept_back]

    def _try_alone(self, suspect: _Name) -> None:
        self._barred.add(suspect)
        alone = [finding for finding in self._state.report.findings if _name(finding) == suspect]
        chosen = choose(self._state.tree, alone, with_unsafe=self._with_unsafe)
        self.refused += chosen.left_out
        if chosen.findings:
            self._prove_round(chosen)

    def _prove_round(self, chosen: FixChoice) -> None:
        state = self._state = self._state.after(chosen, self._checked)
        found = brought(
            self.proved.known,
            state.known,
            ended=state.fixed[len(self.proved.fixed) :],
            renames=state.renames[len(self.proved.renames) :],
        )
        new = unrevealed(found, state.revealed) if found else found
        self._doubtful = self._doubtful or (chosen, new)
        if not new:
            self.proved, self._doubtful = state, None
        elif not all(self._can_be_mended(finding) for finding in new):
            self._give_up(self._doubtful[0], new if self._doubtful[0] is chosen else self._doubtful[1])

    def _can_be_mended(self, finding: Finding) -> bool:
        fix = finding.fix
        return fix is not None and (fix.is_safe or self._with_unsafe) and _name(finding) not in self._barred

    def _give_up(self, chosen: FixChoice, new: Sequence[Finding]) -> None:
        """Go back to what is proved, and leave out the fixes that brought new findings.

        Where several may have brought one, each is tried alone.
        """
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
    """Return the fixes that surely brought a finding about a change: each alone edits the file that it is about."""
    editing: dict[str, list[tuple[Finding, Fix]]] = {}
    for finding in chosen.findings:
        if finding.fix is not None:
            for path in {edit.path for edit in finding.fix.edits}:
                editing.setdefault(path, []).append((finding, finding.fix))
    changes = ((editing.get(one.place.path, ()), one) for one in new if _is_about_change(one))
    found = {_name(fixes[0][0]): RefusedFix(*fixes[0], one) for fixes, one in changes if len(fixes) == 1}
    return list(found.values())


def _is_about_change(finding: Finding) -> bool:
    check = find_check(finding.code)
    return check is not None and check.needs_base


def _name(finding: Finding) -> _Name:
    """Return what a fix is known by from round to round."""
    return finding.code, finding.place.path, finding.fix.title if finding.fix is not None else ""


def _ended(fixed: Iterable[Finding], report: CheckReport) -> tuple[Finding, ...]:
    """Leave out those that are found again; what was mended in a later round stands where it then stood."""
    left = {(finding.code, finding.place.path, finding.message) for finding in report.findings}
    ended = {finding for finding in fixed if (finding.code, finding.place.path, finding.message) not in left}
    return tuple(sorted(ended, key=lambda finding: finding.sort_key))


class _Moves(Struct, frozen=True):
    """Every file that some rounds touched, in the order of the first touch, by its path before and after."""

    now: Mapping[str, str] = field(default_factory=dict)

    def after(self, chosen: FixChoice) -> _Moves:
        """Return the same with what another round touched."""
        now, before = dict(self.now), {now: before for before, now in self.now.items()}
        for path in chosen.contents:
            now.setdefault(before.get(path, path), path)
        for old, new in chosen.renames:
            now[before.get(old, old)] = new
        return _Moves(now)

    def plan(self, mended: OverlaidTree) -> ChangeSet:
        """Return the difference between the tree below and the mended one."""
        changes = []
        for path, to in self.now.items():
            before, after = mended.bytes_below(path), read_one(mended, to)
            if not isinstance(before, Unreadable) and not isinstance(after, Unreadable):
                changes.append(Change(path, to, before, after))
        return ChangeSet(
            tuple(change for change in changes if (change.path, change.before) != (change.to, change.after))
        )


class _State(Struct, frozen=True):
    """The tree that some rounds lead to, and what every check finds there; what was mended, moved and made readable."""

    tree: OverlaidTree
    report: CheckReport
    known: tuple[Finding, ...]
    fixed: tuple[Finding, ...] = ()
    moves: _Moves = field(default_factory=_Moves)
    renames: tuple[tuple[str, str], ...] = ()
    revealed: frozenset[str] = frozenset()

    def after(self, chosen: FixChoice, check: Callable[[OverlaidTree], _State]) -> _State:
        """Return the state that fixes lead to."""
        return replace(
            check(self.tree.with_changes(chosen.contents, chosen.renames)),
            fixed=(*self.fixed, *chosen.findings),
            moves=self.moves.after(chosen),
            renames=(*self.renames, *chosen.renames),
            revealed=self.revealed.union(chosen.revealed()),
        )


def mend(
    workspace: Workspace, asked: CheckRequest, *, with_unsafe: bool, is_dry: bool
) -> tuple[CheckReport, FixResult]:
    """Mend what can be mended and return what is left, and what was changed; with `is_dry` nothing is written.

    Raises UsageError where another tree than the working tree is read, and what `apply` raises.
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
