"""The paths of the code that a glob may name, one folder further than is typed, each with the number of its files."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from lsprotocol import types

from mdmem.lsp.globs import files_met
from mdmem.lsp.place import EditorPage
from mdmem.lsp.spots import Spot

_MOST = 200


def code_path_items(page: EditorPage, slot: Spot) -> tuple[list[types.CompletionItem], bool]:
    """Return the folders, as globs, and the files that begin with what is typed; more come with the next slash."""
    typed = slot.text
    above = typed.rpartition("/")[0]
    found = [
        (f"{path}/**" if count else path, count or 1)
        for path, count in _below(page.session.tracked_files, f"{above}/" if above else "")
        if path.startswith(typed) or path.rpartition("/")[2].startswith(typed.rpartition("/")[2])
    ]
    if any(sign in typed for sign in "*?["):
        found.insert(0, (typed, len(files_met(page.session, typed))))
    return [_item(page, slot, glob, count, number) for number, (glob, count) in enumerate(found[:_MOST])], True


# The set keeps its hash, and another look at the disk makes another set.
@lru_cache(maxsize=64)
def _below(tracked: frozenset[str], prefix: str) -> tuple[tuple[str, int], ...]:
    """Return what lies directly below a folder: folders with the number of their files, then files with none."""
    folders: Counter[str] = Counter()
    files = []
    for path in tracked:
        if path.startswith(prefix):
            first, slash, _ = path[len(prefix) :].partition("/")
            if slash:
                folders[prefix + first] += 1
            else:
                files.append(path)
    return (*sorted(folders.items()), *((path, 0) for path in sorted(files)))


def _item(page: EditorPage, slot: Spot, glob: str, count: int, number: int) -> types.CompletionItem:
    # A glob that begins with a star is an alias to YAML unless it stands in quotes.
    text = page.buffer.text
    is_quoted = text[slot.start - 1 : slot.start] in ('"', "'")
    is_folder = glob.endswith("/**")
    return types.CompletionItem(
        label=glob,
        kind=types.CompletionItemKind.Folder if is_folder else types.CompletionItemKind.File,
        detail="1 file" if count == 1 else f"{count} files",
        sort_text=f"{number:04}",
        filter_text=glob,
        text_edit=types.TextEdit(page.range_of(slot), glob if is_quoted else f'"{glob}"'),
    )
