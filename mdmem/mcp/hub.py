"""What a tool answers of a hub: this repository's copy, another's, or all; the clone answers where the hub does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.errors import EnvironmentFaultError, MdmemError, NotFoundError, RootNotFoundError, UsageError
from mdmem.hub.names import own_names, remote_url
from mdmem.hub.owners import is_address, repository_of
from mdmem.hub.reader import Reader, SeenRepository
from mdmem.hub.repository_copy import ServedHub
from mdmem.mcp.arguments import shown
from mdmem.mcp.calls import Page, ToolCall, remarked
from mdmem.mcp.tools.across import ACROSS
from mdmem.mcp.tools.shape import AT, EVERYWHERE, REPOSITORY, Facts, Given, Told
from mdmem.mcp.workspaces import Provider
from mdmem.render.hub_answers import copied_json, since_text
from mdmem.store.catalog.addresses import is_entry_place
from mdmem.store.git.status import list_changed_since_commit
from mdmem.store.tree import SETTINGS_NAME
from mdmem.store.workspace.workspace import Workspace

OfClone = Callable[["ToolCall"], "Facts | Told"]


class HubAnswers:
    """Answers calls from a hub.

    A repository's copy is asked as a root is. Of the clone's own repository the hub's copy answers, which may be newer,
    unless the clone has what the hub never had: an agent must find what it has just written.
    """

    def __init__(self, hub: ServedHub, provider: Provider) -> None:
        """Take the hub, and what opens the clone."""
        self._hub, self._provider = hub, provider

    def page(self, asked: ToolCall, of_clone: OfClone) -> Page:
        """Return the page of a tool's answer; raises NotFoundError for a repository that the hub does not show."""
        named = asked.arguments.get(REPOSITORY)
        if asked.access.is_narrow or asked.arguments.get(AT) is not None:
            # A token opens wings of this memory; and the hub has one commit of each.
            if named is not None:
                raise UsageError("other repositories are for who sees every wing, and as they are now; leave out `at`")
            return asked.page(of_clone(asked))
        clone = self._clone(asked)
        is_own = named is None and not any(":" in one for one in _addresses_of(asked.arguments) or ())
        if is_own and clone is not None and asked.tool.reads_own:
            return asked.page(of_clone(asked))
        try:
            found = self._page(asked, named, clone)
        except EnvironmentFaultError as error:
            own = None if clone is None else _of_own(asked, named, clone.once(_state_of).names)
            if own is None:
                raise
            try:
                return asked.page(_degraded(of_clone(own), str(error)))
            except NotFoundError as missing:
                raise NotFoundError(f"{missing}; only the clone was asked: {error}") from missing
        return asked.page(of_clone(asked)) if found is None else found

    def _clone(self, asked: ToolCall) -> Workspace | None:
        try:
            return self._provider.workspace(asked.access)
        except RootNotFoundError:
            if self._provider.is_named:
                raise
            return None

    def _page(self, asked: ToolCall, named: str | None, clone: Workspace | None) -> Page | None:
        """Return the hub's answer; None where the clone's is the better one."""
        with self._hub.reading() as reader:
            if asked.tool.name == _WHO:
                return self._who(reader, asked, named, clone)
            asked, named = _in_repository(reader, asked, named, clone)
            if named == EVERYWHERE:
                answer = ACROSS[asked.tool.name](reader, self._provider.today(), **asked.of_tool, **asked.standing)
                # What is told is read from the hub on the way to the page.
                return asked.page(answer)
            repository = _named(reader, named) if named is not None else _own(reader, clone)
            if repository is None or (named is None and _is_ahead(reader, repository, clone)):
                return None
            copy = self._hub.copy(reader, repository, today=self._provider.today())
            if named is None or not asked.tool.remembers or repository == _own(reader, clone):
                return asked.page(remarked(asked.carried_out(copy.workspace), *_age(copy.repository)))
            asked = replace(asked, given=_of_entries(asked.given))
            page = asked.page(remarked(asked.carried_out(copy.workspace), *_age(copy.repository)))
            return replace(page, gave=_of_entries(page.gave))

    def _who(self, reader: Reader, asked: ToolCall, named: str | None, clone: Workspace | None) -> Page | None:
        """Return who answers for entries of a repository, or of all, and what depends on them in any."""
        query, meant = asked.arguments["query"], None
        says_it = named is None and ":" in query and is_address(query)
        if not says_it and named != EVERYWHERE and (named, clone) != (None, None):
            meant = _named(reader, named) if named is not None else _own(reader, clone)
            if meant is None:
                return None
        names = () if meant is None else (meant.name,)
        try:
            return asked.page(ACROSS[_WHO](reader, self._provider.today(), repositories=names, **asked.of_tool))
        except NotFoundError:
            if named is None and meant is not None and _is_ahead(reader, meant, clone):
                return None
            raise


def _of_entries(given: Given) -> Given:
    """Return what was given of entries, without the files at hand and all else that is about one memory's work."""
    return {address: known for address, known in given.items() if address.count("/") == 2}


# Whatever repository is asked of, what depends on its entries may be in any.
_WHO = "who"


def _in_repository(
    reader: Reader, asked: ToolCall, named: str | None, clone: Workspace | None
) -> tuple[ToolCall, str | None]:
    """Return a call and which repository it means, None for the clone's own: an address may say it, too."""
    is_everywhere = named == EVERYWHERE or (named is None and clone is None)
    addresses = _addresses_of(asked.arguments)
    if addresses is None or not (is_everywhere or any(":" in one for one in addresses)):
        return asked, EVERYWHERE if is_everywhere else named
    if not addresses:
        # What the tool says of none is the same everywhere.
        return asked, None
    if named is None and not is_everywhere:
        own = _own(reader, clone)
        here = "this one" if own is None else own.name
        addresses = [one if ":" in one else f"{here}:{one}" for one in addresses]
    name, plain = repository_of(reader, addresses, named=None if is_everywhere else named)
    return _with_addresses(asked, plain), name


def _of_own(asked: ToolCall, named: str | None, names: Sequence[str]) -> ToolCall | None:
    """Return a call as the clone answers it, which has these names in a hub; None where another repository is meant."""
    addresses = _addresses_of(asked.arguments)
    split = [one.strip().rpartition(":") for one in addresses or ()]
    if not {named, *(said for said, colon, _ in split if colon)} <= {None, EVERYWHERE, *names}:
        return None
    return asked if addresses is None else _with_addresses(asked, [plain for *_, plain in split])


def _addresses_of(arguments: Mapping[str, Any]) -> Sequence[str] | None:
    """Return the addresses of entries among the arguments, None of a tool that takes none."""
    stated = arguments.get("address")
    return [stated] if isinstance(stated, str) else stated


def _with_addresses(asked: ToolCall, addresses: Sequence[str]) -> ToolCall:
    is_one = isinstance(asked.arguments["address"], str)
    return replace(asked, arguments={**asked.arguments, "address": addresses[0] if is_one else list(addresses)})


def _named(reader: Reader, name: str) -> SeenRepository:
    found = reader.find_repository(name)
    if found is None:
        raise NotFoundError(f"the hub has no repository {shown(name)}, or not for you; `{EVERYWHERE}` asks all")
    return found


class _CloneState(Struct, frozen=True):
    """What a clone is called in a hub, and the commit that its memory is as it stands, None where it differs."""

    names: tuple[str, ...]
    commit: str | None

    def over(self, _: Workspace) -> _CloneState:
        """Return the same: it is of the files as they are."""
        return self


def _state_of(clone: Workspace) -> _CloneState:
    location = clone.location
    git = location.repository
    if git is None:
        return _CloneState((), None)
    commit, changed = list_changed_since_commit(git, location.under)
    under = f"{location.under}/" if location.under else ""
    is_clean = not any(_is_of_memory(path[len(under) :]) for path in changed)
    return _CloneState(_names_of(clone), commit if is_clean else None)


def _is_of_memory(path: str) -> bool:
    return path == SETTINGS_NAME or is_entry_place(path) or path.count("/") == 1


def _names_of(clone: Workspace) -> tuple[str, ...]:
    try:
        return own_names(clone.location, remote_url(clone.location.get_repository()))
    except MdmemError:
        # Its folder's name is none.
        return ()


def _own(reader: Reader, clone: Workspace | None) -> SeenRepository | None:
    """Return what the hub has of the clone's own memory: a repository may hold several."""
    if clone is None:
        return None
    found = map(reader.find_repository, clone.once(_state_of).names)
    return next((one for one in found if one is not None and one.root == clone.location.under), None)


def _is_ahead(reader: Reader, repository: SeenRepository, clone: Workspace | None) -> bool:
    """Say whether the clone's files are another state than those that the hub has, or had."""
    if clone is None:
        return False
    commit = clone.once(_state_of).commit
    return commit is None or (commit != repository.commit and not reader.had(repository.id, commit))


def _degraded(answer: Facts | Told, why: str) -> Facts | Told:
    said = f"Degraded: {why}; this answer comes from the clone alone."
    return remarked(answer, (said,), {"degraded": True, "why_degraded": why})


def _age(repository: SeenRepository) -> tuple[tuple[str, ...], Facts]:
    """Return which copy an answer is of, as text and as facts."""
    # No age, which another call tells otherwise: the cursor of a page is good for one answer.
    said = f"From the hub: `{repository.name}` at {repository.commit[:10]}, {since_text(repository.pushed_at)}."
    copied = copied_json(repository.name, commit=repository.commit, pushed_at=repository.pushed_at)
    return (said,), {"repositories": [copied]}
