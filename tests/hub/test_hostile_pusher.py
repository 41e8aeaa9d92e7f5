"""Who may push a repository writes its rows with any program: others are answered all the same, and as truly."""

import re
from pathlib import Path

import psycopg
import pytest
from builders import commit_all, memory, run_here, write_entry
from pushes import pushed


@pytest.fixture
def hub(dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return where a hub is with a repository, and one whose pusher means harm."""
    monkeypatch.setenv("MDMEM_HUB_DSN", dsn)
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
def test_forged_rows_change_no_answer_of_others(
    hub: str, forged: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    where = "repository_id = 2" if forged.startswith("wing") else "type IS NOT NULL AND wing_id = 2"
    forge(hub, f"UPDATE {forged} WHERE {where}")
    for command in (("hub", "search", "threads", "--dsn", hub), ("retrieve", "threads", "--repository", "acme/shop")):
        ran = run_here(capsys, *command, cwd=tmp_path)
        assert (ran.code, "nav/architecture/threads" in ran.out) == (0, True), ran.err


def test_no_name_passes_for_a_line_of_ours(hub: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def check(*words: str) -> None:
        ran = run_here(capsys, "hub", *words, "--dsn", hub, cwd=tmp_path)
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


def test_a_wing_that_is_called_as_another_one_hides_nothing(
    hub: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def found() -> str:
        return run_here(capsys, "hub", "search", "threads", "--dsn", hub, cwd=tmp_path).out

    forge(
        hub,
        "UPDATE repository SET name = 'acme/shop:docs' WHERE id = 1",
        "UPDATE repository SET name = 'acme/shop' WHERE id = 2",
    )
    forge(hub, "UPDATE wing SET name = 'docs:nav' WHERE repository_id = 2")
    assert found().count("acme/shop:docs:nav/architecture/threads\n") == 2


def test_a_repository_that_says_it_is_another_one_hides_nothing_of_it(
    hub: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    forge(hub, "UPDATE repository SET url = 'acme/shop' WHERE name = 'aa/evil'")
    said = run_here(capsys, "hub", "search", "threads", "--dsn", hub, cwd=tmp_path).out
    assert "acme/shop:nav/architecture/threads" in said
