"""Reviews of two trees that no file system need hold."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from builders import entry_text

from mdmem.change.compare import TreeSide
from mdmem.change.review import compare_trees
from mdmem.change.review_model import ReviewReport
from mdmem.store.catalog.load import load
from mdmem.store.tree import Tree, TreeFile, Unreadable, digest_of

TODAY = date(2026, 11, 21)
ARTICLE = "Times are stored in UTC, to the second, and shown in the reader's zone.\n"


@dataclass(frozen=True)
class Texts(Tree):
    """A tree of texts by address; None stands for a file that cannot be read."""

    texts: Mapping[str, str | None]
    name: str

    def files(self) -> tuple[TreeFile, ...]:
        """Return the files, sorted by path."""
        return tuple(TreeFile(f"{address}.md") for address in sorted(self.texts))

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes."""
        for path in paths:
            text = self.texts.get(path.removesuffix(".md"))
            yield path, Unreadable("it refuses") if text is None else text.encode()

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return the digests of what can be read."""
        known = ((file.path, self.texts.get(file.path.removesuffix(".md"))) for file in files)
        return {path: digest_of(text.encode()) for path, text in known if text is not None}

    def identity(self, path: str, content: bytes) -> str:  # the port's names
        """Return the digest of bytes."""
        return digest_of(content)


def side(name: str, texts: Mapping[str, str | None]) -> TreeSide:
    """Return one side; a name without a slash stands for an address in `app/rules`."""
    placed = {address if "/" in address else f"app/rules/{address}": text for address, text in texts.items()}
    return TreeSide(name, load(Texts(placed, name)))


def reviewed(
    before: Mapping[str, str | None], after: Mapping[str, str | None], *, files: Sequence[str] = ()
) -> ReviewReport:
    """Return the review of two trees."""
    return compare_trees(side("old", before), side("new", after), today=TODAY, files=lambda: files)


def superseded(by: str, **more: object) -> str:
    """Return the text of an entry that another one of `app/rules` replaced."""
    ended = {"status": "deprecated", "deprecated_at": "2026-11-20", "superseded_by": [f"app/rules/{by}"]}
    return entry_text("The old words.\n", **(ended | more))


def successor(of: str, **more: object) -> str:
    """Return the text of an entry that replaces another one of `app/rules`."""
    return entry_text("The new words.\n", **({"supersedes": [f"app/rules/{of}"], "reason": "it was slow"} | more))
