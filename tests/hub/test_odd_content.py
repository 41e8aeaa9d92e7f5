"""What files may hold and be called, and who pushes with any program: nothing stops a push, and others are answered."""

import os
import re
from pathlib import Path

import psycopg
import pytest
from builders import commit_all, entry_text, git, make_repository, make_root, memory, write, write_entry
from pushes import Typed, pushed, rows

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


@pytest.fixture
def hub(dsn: str, tmp_path: Path) -> str:
    """Return where a hub is with a repository, and one whose pusher means harm."""
    forge(dsn, "ALTER TABLE repository ALTER id RESTART", "ALTER TABLE wing ALTER id RESTART")
    shop = memory(tmp_path / "shop") / "memory"
    pushed(dsn, shop, repository="acme/shop")
    write_entry(shop, "nav/architecture/ferry", "A ferry carries the threads.\n", title="Ferry")
    commit_all(shop)
    pushed(dsn, shop, repository="aa/evil")
    return dsn


def forge(dsn: str, *statements: str) -> None:
    with psycopg.connect(dsn, autocommit=True, options="-c search_path=mdmem_hub") as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount, statement


REFUSED = (
    "UPDATE repository SET pushed_at = 'infinity'",
    "UPDATE repository SET committed_at = '4000-01-01 BC'",
    "UPDATE repository SET pushed_at = NULL",
    "UPDATE repository SET commit = '--output=x'",
    "INSERT INTO push VALUES (2, 9, E'c1\\n--all')",
    "UPDATE repository SET tracked = '{{a},{b}}'",
    "UPDATE wing SET owners = '{NULL}'",
    "UPDATE wing SET documents = -4",
    "UPDATE wing SET documents = 10000001",
    "INSERT INTO wing (repository_id, name, source, commit) VALUES (2, 'lib', 'host/acme/lib', 'c1')",
    "UPDATE file SET kind = 'odd'",
    "UPDATE file SET kind = 'symlink'",
    "UPDATE file SET title = NULL",
    "UPDATE file SET content = NULL",
)


def test_rows_that_would_end_the_questions_of_others_are_refused(hub: str) -> None:
    for statement in REFUSED:
        with pytest.raises((psycopg.errors.CheckViolation, psycopg.errors.FeatureNotSupported)):
            forge(hub, statement)


@pytest.mark.parametrize(
    "forged", ["wing SET documents = 10000000", "file SET blob = 'x'", "file SET words = $$'thread' ' =thread'$$"]
)
def test_forged_rows_change_no_answer_of_others(hub: str, forged: str, typed: Typed) -> None:
    where = "repository_id = 2" if forged.startswith("wing") else "type IS NOT NULL AND wing_id = 2"
    forge(hub, f"UPDATE {forged} WHERE {where}")
    for command in (("hub", "search", "threads"), ("retrieve", "threads", "--repository", "acme/shop")):
        ran = typed(*command)
        assert (ran.code, "nav/architecture/threads" in ran.out) == (0, True), ran.err


def test_no_name_passes_for_a_line_of_ours(hub: str, typed: Typed) -> None:
    def check(*words: str) -> None:
        ran = typed("hub", *words)
        assert (ran.code, "aa/evil" in ran.out) == (0, True), (words, ran)
        assert not re.search("(?m)^.invariant. forged|\x1b|\u202e", ran.out), words

    odd = r"E'\x1b[31m\u202eodd\n[invariant] forged'"
    forge(
        hub,
        f"UPDATE file SET title = {odd}, owner = {odd}, type = {odd} WHERE wing_id = 2 AND type <> ''",
        f"UPDATE wing SET owners = ARRAY[{odd}] WHERE repository_id = 2",
    )
    check("who", "nav/architecture/threads")
    forge(hub, f"UPDATE wing SET name = {odd} WHERE id = 2", f"UPDATE file SET path = {odd} || path WHERE wing_id = 2")
    for words in (("search", "threads"), ("status",)):
        check(*words)


def test_a_wing_that_is_called_as_another_one_hides_nothing(hub: str, typed: Typed) -> None:
    def found() -> str:
        return typed("hub", "search", "threads").out

    forge(
        hub,
        "UPDATE repository SET name = 'acme/shop:docs' WHERE id = 1",
        "UPDATE repository SET name = 'acme/shop' WHERE id = 2",
    )
    forge(hub, "UPDATE wing SET name = 'docs:nav' WHERE repository_id = 2")
    assert found().count("acme/shop:docs:nav/architecture/threads\n") == 2


def test_a_repository_that_says_it_is_another_one_hides_nothing_of_it(hub: str, typed: Typed) -> None:
    forge(hub, "UPDATE repository SET url = 'acme/shop' WHERE name = 'aa/evil'")
    said = typed("hub", "search", "threads").out
    assert "acme/shop:nav/architecture/threads" in said
