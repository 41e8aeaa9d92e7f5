"""What files may hold and be called: nothing of it stops a push, or is lost by it."""

import os
from pathlib import Path

import psycopg
import pytest
from builders import commit_all, entry_text, git, make_repository, make_root, write, write_entry
from pushes import pushed, rows

from mdmem.errors import UsageError
from mdmem.hub.contents import lexeme

_LONG = "x" * 5000


def odd(folder: Path, *, words: int) -> Path:
    root = make_root(make_repository(folder) / "memory")
    write_entry(
        root, "nav/rules/quotes", "O'Neil's c:\\\\path\\to and it's C++ \\'x' 'y' ::regclass.\n", title="It's \\ odd"
    )
    write_entry(root, "nav/rules/zeros", "a\0b zeros\n", title='"n\\0ul"', tags='["\\0"]')
    write_entry(root, "nav/rules/halves", title='"\\ud800 half"')
    write_entry(
        root, "nav/rules/links", f"[see: a/b/{_LONG}]\n", see=f'["a/b/{_LONG}", "a/b/\\0", "none"]', owner=_LONG
    )
    many = " ".join(f"word{number:06}_{'y' * 50}" for number in range(words))
    write_entry(root, "nav/rules/many", f"{many}\n", title="Unusual heading")
    write(root, "nav/rules/broken.md", b"---\ntype: [\n\xff\0")
    write(root, "nav/rules/empty.md")
    write(root, "nav/README.md", "---\nkind: [project\n---\n")
    write(root, "deep/a/b/c.md", "x")
    (root / "nav/rules/link.md").symlink_to("quotes.md")
    return root


@pytest.mark.parametrize("words", [150, pytest.param(15_000, marks=pytest.mark.long)])
def test_odd_files_are_pushed_and_come_back_as_they_are(
    dsn: str, tmp_path: Path, words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As many as there are at once: the server's own limit takes longer to reach.
    monkeypatch.setattr("mdmem.hub.contents._MOST_WORDS", 1_000_000 * words // 15_000)
    root = odd(tmp_path / "shop", words=words)
    git(root, "add", "-A")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},memory/nav/rules/module.md")
    git(root, "commit", "-q", "-m", "odd")
    pushed(dsn, root)
    held = {path: (kind, content) for path, kind, content in rows(dsn, "SELECT path, kind, content FROM file")}
    for path in ("rules/zeros.md", "rules/broken.md", "rules/many.md"):
        assert held[path] == ("file", (root / "nav" / path).read_bytes())
    titles = dict(rows(dsn, "SELECT path, title FROM file"))
    assert (titles["rules/zeros.md"], titles["rules/quotes.md"]) == ("n\ufffdul", "It's \\ odd")
    assert {held[f"rules/{name}.md"][0] for name in ("link", "module")} == {"symlink", "submodule"}

    def found(term: str) -> set[object]:
        return {path for (path,) in rows(dsn, f"SELECT path FROM file WHERE words @@ $t${lexeme(term)}$t$::tsquery")}

    # However a word is written; of a file with too many words those that fit, the title's first.
    for term in ("c++", "path\\to", "neil"):
        assert found(term) == {"rules/quotes.md"}, term
    assert found("zero") == {"rules/zeros.md"}
    assert "rules/many.md" in found("unusu") & found("word000000")
    assert "rules/many.md" not in found(f"word{words - 1:06}")
    assert rows(dsn, "SELECT count(*) FROM link WHERE length(target) > 700") == [(0,)]
    assert pushed(dsn, root).is_unchanged


def test_name_that_is_not_utf_8_is_left_out_and_that_of_an_entry_refused(dsn: str, tmp_path: Path) -> None:
    root = odd(tmp_path / "shop", words=1)
    write(root, "nav/picture-" + os.fsdecode(b"\xff.png"))
    write(root, "nav/rules/line\nbreak.md", entry_text("A break in a name.\n"))
    commit_all(tmp_path / "shop")
    pushed(dsn, root)
    assert rows(dsn, "SELECT path FROM file WHERE path ~ 'picture|break'") == [("rules/line\nbreak.md",)]
    for path in (b"nav/rules/bytes-\xff.md", b"wing-\xff/rules/one.md"):
        write(root, os.fsdecode(path), entry_text("Raw bytes in a name.\n"))
        commit_all(tmp_path / "shop")
        with pytest.raises(UsageError, match=r"cannot store the name '.*-.udcff.*', which is not UTF-8; rename it"):
            pushed(dsn, root)
        (root / os.fsdecode(path)).unlink()


def test_a_memory_without_entries_and_none_at_all(dsn: str, tmp_path: Path) -> None:
    root = make_root(make_repository(tmp_path / "shop") / "memory")
    commit_all(tmp_path / "shop")
    assert pushed(dsn, root).added == 0
    with psycopg.connect(dsn) as connection:
        connection.execute("UPDATE mdmem_hub.repository SET settings = 'x', root = 'x'")
    assert pushed(dsn, root, is_whole=True).added == 0
    settings = (root / "mdmem.toml").read_bytes()
    assert rows(dsn, "SELECT settings, root FROM repository") == [(settings, "memory")]
    (root / "mdmem.toml").unlink()
    commit_all(tmp_path / "shop")
    make_root(root)
    with pytest.raises(UsageError, match=r"has no memory at memory: there is no mdmem.toml"):
        pushed(dsn, root)
    assert rows(dsn, "SELECT name, serial FROM repository") == [("shop", 2)]
