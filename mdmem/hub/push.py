"""Send a commit to the hub: what changed since the hub's last commit, in one transaction; and compare its rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import StrEnum
from typing import Any, NamedTuple

from msgspec import Struct

from mdmem import SETTINGS_NAME
from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.hub.connection import REBUILD, HubConnection, one_row, run_with_retry, transaction
from mdmem.hub.contents import COLUMNS, Contents, HubWing, WingSource, narrow_settings, plain_text
from mdmem.hub.repositories import (
    FORMAT,
    HubRepository,
    checked_name,
    default_names,
    find_repository,
    own_repository,
    push_refusal,
    remote_place,
)
from mdmem.model.entry import Wing
from mdmem.model.finding import Finding, Place
from mdmem.store.catalog.addresses import MANIFEST
from mdmem.store.git.history import committed_at, is_ancestor_of_any, is_shallow
from mdmem.store.git.process import UNSHALLOW, Repository, has_commit, is_ancestor, resolve
from mdmem.store.git.status import list_revision
from mdmem.store.workspace.workspace import Workspace


class Succession(StrEnum):
    """How the pushed commit relates to the commit that the hub has."""

    FIRST = "first"
    NEWER = "newer"
    SAME = "same"
    OLDER = "older"
    REWRITTEN = "rewritten"


class PushResult(Struct, frozen=True):
    """The result of a push of the commit `pushed`; `before` and `commit` are the hub's commit before and after.

    The numbers count files, and `pins` changed pins. `kept` are damaged pinned wings that other repositories also read;
    only the hub's owner may send these again. `missing` are sentences about pinned wings that are not fetched.
    """

    repository: str
    pushed: str
    commit: str
    before: str | None
    succession: Succession
    added: int = 0
    changed: int = 0
    removed: int = 0
    pins: int = 0
    kept: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def is_unchanged(self) -> bool:
        """Return whether the hub already had this commit or a newer commit."""
        is_same = self.succession is Succession.SAME and not any((self.added, self.changed, self.removed, self.pins))
        return is_same or self.succession is Succession.OLDER


def push(
    workspace: Workspace,
    connection: HubConnection,
    *,
    repository: str | None = None,
    commit: str = "HEAD",
    is_rewritten: bool = False,
    is_whole: bool = False,
) -> PushResult:
    """Update the hub to a commit of this memory, in one transaction. The hub never goes back to an older commit.

    Raises UsageError if the commit does not descend from the hub's commit, unless `is_rewritten`. With `is_whole`,
    everything is sent again.
    """
    git = workspace.location.get_repository()
    commit = resolve(git, commit)
    contents = Contents(workspace, commit)

    def send(cursor: Any) -> PushResult:
        stored = _lock_repository(cursor, contents, option=repository)
        how = _succession(cursor, git, stored, commit, is_rewritten=is_rewritten)
        had = stored.commit
        if how is Succession.OLDER:
            return PushResult(stored.name, commit, had or commit, had, how)
        counts = _update_wings(cursor, stored.id, contents, is_whole=is_whole)
        result = PushResult(stored.name, commit, commit, had, how, *counts, missing=contents.missing_sentences)
        place, settings = remote_place(contents.remote), contents.settings
        if result.is_unchanged and (stored.format, stored.url) == (FORMAT, place) and not is_whole:
            return result
        location, tracked = contents.workspace.location, list(map(plain_text, contents.tracked))
        stated = (location.under, place, commit, committed_at(git, commit), FORMAT, tracked)
        cursor.execute(
            "UPDATE repository SET root = %s, url = %s, commit = %s, committed_at = %s, format = %s, tracked = %s,"
            " settings = %b, narrow_settings = %b, pushed_at = now(), serial = serial + 1 WHERE id = %s",
            (*stated, settings, narrow_settings(settings), stored.id),
        )
        sql = "INSERT INTO push (repository_id, serial, commit) SELECT id, serial, commit FROM repository"
        cursor.execute(f"{sql} WHERE id = %s", (stored.id,))
        return result

    return run_with_retry(connection, send)


def _lock_repository(cursor: Any, contents: Contents, *, option: str | None) -> HubRepository:
    """Return and lock the repository to push to, or add it; raises UsageError if the name belongs to another memory."""
    location, commit = contents.workspace.location, contents.commit
    name = checked_name(option) if option is not None else default_names(location, contents.remote)[0]
    found = find_repository(cursor, name, is_locked=True)
    # If the folder of this memory moved, the row is about the memory before that.
    settings = f"{found.root}/{SETTINGS_NAME}" if found is not None and found.root else SETTINGS_NAME
    is_elsewhere = found is not None and found.commit is not None and found.root != location.under
    if found is not None and is_elsewhere and list_revision(location.get_repository(), commit, settings):
        if option is not None:
            where = found.root or "the top"
            raise UsageError(
                f"in the hub, `{name}` is another memory of this repository, at {where};"
                " choose another name with --repository"
            )
        name = checked_name(default_names(location, contents.remote)[1])
        found = find_repository(cursor, name, is_locked=True)
    if found is not None:
        return found
    if not one_row(cursor.execute("SELECT is_owner()"))[0]:
        raise push_refusal(name)
    sql = "INSERT INTO repository (name, root) VALUES (%s, %s) ON CONFLICT DO NOTHING"
    cursor.execute(sql, (name, location.under))
    # Look again. If another process just added the name, it may belong to another memory.
    return _lock_repository(cursor, contents, option=option)


def _succession(cursor: Any, git: Repository, stored: HubRepository, commit: str, *, is_rewritten: bool) -> Succession:
    """Return how a commit relates to the hub's commit.

    Raises UsageError if it does not follow that commit, and EnvironmentFaultError for a shallow clone that cannot tell.
    """
    had = stored.commit
    if had is None:
        return Succession.FIRST
    if had == commit:
        return Succession.SAME
    if is_ancestor(git, had, commit):
        return Succession.NEWER
    rows = cursor.execute("SELECT DISTINCT commit FROM push WHERE repository_id = %s", (stored.id,)).fetchall()
    pushed = {one for (one,) in rows}
    if commit in pushed or is_ancestor_of_any(git, commit, {had, *pushed}):
        return Succession.OLDER
    where = f"the hub has `{stored.name}` at commit {had[:10]}"
    if is_shallow(git):
        raise EnvironmentFaultError(f"{where}, and the history of this clone does not reach back to it; {UNSHALLOW}")
    if not is_rewritten:
        is_here = has_commit(git, had)
        unknown = f"cannot be compared with it, since {had[:10]} is not in this clone"
        why = "does not descend from it" if is_here else unknown
        hint = "`git pull` first, or add `--rewritten` if the history was rewritten"
        raise UsageError(f"{where}, and {commit[:10]} {why}; {hint}")
    return Succession.REWRITTEN


class _StoredFile(NamedTuple):
    """The kind and hash of a file's row. They show whether the file is the same in the commit."""

    kind: str
    blob: str | None
    id: int
    has_short_links: bool


def _update_wings(
    cursor: Any, repository: int, contents: Contents, *, is_whole: bool
) -> tuple[int, int, int, int, tuple[str, ...]]:
    """Update the rows of a repository to a commit, all with `is_whole`; return the counts for a `PushResult`."""
    rows = cursor.execute("SELECT name, id, format FROM wing WHERE repository_id = %s", (repository,)).fetchall()
    had = {name: (id_, format_) for name, id_, format_ in rows}
    own = {name: wing for name, wing in contents.wings.items() if wing.source is None}
    pins, kept = _update_pins(cursor, repository, contents, is_whole=is_whole)
    added = changed = removed = 0
    for name in had.keys() - own.keys():
        removed += len(_stored_files(cursor, had[name][0]))
        cursor.execute("DELETE FROM wing WHERE id = %s", (had[name][0],))
    planned: list[tuple[int, HubWing, dict[str, _StoredFile], set[str]]] = []
    for name, wing in own.items():
        if name not in had:
            # The new row is visible only to the next statement.
            cursor.execute("INSERT INTO wing (repository_id, name) VALUES (%s, %s)", (repository, name))
            sql = "SELECT id, %s FROM wing WHERE repository_id = %s AND name = %s"
            had[name] = one_row(cursor.execute(sql, (FORMAT, repository, name)))
        id_, format_ = had[name]
        if is_whole or format_ != FORMAT:
            cursor.execute("DELETE FROM file WHERE wing_id = %s", (id_,))
        stored = _stored_files(cursor, id_)
        other = {path for path, file in wing.files.items() if stored.get(path, ())[:2] != (file.kind, file.digest)}
        planned.append((id_, wing, stored, other))
        added, changed = added + len(other - stored.keys()), changed + len(other & stored.keys())
        removed += len(stored.keys() - wing.files.keys())
    for id_, wing, stored, other in planned:
        if added or removed or pins:
            # The target of a short link depends on which files exist.
            other |= {path for path in stored.keys() & wing.files.keys() if stored[path].has_short_links}
        drop = [row.id for path, row in stored.items() if path in other or path not in wing.files]
        cursor.execute("DELETE FROM file WHERE id = ANY(%s)", (drop,))
        _insert_files(cursor, id_, contents, wing, other)
    return added, changed, removed, pins, kept


def _stored_files(cursor: Any, wing: int) -> dict[str, _StoredFile]:
    sql = "SELECT path, kind, blob, id, has_short_links FROM file WHERE wing_id = %s"
    return {path: _StoredFile(*rest) for path, *rest in cursor.execute(sql, (wing,)).fetchall()}


def _insert_files(cursor: Any, id_: int, contents: Contents, wing: HubWing, paths: Collection[str]) -> None:
    """Insert files of a wing with their links, and update the wing's own row."""
    manifest = None
    for batch in contents.batches(wing, paths):
        cursor.executemany(_INSERT, [(id_, *file.columns, id_) for file in batch])
        rows = [(file.path, field, to) for file in batch for field, to in sorted(file.links)]
        if rows:
            cursor.execute(_INSERT_LINKS, (*map(list, zip(*rows, strict=True)), id_))
        manifest = next((file for file in batch if file.path == MANIFEST), manifest)
    if manifest is not None or MANIFEST not in wing.files:
        stated = manifest.wing if manifest is not None else None
        owners = list(map(plain_text, stated.owners)) if stated is not None else []
        is_shared = stated is not None and stated.is_shared
        cursor.execute("UPDATE wing SET is_shared = %s, owners = %s WHERE id = %s", (is_shared, owners, id_))
    cursor.execute(
        "UPDATE wing SET format = %s, documents = ("
        "SELECT count(*) FROM file WHERE wing_id = %s AND type IS NOT NULL) WHERE id = %s",
        (FORMAT, id_, id_),
    )


# `words` stays null for files that are not entries, so that a search finds only entries.
_INSERT = (
    f"INSERT INTO file (wing_id, {', '.join(COLUMNS)})"
    f" VALUES (%s, {', '.join('%b' if name == 'content' else '%s' for name in COLUMNS[:-1])},"
    " %s::tsvector || array_to_tsvector(ARRAY[' w' || %s::integer]))"
)
_INSERT_LINKS = (
    "INSERT INTO link (file_id, wing_id, field, target) SELECT id, wing_id, field, target"
    " FROM unnest(%s::text[], %s::text[], %s::text[]) AS one (named, field, target)"
    " JOIN file ON path = named AND wing_id = %s ON CONFLICT DO NOTHING"
)


def _update_pins(cursor: Any, repository: int, contents: Contents, *, is_whole: bool) -> tuple[int, tuple[str, ...]]:
    """Update the pins of a repository to a commit; return how many changed, and the damaged wings that were kept.

    A pinned wing is sent once, by the first repository that pins it, and never changes. With `is_whole`, it is sent
    again if no other repository reads it, or if the caller is the hub's owner.
    """
    rows = cursor.execute(
        "SELECT pin.name, source, source_path, commit, tree, format FROM visible_pin() AS pin"
        " JOIN wing ON wing.id = wing_id WHERE pin.repository_id = %s",
        (repository,),
    ).fetchall()
    had = {name: (WingSource(*source), tree, format_) for name, *source, tree, format_ in rows}
    wanted = {wing.name: wing for wing in contents.wings.values() if wing.source is not None}
    stale = {
        name
        for name, (source, *_) in had.items()
        if (wanted[name].source != source if name in wanted else not contents.awaits(name, source))
    }
    unpinned = sorted(stale | (wanted.keys() & had.keys() if is_whole else set()))
    # A pinned wing is deleted together with its last pin. If it is pinned again, it is a new wing.
    cursor.execute("SELECT unpin(%s, %s)", (repository, unpinned))
    changed = {name for name, wing in wanted.items() if had.get(name) != (wing.source, wing.tree, FORMAT)}
    # Always in the same order, so that two pushes cannot deadlock.
    ordered = sorted(wanted, key=lambda name: str(wanted[name].source))
    kept = []
    for name in ordered:
        source = wanted[name].source
        if source is None or not (name in changed or is_whole):
            continue
        named = (repository, name, source.place, source.path, source.commit, wanted[name].tree, FORMAT)
        pinned = "SELECT id, is_new, is_owner() FROM pinned_wing(%s, %s, %s, %s, %s, %s, %s)"
        id_, is_new, is_owner = one_row(cursor.execute(pinned, named))
        if is_new or (is_whole and is_owner):
            cursor.execute("DELETE FROM file WHERE wing_id = %s", (id_,))
            _insert_files(cursor, id_, contents, wanted[name], wanted[name].files.keys())
        else:
            kept.append(name)
    return len(changed | stale), tuple(kept) if is_whole else ()


class VerifyReport(Struct, frozen=True):
    """The number of compared files, their differences from the commit, and sentences about wings left out."""

    repository: str
    commit: str
    checked: int
    findings: tuple[Finding, ...]
    missing: tuple[str, ...] = ()


def verify(workspace: Workspace, connection: HubConnection, repository: str | None = None) -> VerifyReport:
    """Compare every row of a repository with the commit that was pushed last; raises NotFoundError if there is none."""
    with transaction(connection, is_snapshot=True) as cursor:
        stored = own_repository(cursor, workspace.location, option=repository)
        commit = stored.commit or ""
        if not has_commit(workspace.location.get_repository(), commit):
            raise EnvironmentFaultError(
                f"the hub has `{stored.name}` at commit {commit[:10]}, which is not in this clone; `git fetch` first"
            )
        contents = Contents(workspace, commit)
        findings = sorted(_compare(cursor, stored.id, contents), key=lambda finding: finding.sort_key)
    skipped = {one.place.path for one in findings if one.code in ("wing-missing", "other-format")}
    checked = sum(len(wing.files) for name, wing in contents.wings.items() if name not in skipped)
    return VerifyReport(stored.name, commit, checked, tuple(findings), contents.missing_sentences)


_WING = "name, id, source, source_path, wing.commit, wing.format, documents, is_shared, owners"
_OWN = f"SELECT {_WING} FROM wing WHERE repository_id = %s"
_PINNED = f"SELECT pin.{_WING} FROM visible_pin() AS pin JOIN wing ON id = wing_id WHERE pin.repository_id = %s"
_FILES = (
    f"SELECT path, {', '.join(COLUMNS[1:-1])},"
    " words IS NOT DISTINCT FROM wanted::tsvector || array_to_tsvector(ARRAY[' w' || wing_id]),"
    " (SELECT array_agg(ARRAY[field, target]) FROM link WHERE link.wing_id = file.wing_id AND file_id = file.id)"
    " FROM unnest(%s::text[], %s::text[]) AS one (named, wanted) JOIN file ON path = named AND wing_id = %s"
)


def _compare(cursor: Any, repository: int, contents: Contents) -> Iterator[Finding]:
    place = remote_place(contents.remote)
    sql = "SELECT root, url, tracked, narrow_settings, reads_whole(id), settings_of(id) FROM repository WHERE id = %s"
    root, url, tracked, narrow, is_whole, settings = one_row(cursor.execute(sql, (repository,)))
    if is_whole and settings != contents.settings:
        yield _finding("row-differs", SETTINGS_NAME, "the settings differ")
    stated = (contents.workspace.location.under, list(map(plain_text, contents.tracked)))
    # A clone without a remote does not know the URL of the repository.
    if (root, tracked, narrow) != (*stated, narrow_settings(contents.settings)) or place not in (None, url):
        yield _finding("row-differs", ".", "the row of the repository differs")
    wings, pins = ({row[0]: row[1:] for row in cursor.execute(sql, (repository,))} for sql in (_OWN, _PINNED))
    for name, wing in contents.wings.items():
        source, had = wing.source, (wings if wing.source is None else pins).pop(name, None)
        if had is None or (source is not None and had[1:4] != (source.place, source.path, source.commit)):
            yield _finding("wing-missing", name, "the hub does not have this wing, or has it at another pin")
        elif had[4] != FORMAT:
            yield _finding("other-format", name, "another version of mdmem sent it", "`mdmem hub push` sends it again")
        else:
            yield from _compare_wing(cursor, contents, wing, had[0], had[5:])
    for name in (wings.keys() | pins.keys()) - contents.tree.missing_wings.keys():
        yield _finding("wing-left-over", name, "the commit has no such wing")


def _compare_wing(
    cursor: Any, contents: Contents, wing: HubWing, id_: int, had: tuple[object, ...]
) -> Iterator[Finding]:
    entries, stated = 0, Wing(name=wing.name)
    paths = {path for (path,) in cursor.execute("SELECT path FROM file WHERE wing_id = %s", (id_,))}
    for path in sorted(paths - wing.files.keys()):
        yield _finding("row-left-over", f"{wing.name}/{path}", "the commit has no such file")
    for batch in contents.batches(wing, wing.files.keys()):
        entries += sum(file.entry is not None for file in batch)
        stated = next((file.wing for file in batch if file.wing is not None), stated)
        rows = cursor.execute(_FILES, ([file.path for file in batch], [file.words for file in batch], id_))
        stored = {row_path: rest for row_path, *rest in rows}
        for file in batch:
            path = f"{wing.name}/{file.path}"
            if file.path not in stored:
                yield _finding("row-missing", path, "the hub has no row of this file")
                continue
            *columns, has_words, links = stored[file.path]
            in_row = (*columns, has_words, {(field, target) for field, target in links or ()})
            if in_row != (*file.columns[1:-1], True, file.links):
                yield _finding("row-differs", path, "the row differs from the file")
    if had != (entries, stated.is_shared, list(map(plain_text, stated.owners))):
        yield _finding("figures-differ", wing.name, "the row of the wing differs from its files")


def _finding(code: str, path: str, message: str, help_: str = REBUILD) -> Finding:
    return Finding(code, message, Place(path), help_, None)
