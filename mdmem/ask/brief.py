"""Return the rules for the files at hand in a few lines, for an agent that is about to change them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import takewhile

from msgspec import Struct, field

from mdmem.ask.code_paths import code_path, count_elsewhere, lies_inside
from mdmem.ask.excerpt import excerpt
from mdmem.ask.overrides import Overrides
from mdmem.ask.problems import problems_in
from mdmem.ask.question import Question
from mdmem.ask.quotation import Quoted, fenced_lines, plain
from mdmem.ask.retrieve import forgiving_settings
from mdmem.errors import GoneError, SettingsError
from mdmem.model.entry import Entry, EntryType, Status, instant_of
from mdmem.model.finding import Finding
from mdmem.model.globs import any_match
from mdmem.model.lineage import marked
from mdmem.store.catalog import Catalog
from mdmem.store.settings import Settings
from mdmem.store.workspace.proposals import View, view_of
from mdmem.store.workspace.scope import AmbiguousWingError, Filters, Scope, ScopeState, resolve_scope
from mdmem.store.workspace.workspace import Workspace

# In characters, with the fences: an agent may get it at every edit.
LIMIT = 1200
# The longest name of a path or wing, and the longest command with it.
_LONGEST_NAME, _LONGEST_COMMAND = 120, 300
# Keys that are no addresses: a reported problem, and the reported rules of another wing.
_PROBLEM, _ELSEWHERE = "!", "+"


class Brief(Struct, frozen=True):
    """A few lines, which may be empty; `gave` are the entries that they show, addresses to digests."""

    text: str = ""
    gave: Mapping[str, str] = field(default_factory=dict)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Return the entries that the lines show."""
        return tuple(one for one in self.gave if not one.startswith((_PROBLEM, _ELSEWHERE)))


def brief(workspace: Workspace, paths: Sequence[str], *, given: Mapping[str, str] | None = None) -> Brief:
    """Return the current rules whose `applies_to` matches one of the paths, invariants first, one line each.

    Entries `given` before, by address and digest, are omitted unless they changed. A problem is reported once.
    Raises what reading the memory raises.
    """
    try:
        return _brief(workspace, paths, given or {})
    except GoneError:
        return _brief(workspace.reread(), paths, given or {})


def unreadable(why: str, given: Mapping[str, str] | None = None) -> Brief:
    """Return the line that says that the memory cannot be read; nothing where it was reported before."""
    line = f"mdmem: the memory cannot be read, so rules may be missing here: {plain(why, _LONGEST_COMMAND)}"
    return _reported_once(line, given or {})


def rules_for(workspace: Workspace, paths: Sequence[str]) -> list[Entry]:
    """Return the current rules whose `applies_to` matches one of the paths, which count from the top, in order.

    Raises what reading the memory raises.
    """
    view, settings = view_of(workspace), _settings(workspace)[0]
    return _rules(view, _scope(view.effective.catalog, settings, paths), paths)


def always_for(workspace: Workspace, paths: Sequence[str]) -> list[str]:
    """Return the addresses of the current invariants that apply to all files, sorted.

    Raises what reading the memory raises.
    """
    catalog, settings = view_of(workspace).effective.catalog, _settings(workspace)[0]
    scope = _scope(catalog, settings, paths)
    return sorted(one.address for one in catalog.entries.values() if _is_always(catalog, one, scope, paths))


def _is_always(catalog: Catalog, entry: Entry, scope: Scope, paths: Sequence[str]) -> bool:
    if entry.applies_to or not scope.binds(entry):
        return False
    of_wing = catalog.wings[entry.wing].applies_to
    return _binds(catalog, entry.address) and (not of_wing or any_match(of_wing, paths) is not None)


def always_note(workspace: Workspace, paths: Sequence[str]) -> str | None:
    """Say how many invariants apply to all files, and which command shows them; None where there are none.

    A brief omits them, since they belong at the start of a session and it may be shown at each edit.
    Raises what reading the memory raises.
    """
    inside = _inside(workspace, paths)
    number = len(always_for(workspace, inside)) if inside else 0
    if not number:
        return None
    always, them = (
        ("1 invariant always applies", "it") if number == 1 else (f"{number} invariants always apply", "them")
    )
    return f"{always}: `mdmem retrieve {_command(inside)}` shows {them}"


def _inside(workspace: Workspace, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the paths that lie in the repository, from its top."""
    return tuple(dict.fromkeys(path for path in (code_path(workspace, one) for one in paths) if lies_inside(path)))


def _brief(workspace: Workspace, paths: Sequence[str], given: Mapping[str, str]) -> Brief:
    inside = _inside(workspace, paths)
    if not inside:
        return Brief()
    settings, fault = _settings(workspace)
    view = view_of(workspace)
    catalog = view.effective.catalog
    scope = _scope(catalog, settings, inside)
    rules = _rules(view, scope, inside)
    new = [entry for entry in rules if given.get(entry.address) != _digest(view, entry)]
    elsewhere = dict(_elsewhere(catalog, scope, inside, given))
    problem = _problem([*fault, *_problems(catalog, scope)], given)
    told = _lines(view, new, inside, elsewhere, room=LIMIT - len(problem.text) - bool(problem.text))
    text = "\n".join(filter(None, (told.text, problem.text)))
    return Brief(text, {**told.gave, **problem.gave})


def _settings(workspace: Workspace) -> tuple[Settings, Sequence[Finding]]:
    try:
        return workspace.settings, ()
    except SettingsError:
        return forgiving_settings(workspace)


def _scope(catalog: Catalog, settings: Settings, paths: Sequence[str]) -> Scope:
    """Return the wings that are read; where nothing says which project's a file is, those of all count."""
    try:
        return resolve_scope(catalog, settings, Filters(), paths=paths)
    except (AmbiguousWingError, SettingsError):
        return Scope(wing=None, wings=tuple(catalog.wings), state=ScopeState.UNRESOLVED)


def _rules(view: View, scope: Scope, paths: Sequence[str]) -> list[Entry]:
    """Return the current rules that apply to the paths, in order."""
    catalog = view.effective.catalog
    chosen = {one.address: one for one in catalog.entries.values() if _applies(one, scope, paths)}
    chosen = {address: one for address, one in chosen.items() if _binds(catalog, address)}
    wing = scope.wing
    if any(one.overrides and one.wing == wing for one in catalog.entries.values()) and chosen:
        _override(catalog, scope, paths, chosen)
    today = view.effective.today

    def order(entry: Entry) -> tuple[int, bool, bool, float, str]:
        is_shared = catalog.wings[entry.wing].is_shared
        is_doubtful = entry.status_on(today) is not Status.ACTIVE
        age = -instant_of(entry.created_at).timestamp() if entry.created_at else 0.0
        return entry.type.rank, is_shared, is_doubtful, age, entry.address

    return sorted(chosen.values(), key=order)


def _applies(entry: Entry, scope: Scope, paths: Sequence[str]) -> bool:
    if not entry.applies_to or not entry.type.is_rule or not scope.reads(entry):
        return False
    return any_match(entry.applies_to, paths) is not None


def _binds(catalog: Catalog, address: str) -> bool:
    return catalog.lineage.is_current(address) or catalog.lineage.is_unresolved(address)


def _override(catalog: Catalog, scope: Scope, paths: Sequence[str], chosen: dict[str, Entry]) -> None:
    """Replace the entries that the active wing overrides, as in all other answers."""
    overrides = Overrides(catalog, scope, Question(paths=tuple(paths)))
    for address, by in overrides.of(chosen).items():
        chosen.setdefault(by.address, by)
        if overrides.replaces(by, chosen[address]) and chosen[address].type is not EntryType.INVARIANT:
            del chosen[address]


def _elsewhere(
    catalog: Catalog, scope: Scope, paths: Sequence[str], given: Mapping[str, str]
) -> Iterator[tuple[str, int]]:
    """Yield the wings whose rules apply and are not read, with how many there are, where that is news."""
    for wing, count in count_elsewhere(catalog, scope, paths).items():
        if given.get(f"{_ELSEWHERE}{wing}") != str(count):
            yield wing, count


def _problems(catalog: Catalog, scope: Scope) -> Sequence[Finding]:
    if not (catalog.broken or catalog.closed or catalog.not_fetched or catalog.findings):
        return ()
    return problems_in(catalog, scope)


def _problem(found: Sequence[Finding], given: Mapping[str, str]) -> Brief:
    if not found:
        return Brief()
    number = "1 file" if len(found) == 1 else f"{len(found)} files"
    first = plain(found[0].place.path, _LONGEST_NAME)
    line = (
        f"mdmem: {number} of the memory cannot be read in full and may hold rules (`{first}`); `mdmem check` shows why"
    )
    return _reported_once(line, given)


def _reported_once(line: str, given: Mapping[str, str]) -> Brief:
    digest = sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Brief() if given.get(_PROBLEM) == digest else Brief(line, {_PROBLEM: digest})


def _digest(view: View, entry: Entry) -> str:
    return view.effective.catalog.digests.get(entry.address, "")


def _lines(
    view: View, rules: Sequence[Entry], paths: Sequence[str], elsewhere: Mapping[str, int], *, room: int
) -> Brief:
    """Return the lines that fit; the others are counted, and shown the next time."""
    if not rules and not elsewhere:
        return Brief()
    named = ", ".join(f"`{plain(path, _LONGEST_NAME)}`" for path in paths[:2])
    more = f" and {len(paths) - 2} more" if len(paths) > 2 else ""
    head = f"mdmem: rules of this repository for {named}{more}"
    asked = _command(paths)
    notes = [
        f"+{count} in the wing `{wing}`: mdmem retrieve --wing {wing} {asked}"
        for wing, count in ((plain(name, _LONGEST_NAME), count) for name, count in elsewhere.items())
    ]
    quoted = [quotation(view, entry) for entry in rules]
    text, shown = fenced_lines(head, quoted, notes, limit=room, rest=f"mdmem retrieve {asked}")
    gave = {entry.address: _digest(view, entry) for entry in rules[:shown]}
    return Brief(text, gave | {f"{_ELSEWHERE}{wing}": str(count) for wing, count in elsewhere.items()})


def _command(paths: Iterable[str]) -> str:
    said = " ".join(f"--path {shlex.quote(path)}" for path in paths)
    return said if plain(said, _LONGEST_COMMAND) == said else "--path …"


def quotation(view: View, entry: Entry) -> Quoted:
    """Return an entry for one line: its title, its text, and the doubts about it."""
    catalog = view.effective.catalog
    doubts = [
        *(["under review"] if entry.status_on(view.effective.today) is Status.UNDER_REVIEW else []),
        *marked(catalog.stance(entry.address)),
        *(f"amended by {one}" for one in catalog.derived.amended_by(entry.address)),
        *(f"claimed by {one}" for one in catalog.lineage.claimed_by(entry.address)),
        *(f"contradicts {one}" for one in entry.contradicts if _binds_there(catalog, one)),
    ]

    def said() -> str:
        body = catalog.body(entry.address)
        return _only_paragraph(body) or _shortened(entry, body)

    return Quoted(kind=entry.type.value, address=entry.address, title=entry.title, say=said, doubts=tuple(doubts))


def _only_paragraph(body: str) -> str:
    """Return the one paragraph of prose that a body states before its reasons, empty where it has another form."""
    stated = list(takewhile(lambda one: not one.startswith("Rationale:"), body.strip().split("\n\n")))
    is_plain = len(stated) == 1 and stated[0].lstrip("`")[:1].isalnum() and "\n#" not in body and "```" not in body
    return stated[0] if is_plain else ""


_SAID = 300


def _shortened(entry: Entry, body: str) -> str:
    return excerpt(entry, body, _SAID)


def _binds_there(catalog: Catalog, address: str) -> bool:
    return address in catalog.entries and _binds(catalog, address)
