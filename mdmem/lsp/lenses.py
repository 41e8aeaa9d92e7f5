"""Lines above a text that say what it does not say itself: how an entry stands to others, what applies to code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types

from mdmem.lsp.buffer import Buffer
from mdmem.lsp.choice import choice, targets_of
from mdmem.lsp.code_rules import rules_of
from mdmem.lsp.globs import files_met
from mdmem.lsp.place import START, EditorPage
from mdmem.lsp.session import EditorSession
from mdmem.model.entry import Entry, Status
from mdmem.store.workspace.remarks import age_of

# What is said, and the titles and uris of the files that a click leads to.
_Line = tuple[str, Sequence[tuple[str, str]]]


def lenses(session: EditorSession, buffer: Buffer, _: types.CodeLensParams) -> list[types.CodeLens]:
    """Return the lines above the first one; none where nothing is to be said."""
    page = EditorPage(session, buffer)
    said = _in_code(page) if page.is_code else _of_entry(page)
    return [types.CodeLens(START, choice(title, targets)) for title, targets in said]


def _in_code(page: EditorPage) -> Iterator[_Line]:
    found = rules_of(page.session, page.buffer)
    if found.rules:
        yield found.in_words, targets_of(page.session, [rule.address for rule in found.rules])


def _of_entry(page: EditorPage) -> Iterator[_Line]:
    entry = page.entry
    if entry is None:
        return
    yield from _chain(page, entry)
    naming = page.session.naming(entry.address)
    if naming:
        yield f"{_number(len(naming), 'entry names', 'entries name')} this", targets_of(page.session, naming)
    if entry.applies_to and entry.is_in_force:
        met = files_met(page.session, *entry.applies_to)
        yield f"binds {_number(len(met), 'file', 'files')}", [(path, page.session.uri_of_code(path)) for path in met]
    age = age_of(entry, page.session.today())
    if entry.is_in_force and age is not None and age > page.session.settings.review_after_days:
        yield f"not reviewed for {age} days", ()


def _chain(page: EditorPage, entry: Entry) -> Iterator[_Line]:
    """Yield what supersedes an entry, for sure or as is said, and what it is a draft for."""
    catalog, address = page.session.catalog, entry.address
    heads = tuple(head for head in catalog.lineage.heads(address) if head != address)
    if heads:
        yield f"superseded by {_listed(page, heads)}", targets_of(page.session, heads)
    claimed = catalog.lineage.claimed_by(address)
    if claimed:
        yield f"claimed by {_listed(page, claimed)}", targets_of(page.session, claimed)
    naming = page.session.fields_naming(address)
    drafts = tuple(one for one, name in naming if name == "supersedes" and catalog.entries[one].status is Status.DRAFT)
    if drafts:
        yield f"{_number(len(drafts), 'draft', 'drafts')} to supersede this", targets_of(page.session, drafts)
    known = tuple(one for one in entry.supersedes if one in catalog.entries)
    if entry.status is Status.DRAFT and known:
        yield f"draft for {_listed(page, known)}", targets_of(page.session, known)


def _listed(page: EditorPage, addresses: Sequence[str]) -> str:
    """Return the first of some addresses, as it is said in the wing of the file, and how many more there are."""
    more = f" and {len(addresses) - 1} more" if len(addresses) > 1 else ""
    return f"{addresses[0].removeprefix(f'{page.wing}/')}{more}"


def _number(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"
