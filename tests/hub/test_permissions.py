"""Test what a role or a token sees of a hub, and that it learns nothing else in any way."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest
from builders import TODAY, Ran, run_here

from mdmem.errors import NotFoundError
from mdmem.hub.copy import open_copy

Typed = Callable[..., Ran]
# Two repositories that pin one wing of a third; `guest` sees a wing of the first, a token the second, to push it.
SECRET = "zebra"
ROWS = f"""
SET search_path = mdmem_hub;
INSERT INTO repository (name, url, commit, pushed_at, settings, narrow_settings)
    VALUES ('acme/shop', 'host/acme/shop', 'c1', now(), '[wings.{SECRET}]', 'narrow'),
        ('acme/{SECRET}', '{SECRET}', 'c2', now(), '', '');
INSERT INTO former_name VALUES ('acme/old', 1), ('acme/old-{SECRET}', 2);
INSERT INTO push VALUES (1, 1, 'c1'), (2, 1, 'c2');
INSERT INTO wing (repository_id, name, owners) VALUES
    (1, 'pay', '{{team}}'), (1, '{SECRET}', '{{{SECRET}}}'), (2, '{SECRET}', '{{{SECRET}}}');
INSERT INTO wing (name, source, source_path, commit, tree) VALUES ('platform', 'host/platform', 'memory', 'c3', 'tree');
INSERT INTO pin VALUES (1, 4, 'platform'), (2, 4, '{SECRET}');
INSERT INTO file (wing_id, path, type, status, title, owner, blob, content, words)
    SELECT w, 'room/e' || n || '.md', 'note', 'active',
        CASE w WHEN 2 THEN '{SECRET}' WHEN 3 THEN '{SECRET}' ELSE 'plain' END,
        CASE w WHEN 2 THEN '{SECRET}' END, CASE w WHEN 2 THEN '{SECRET}' ELSE 'blob' END, 'text',
        (CASE w WHEN 2 THEN '{SECRET}' WHEN 3 THEN '{SECRET}' ELSE 'plain' END
            || format(' both %L', ' w' || w))::tsvector
    FROM generate_series(1, 4) AS w, generate_series(1, 300) AS n;
UPDATE file SET path = 'vault/{SECRET}.md' WHERE wing_id = 2 AND path = 'room/e300.md';
INSERT INTO link (wing_id, file_id, field, target)
    SELECT wing_id, id, 'see', CASE wing_id WHEN 1 THEN 'pay/room/e1' ELSE 'pay/{SECRET}/e1' END FROM file;
INSERT INTO principal (role) VALUES ('guest');
INSERT INTO principal (name, token_hash) VALUES ('ci', sha256('ci-token'));
INSERT INTO permission VALUES (1, 1, 'pay', false), (2, 2, NULL, true);
ANALYZE;
"""


def filled(where: str) -> str:
    with psycopg.connect(where, autocommit=True) as owner:
        owner.execute(ROWS)
    return where


@pytest.fixture(scope="module")
def hub(new_hub: Callable[[], str], roles: None) -> str:
    """Return the DSN of a hub whose rows no test changes."""
    return filled(new_hub())


def as_role(where: str, role: str = "guest", *, token: str = "") -> psycopg.Connection[Any]:
    options = "-c search_path=mdmem_hub,pg_catalog" + (f" -c mdmem.token={token}" if token else "")
    return psycopg.connect(where.replace("user=postgres", f"user={role}"), options=options, autocommit=True)


@pytest.fixture
def guest(hub: str) -> Iterator[psycopg.Connection[Any]]:
    with as_role(hub) as connection:
        yield connection


def only(connection: psycopg.Connection[Any], question: str, *arguments: object) -> list[Any]:
    """Return the first column of an answer."""
    return [row[0] for row in connection.execute(question, arguments)]


def numbers(connection: psycopg.Connection[Any], tables: tuple[str, ...]) -> list[int]:
    return [only(connection, f"SELECT count(*) FROM {table}")[0] for table in tables]


def search(word: str, *, wings: str = "NULL", most: int = 10) -> str:
    """Return the call of the function that searches."""
    return f"search_entries(ARRAY['''{word}'''], '{{}}', {wings}, {most})"


READ = ("repository", "former_name", "push", "wing", "visible_pin()", "file", "link")


@pytest.mark.parametrize(
    ("role", "token", "seen"),
    [
        ("guest", "", [1, 1, 1, 1, 0, 300, 300]),
        ("guest", "ci-token", [2, 2, 2, 3, 1, 900, 900]),
        ("member", "ci-token", [1, 1, 1, 2, 1, 600, 600]),
        ("member", "", [0] * 7),
        ("member", sha256(b"ci-token").hexdigest(), [0] * 7),
        ("postgres", "", [2, 2, 2, 4, 2, 1200, 1200]),
    ],
    ids=["role", "role and token", "token", "nobody", "hash in place of the token", "owner"],
)
def test_each_sees_what_was_granted(hub: str, role: str, token: str, seen: list[int]) -> None:
    with as_role(hub, role, token=token) as connection:
        assert numbers(connection, READ) == seen
        assert only(connection, f"SELECT count(*) FROM {search('both', most=5000)}") == [seen[5]]


EXPLAINED = (
    ("SELECT FROM repository WHERE name = %s", "acme/zebra", "acme/zibra"),
    ("SELECT FROM former_name WHERE name = %s", "acme/old-zebra", "acme/old-zibra"),
    ("SELECT FROM wing WHERE repository_id = 1 AND name = %s", SECRET, "zibra"),
    ("SELECT FROM wing WHERE owners = %s::text[]", "{zebra}", "{zibra}"),
    ("SELECT FROM wing WHERE repository_id = %s", "2", "9"),
    ("SELECT FROM push WHERE repository_id = %s", "2", "9"),
    ("SELECT FROM file WHERE wing_id = %s", "2", "9"),
    ("SELECT FROM file WHERE wing_id = 2 AND path = %s", "room/e1.md", "room/e0.md"),
    ("SELECT FROM file WHERE wing_id = 2 OR path = %s", "vault/zebra.md", "vault/zibra.md"),
    ("SELECT FROM file WHERE title = %s", SECRET, "zibra"),
    ("SELECT FROM file WHERE title > %s", "zeb", "zib"),
    ("SELECT FROM file WHERE owner = %s", SECRET, "zibra"),
    ("SELECT FROM file WHERE blob = %s", SECRET, "zibra"),
    ("SELECT FROM file WHERE words @@ %s::tsquery", SECRET, "zibra"),
    ("SELECT FROM link WHERE target = %s", "pay/zebra/e1", "pay/zibra/e1"),
    ("SELECT FROM link WHERE wing_id = 2 AND target = %s", "pay/zebra/e1", "pay/zibra/e1"),
    ("SELECT FROM link WHERE file_id = %s", "301", "9301"),
    ("SELECT FROM search_entries(ARRAY[quote_literal(%s)], '{}', NULL, 9)", SECRET, "zibra"),
    ("SELECT repository_named(%s)", "acme/zebra", "acme/zibra"),
    ("SELECT settings_of(%s)", "2", "9"),
)


@pytest.mark.parametrize(
    "settings", ["", "SET enable_seqscan = off", "SET enable_sort = off; SET enable_seqscan = off"]
)
def test_the_work_for_what_is_hidden_is_that_for_what_is_not_there(
    guest: psycopg.Connection[Any], settings: str
) -> None:
    if settings:
        guest.execute(settings)
    told = [question for question, *values in EXPLAINED if len({plan_of(guest, question, one) for one in values}) > 1]
    assert told == []


def plan_of(connection: psycopg.Connection[Any], question: str, value: str) -> str:
    """Return how a question was answered, and with how much work, without the value that it asked for."""
    asked = question.replace("%s", f"'{value}'")
    lines = only(connection, f"EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF) {asked}")
    return re.sub(rf"'{value}'| = '?{value}\b", "…", "\n".join(lines))


@pytest.fixture(scope="module")
def other(new_hub: Callable[[], str], roles: None) -> str:
    """Return the DSN of a hub with the same rows, for tests that change permissions."""
    return filled(new_hub())


@pytest.fixture
def typed(other: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Return what types a command about a hub where nobody sees anything: as its owner, a role, or with a token."""

    def types(*arguments: str, role: str = "postgres", token: str = "") -> Ran:
        monkeypatch.setenv("MDMEM_HUB_DSN", other.replace("user=postgres", f"user={role}"))
        monkeypatch.setenv("MDMEM_HUB_TOKEN", token)
        return run_here(capsys, "hub", *arguments, cwd=tmp_path)

    with psycopg.connect(other, autocommit=True) as owner:
        owner.execute("DELETE FROM mdmem_hub.principal")
    return types


def test_a_token_is_made_granted_rotated_revoked_and_dropped(typed: Typed) -> None:
    made = typed("token", "robot")
    token, said = made.out.splitlines()
    assert (made.code, len(token), said[:7]) == (0, 43, "robot: ")
    assert typed("grants", role="guest", token=token).out == "you: nothing\n"
    assert typed("grant", "robot", "acme/old/pay").out == "robot (token): reads acme/shop/pay\n"
    assert typed("grants", role="guest", token=token).out == "you: reads acme/shop/pay\n"
    assert typed("grant", "robot", f"acme/{SECRET}", "--push").out == (
        f"robot (token): pushes acme/{SECRET}; reads acme/shop/pay\n"
    )
    # A permission for the repository includes the wing, so a permission for the wing changes nothing.
    assert typed("grant", "robot", "acme/shop").out == f"robot (token): pushes acme/{SECRET}; reads acme/shop\n"
    assert typed("grant", "robot", "acme/shop/pay", f"acme/{SECRET}").out == typed("grants").out
    other = typed("token", "robot", "--rotate").out.splitlines()[0]
    assert typed("grants", role="guest", token=token).code == 3
    assert typed("grants", role="guest", token=other).out == f"you: pushes acme/{SECRET}; reads acme/shop\n"
    assert typed("revoke", "robot", "acme/shop").out == f"robot (token): pushes acme/{SECRET}\n"
    assert typed("revoke", "robot").out == "robot (token): nothing\n"
    assert typed("token", "robot", "--drop").out == "`robot` is no longer valid\n"
    assert typed("grants", role="guest", token=other).err == (
        "mdmem: the hub does not know this token; the hub's owner makes a new one with `mdmem hub token NAME`\n"
    )


def test_a_role_is_granted_with_its_members_until_it_is_revoked(typed: Typed) -> None:
    assert typed("grant", "platform_team", "acme/shop/platform", "acme/new", "--push").code == 2
    typed("grant", "platform_team", "acme/shop/platform")
    said = typed("grants", "platform_team", "--format", "json").out
    sees = [{"repository": "acme/shop", "wing": "platform", "may_push": False}]
    assert json.loads(said)["grants"] == [{"name": "platform_team", "kind": "role", "sees": sees}]
    assert typed("grants", role="member").out == "you: reads acme/shop/platform\n"
    assert typed("revoke", "platform_team", "acme/shop/platform").out == "platform_team (role): nothing\n"
    assert (typed("grants", role="member").out, typed("grants").out) == ("you: nothing\n", "")


def test_who_sees_every_repository_sees_those_to_come(typed: Typed, other: str) -> None:
    assert typed("grant", "guest", "--all", "acme/shop", "--push").out == (
        "guest (role): pushes acme/shop; reads every repository\n"
    )
    with as_role(other) as guest, as_role(other, "postgres") as owner:
        assert numbers(guest, READ) == numbers(owner, READ)
        with owner.transaction(force_rollback=True):
            owner.execute("INSERT INTO repository (name) VALUES ('acme/new')")
            owner.execute("SET ROLE guest")
            assert only(owner, "SELECT reads_whole(repository_named('acme/new'))") == [True]
            assert only(owner, "SELECT pushable_repository()") == [1]
    assert typed("grants", role="guest").out == f"you: pushes acme/shop; reads acme/{SECRET}\n"
    assert typed("revoke", "guest", "--all").out == "guest (role): pushes acme/shop\n"


SLIPS = (
    (("grant", "guest"), 2, "name what is granted"),
    (("grant", "guest", "--all", "--push"), 2, "name what is granted"),
    (("grant", "gust", "acme/shop"), 1, "no token and no database role `gust`"),
    (("grant", "guest", "acme/shap"), 1, "the hub has no repository `acme/shap`"),
    (("grant", "guest", "acme/shop/pya"), 1, "no wing `pya` of acme/shop; it has "),
    (("grant", "guest", "acme/shop/pay", "--push"), 2, "grant `acme/shop --push`, without `/pay`"),
    (("grant", "guest", "a b", "--push"), 2, "is not a valid name for a repository"),
    (("revoke", "guest", "acme/shop"), 1, "`guest` has no permission in this hub"),
    (("token", "guest"), 2, "is a role of the database"),
    (("serch",), 2, "No such command 'serch'"),
    (("token", "A B"), 2, "is not a token name"),
    (("token", "nobody", "--drop"), 1, "there is no token `nobody`"),
    (("token", "nobody", "--drop", "--rotate"), 2, "give one of them"),
)


def test_a_slip_is_a_sentence(typed: Typed) -> None:
    assert typed("grant", "guest", "acme/soon", "--push").code == 0
    assert typed("grant", "guest", "acme/soon/pay").err.endswith("acme/soon; nothing of it was pushed yet\n")
    assert typed("revoke", "guest").code == 0
    for arguments, code, said in SLIPS:
        ran = typed(*arguments)
        assert (ran.code, ran.err.count("\n"), said in ran.err) == (code, 1, True), ran.err


def test_nobody_but_the_owner_grants(typed: Typed) -> None:
    token = typed("token", "robot").out.splitlines()[0]
    for arguments in (("grant", "guest", "acme/shop"), ("revoke", "robot"), ("token", "x"), ("grants", "robot")):
        ran = typed(*arguments, role="guest")
        assert (ran.code, ran.err) == (
            2,
            "mdmem: only the hub's owner role, or a member of it, says who sees what; connect with such a role\n",
        )
    assert "so the token has no effect: unset MDMEM_HUB_TOKEN" in typed("grants", token=token).err


# SQL states for missing permissions, and for missing and existing rows; the last two reveal only the caller's own rows.
DENIED, MISSING, TAKEN = "42501", "23503", "23505"
WRITES = (
    ("INSERT INTO wing (repository_id, name) VALUES (1, 'x')", DENIED),
    ("INSERT INTO wing (repository_id, name) VALUES (1, 'pay')", DENIED),
    ("INSERT INTO wing (id, repository_id, name) OVERRIDING SYSTEM VALUE VALUES (1, 2, 'x')", DENIED),
    ("INSERT INTO wing (name, source, source_path, commit, tree) VALUES ('x', 's', 'p', 'c', 't')", DENIED),
    ("UPDATE wing SET repository_id = 1", DENIED),
    ("INSERT INTO file (wing_id, path) VALUES (1, 'room/e1.md')", DENIED),
    ("INSERT INTO file (wing_id, path) VALUES (4, 'forged.md')", DENIED),
    ("INSERT INTO link VALUES (3, 1, 'see', 'pay/room/e1')", MISSING),
    ("INSERT INTO link VALUES (3, 99999, 'see', 'pay/room/e1')", MISSING),
    ("INSERT INTO push (repository_id, serial, commit) VALUES (1, 1, 'c1')", DENIED),
    ("INSERT INTO push (repository_id, serial, commit) VALUES (2, 1, 'c2')", TAKEN),
    ("INSERT INTO pin VALUES (2, 1, 'pay')", DENIED),
    ("INSERT INTO repository (name) VALUES ('acme/shop')", DENIED),
    ("INSERT INTO former_name VALUES ('acme/shop', 2)", DENIED),
    ("UPDATE repository SET name = 'acme/shop'", DENIED),
    ("INSERT INTO permission VALUES (2, 1, NULL, true)", DENIED),
    ("SELECT token_hash FROM principal", DENIED),
    ("SELECT settings FROM repository", DENIED),
    ("SELECT pinned_wing(1, 'x', 'host/platform', 'memory', 'c3', 'tree', '')", DENIED),
    ("SELECT nextval('file_id_seq')", DENIED),
    ("CREATE FUNCTION mdmem_hub.visible_wing(text) RETURNS integer LANGUAGE sql AS 'SELECT 1'", DENIED),
    ("SET ROLE postgres", DENIED),
    ("SET LOCAL row_security = off; SELECT FROM file", DENIED),
    ("TRUNCATE file", DENIED),
    ("DELETE FROM repository", DENIED),
    ("UPDATE file SET title = 'x'", DENIED),
    # Hidden rows are not changed, without an error.
    ("DELETE FROM file WHERE wing_id IN (1, 2, 4)", None),
    ("DELETE FROM wing WHERE id IN (1, 2, 4)", None),
    ("UPDATE repository SET commit = 'x' WHERE id = 1", None),
    ("SELECT unpin(1, ARRAY['platform'])", None),
)


def test_who_pushes_one_repository_writes_nothing_else(hub: str) -> None:
    rows = (
        "SELECT md5(string_agg(one::text, '' ORDER BY one::text)) FROM"
        " (SELECT row(r.*)::text FROM repository AS r UNION ALL SELECT row(w.*)::text FROM wing AS w"
        " UNION ALL SELECT row(f.*)::text FROM file AS f UNION ALL SELECT row(p.*)::text FROM pin AS p) AS one"
    )
    with as_role(hub, "postgres") as owner, as_role(hub, "member", token="ci-token") as pusher:
        before = only(owner, rows)
        for statement, expected in WRITES:
            state, said = refusal(pusher, statement)
            # A key that is there already is named to nobody.
            assert (state, "=(" in said) == (expected, False), statement
        assert only(owner, rows) == before


def refusal(connection: psycopg.Connection[Any], statement: str) -> tuple[str | None, str]:
    """Return what PostgreSQL says to a statement: its SQL state and words, None where it does it."""
    try:
        connection.execute(statement)
    except psycopg.Error as error:
        return error.sqlstate, str(error)
    return None, ""


def test_a_pinned_wing_is_seen_by_whoever_has_its_files_and_written_once(hub: str) -> None:
    named = "SELECT id, is_new FROM pinned_wing(2, 'platform', 'host/platform', 'memory', 'c3', %s, '')"
    with as_role(hub, "member", token="ci-token") as pusher, pusher.transaction(force_rollback=True):
        guessed = pusher.execute(named, ("guess",)).fetchone()
        assert guessed is not None
        assert guessed[1]
        pusher.execute("INSERT INTO file (wing_id, path, title) VALUES (%s, 'a.md', 'forged')", (guessed[0],))
        assert only(pusher, "SELECT title FROM file WHERE wing_id = %s", guessed[0]) == ["forged"]
        assert pusher.execute(named, ("tree",)).fetchone() == (4, False)
        assert only(pusher, "SELECT DISTINCT title FROM file WHERE wing_id = 4") == ["plain"]


def test_a_function_of_a_question_is_not_shown_what_is_hidden(guest: psycopg.Connection[Any]) -> None:
    told: set[str | None] = set()
    guest.add_notice_handler(lambda said: told.add(said.message_primary))
    guest.execute(
        "CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001"
        " AS $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$"
    )
    assert only(guest, "SELECT count(*) FROM file WHERE pg_temp.leak(title)") == [300]
    assert told == {"plain"}
    assert only(guest, "SELECT count(*) FROM file WHERE 1 / (wing_id - 2) < 9") == [300]


def test_tables_and_settings_of_the_caller_mislead_no_function(guest: psycopg.Connection[Any]) -> None:
    guest.execute("CREATE TEMP TABLE permission AS SELECT 1 AS principal_id, 2 AS repository_id, true AS may_push")
    guest.execute("CREATE TEMP TABLE wing AS SELECT 2 AS id, 1 AS repository_id, 'pay' AS name")
    guest.execute("CREATE FUNCTION pg_temp.is_owner() RETURNS boolean LANGUAGE sql AS 'SELECT true'")
    guest.execute("SET search_path = pg_temp, mdmem_hub, pg_catalog")
    assert only(guest, "SELECT mdmem_hub.visible_wing()") == [1]
    guest.execute("SELECT set_config('mdmem.token', 'x'' OR true --', false)")
    assert only(guest, "SELECT count(*) FROM mdmem_hub.file") == [300]


def test_a_token_is_shown_to_no_other_session(hub: str) -> None:
    with as_role(hub, token="ci-token") as guest, as_role(hub, "postgres") as owner:
        assert only(guest, "SELECT current_setting('mdmem.token')") == ["ci-token"]
        assert only(owner, "SELECT current_setting('mdmem.token', true)") == [None]
        shown = "SELECT count(*) FROM pg_stat_activity AS one WHERE strpos(one::text, %s) > 0"
        assert only(owner, shown, "ci-token") == [0]


def test_an_owner_in_another_role_sees_what_that_role_sees(hub: str) -> None:
    with as_role(hub, "postgres") as owner:
        owner.execute("SET ROLE guest")
        assert numbers(owner, READ) == [1, 1, 1, 1, 0, 300, 300]


def test_what_is_revoked_is_not_seen_from_the_next_question_on(typed: Typed, other: str) -> None:
    typed("grant", "guest", "acme/shop")
    with as_role(other) as guest:
        assert only(guest, "SELECT count(*) FROM file") == [900]
        assert only(guest, "SELECT settings_of(1)") == [f"[wings.{SECRET}]".encode()]
        typed("revoke", "guest")
        typed("grant", "guest", "acme/shop/pay")
        assert only(guest, "SELECT count(*) FROM file") == [300]
        assert only(guest, "SELECT settings_of(1)") == [b"narrow"]
        typed("revoke", "guest")
        assert numbers(guest, READ) == [0] * 7


def test_access_is_that_of_the_caller(hub: str) -> None:
    def seen(role: str, repository: str, token: str = "") -> frozenset[str] | None:
        with as_role(hub, role, token=token) as connection:
            return open_copy(connection, repository, environment={}, today=date.fromisoformat(TODAY)).access.readable

    hidden = f"acme/{SECRET}"
    assert (seen("guest", "acme/shop"), seen("postgres", hidden)) == ({"pay"}, None)
    assert seen("member", hidden, "ci-token") is None
    with pytest.raises(NotFoundError, match=f"no repository `{hidden}`"):
        seen("guest", hidden)


def test_every_table_has_policies_and_every_function_its_own_path(hub: str) -> None:
    here = "relnamespace = 'mdmem_hub'::regnamespace AND relkind = 'r'"
    with as_role(hub, "postgres") as owner:
        assert only(owner, f"SELECT relname FROM pg_class WHERE {here} AND NOT relrowsecurity") == ["migration"]
        # What EXPLAIN estimates would follow from a sample of every row.
        sampled = (
            f"SELECT relname FROM pg_class JOIN pg_statistic ON starelid = pg_class.oid WHERE {here} AND relrowsecurity"
            " AND has_any_column_privilege('guest', pg_class.oid, 'SELECT')"
        )
        assert only(owner, sampled) == []
        path = "search_path=pg_catalog, mdmem_hub, pg_temp"
        open_ones = "SELECT proname FROM pg_proc WHERE pronamespace = 'mdmem_hub'::regnamespace AND (NOT prosecdef"
        assert only(owner, f"{open_ones} OR coalesce(proconfig[1], '') <> %s)", path) == []


def test_a_search_uses_the_index_of_words(other: str) -> None:
    """Asked as a role that sees one wing, in a hub that counts as small and in one that counts as large."""
    with as_role(other, "postgres") as owner:
        owner.execute("DELETE FROM principal; INSERT INTO principal (role) VALUES ('guest')")
        owner.execute("INSERT INTO permission SELECT id, 1, 'pay', false FROM principal")
    for documents in (300, 1_000_000):
        with as_role(other, "postgres") as owner:
            owner.execute("UPDATE wing SET documents = %s", (documents,))
        with as_role(other) as guest, guest.transaction():
            assert only(guest, f"SELECT file_id FROM {search('absent')}") == []
            assert len(only(guest, f"SELECT file_id FROM {search('plain', most=200)}")) == 200
            found = f"SELECT count(*) FROM {search('both', wings='ARRAY[1, 2, 3]', most=900)}"
            assert only(guest, found) == [300]
            assert only(guest, f"SELECT count(*) FROM {search('both', wings='ARRAY[2]', most=900)}") == [0]
            words, table = scans(guest, "file_words")
            # The table itself is never gone through; large hubs count common words in the sample.
            assert (words > 0, table) == (True, 0)
            assert (scans(guest, "file_sample")[0] > 0) == (documents > 300)


def test_figures_of_a_search_follow_from_what_is_visible(hub: str, new_hub: Callable[[], str], roles: None) -> None:
    """The score of a word must not reveal how many hidden entries have it."""
    alone = filled(new_hub())
    with as_role(alone, "postgres") as owner:
        owner.execute("DELETE FROM repository WHERE id = 2; DELETE FROM wing WHERE id = 2")
    asked = f"SELECT row(score, ranked, is_all)::text FROM {search('both')}"
    with as_role(hub) as one, as_role(alone) as other:
        assert only(one, asked) == only(other, asked) != []


def scans(connection: psycopg.Connection[Any], index: str) -> list[int]:
    """Return how often an index was gone through in this transaction, and the table itself."""
    used = "SELECT pg_stat_get_xact_numscans(unnest(%s::regclass[]))"
    return only(connection, used, [f"mdmem_hub.{index}", "mdmem_hub.file"])
