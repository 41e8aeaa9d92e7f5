"""The resources as a real client reads them; and who sees one wing is answered the same without the other."""

import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from builders import commit_all, open_root, write, write_entry
from clients import ERAS, OpenedProvider, refusal, server_over, with_client
from mcp import Client
from mcp.shared.exceptions import MCPError
from served import two_wings

from mdmem.guide import page, topics
from mdmem.mcp.tools import TOOLS
from mdmem.mcp.workspaces import Provider
from mdmem.model.access import Access
from mdmem.store.settings import Settings

FIXED = ["mdmem://invariants", *(f"mdmem://guide/{topic}" for topic in topics())]
_ENTRY = "mdmem://entry/{wing}/{room}/{entry_id}"
TEMPLATES = [_ENTRY, "mdmem://wing/{wing}"]


def read(server: Any, uri: str, *, mode: str = "auto") -> Any:
    """Return the one content of a resource."""
    (content,) = with_client(server, lambda client: client.read_resource(uri), mode=mode).contents
    return content


def text(root: Path, uri: str) -> str:
    found: str = read(server_over(root), uri).text
    return found


def refused(server: Any, uri: str) -> tuple[int, str]:
    return refusal(server, lambda client: client.read_resource(uri))


@pytest.mark.parametrize("mode", ERAS)
def test_resources_and_templates_are_listed(root: Path, mode: str) -> None:
    async def work(client: Client) -> tuple[list[str], list[str]]:
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        assert all(one.description and one.mime_type and one.title for one in (*listed, *templates))
        return [one.uri for one in listed], [one.uri_template for one in templates]

    listed, templates = with_client(server_over(root), work, mode=mode)
    assert (listed, templates) == (FIXED, TEMPLATES)


def test_entry_is_quoted_below_its_state(root: Path) -> None:
    assert text(root, "mdmem://entry/nav/architecture/threads") == (
        "### decision: Use two threads\n\n`nav/architecture/threads` (current)\ncreated_at: 2026-03-05\n\n"
        "> Navigation uses two threads.\n>\n> Rationale: it was measured."
    )
    write_entry(root, "nav/architecture/threads", title="Use two threads", superseded_by=["nav/architecture/one"])
    write_entry(root, "nav/architecture/one", supersedes=["nav/architecture/threads"], reason="measured")
    commit_all(root.parent)
    said = text(root, "mdmem://entry/nav/architecture/threads")
    assert "`nav/architecture/threads` (replaced by nav/architecture/one)\n" in said


def test_wing_lists_its_current_entries(root: Path) -> None:
    write_entry(root, "nav/rules/draft", status="draft", title="Not yet")
    write_entry(root, "nav/rules/doubt", type="pattern", status="under_review", title="A `b` ``c``\u202e")
    commit_all(root.parent)
    content = read(server_over(root), "mdmem://wing/nav")
    # Titles are no markup.
    assert content.mime_type == "text/plain"
    assert content.text.splitlines()[3:] == [
        "invariant  active        nav/rules/callbacks       Callbacks do not block",
        "pattern    under review  nav/rules/doubt           A `b` ``c``<U+202E>",
    ]


def test_entry_has_an_escaped_name_and_nothing_that_acts_on_a_terminal(root: Path) -> None:
    write_entry(root, "nav/rules/größe", "One \x1b]0;owned\x07 \u202e\n")
    said = text(root, "mdmem://entry/nav/rules/gr%C3%B6%C3%9Fe")
    assert ("`nav/rules/größe`" in said, "One <U+001B>]0;owned<U+0007> <U+202E>" in said) == (True, True)


def test_files_that_cannot_be_read_come_first_and_those_that_are_not_listed_are_counted(root: Path) -> None:
    for number in range(23):
        write(root, f"nav/rules/broken-{number:02}.md", "---\ntype: invariant\n")
    for uri in ("mdmem://wing/nav", "mdmem://invariants"):
        assert "nav/rules/broken-00.md" in text(root, uri)[:300]
    said = text(root, "mdmem://wing/nav")
    assert said.count("nav/rules/broken-") == 20
    assert "\nand 3 more\n" in said


def test_invariants_have_their_text_and_where_they_apply(root: Path) -> None:
    write_entry(root, "nav/rules/src", "X must hold.\n", type="invariant", title="X", applies_to=["src/**"])
    write_entry(root, "nav/rules/new", "Y must hold.\n", type="invariant", title="Y")
    said = text(root, "mdmem://invariants")
    assert said.startswith("# Invariants of the wing `nav`\n\n")
    assert all(f"\n> {rule}" in said for rule in ("A callback must not block", "X must hold.", "Y must hold."))
    assert "src/**" in said
    assert "uncommitted" in said
    assert "two threads" not in said


def test_invariants_without_an_active_wing_name_the_wings(root: Path) -> None:
    write(root, "arm/README.md", "---\nkind: project\n---\n")
    code, said = refused(server_over(root), "mdmem://invariants")
    assert (code, "`arm`, `nav`" in said) == (-32602, True)


@pytest.mark.parametrize("uri", ["mdmem://wing/nav", "mdmem://invariants", "mdmem://entry/nav/rules/long"])
def test_long_text_is_cut_and_says_so(uri: str, root: Path) -> None:
    for number in range(300):
        write_entry(root, f"nav/rules/rule-{number:03}-{'z' * 60}", "x" * 300, type="invariant", title="y" * 250)
    write_entry(root, "nav/rules/long", "word " * 20_000)
    commit_all(root.parent)
    said = text(root, uri)
    assert len(said) <= 40_000
    assert said.endswith("\n(cut at the most that a client accepts; `get_entry` and `retrieve` give the rest)\n")


def test_without_a_memory_the_fixed_ones_are_read_and_the_others_say_why(nowhere: Provider) -> None:
    assert read(server_over(nowhere), "mdmem://guide/asking").text == page("asking")
    listed = with_client(server_over(nowhere), lambda client: client.list_resources())
    assert [one.uri for one in listed.resources] == FIXED
    code, said = refused(server_over(nowhere), "mdmem://invariants")
    assert (code, said.startswith("no memory here: ")) == (-32603, True)


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("mdmem://entry/nav/architecture/thread", "did you mean nav/architecture/threads?"),
        ("mdmem://wing/nva", "there is no wing `nva`; did you mean `nav`?"),
        ("mdmem://guide/setings", "Unknown resource: mdmem://guide/setings"),
        ("mdmem://entry/..%2F..%2Fetc/x/passwd", "Unknown resource"),
        ("mdmem://entry/%2Fetc/x/passwd", "Unknown resource"),
        ("file:///etc/passwd", "Unknown resource: file:///etc/passwd"),
    ],
)
def test_what_is_not_there_is_no_resource_and_the_nearest_is_named(uri: str, said: str, root: Path) -> None:
    code, message = refused(server_over(root), uri)
    assert (code, said in message, "/etc/passwd.md" in message) == (-32602, True, False)


def test_memory_that_takes_too_long_is_an_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()
    monkeypatch.setattr(OpenedProvider, "settings", lambda _: Settings(timeout_seconds=0.01))
    monkeypatch.setattr("mdmem.mcp.server.list_text", lambda *_: answered.wait(10))
    code, said = refused(server_over(root), "mdmem://wing/nav")
    answered.set()
    assert (code, said) == (-32603, "there was no answer within 0.01 s; ask again")


def test_prompt_is_refused_in_a_sentence(root: Path) -> None:
    code, said = refusal(server_over(root), lambda client: client.get_prompt("onboard"))
    assert (code, said) == (-32602, 'there is no prompt "onboard"; the server has tools and resources')


APP = Access.to_wings(["app"])
_VALUES: dict[str, list[Any]] = {
    "project_id": ["app", "vault", "nowhere"],
    "project": ["app", "vault", "nowhere"],
    "wing": ["app", "vault", "nowhere"],
    "goal": ["granite onyx"],
    "query": ["granite onyx"],
    "address": ["app/rules/granite", "vault/rules/onyx", "onyx"],
    "base": ["HEAD"],
}


def _calls() -> list[tuple[str, dict[str, Any]]]:
    """Return calls of every tool that reads: what is needed, and one argument more at a time."""
    calls = []
    for name, tool in TOOLS.items():
        if tool.writes:
            continue
        schema = tool.input_schema
        needed = {one: _VALUES[one][0] for one in schema.get("required", ())}
        calls.append((name, needed))
        for one in schema["properties"]:
            calls += [(name, {**needed, one: value}) for value in _VALUES.get(one, ())]
    return calls


_ENTRIES = ("app/rules/granite", "app/rules/marble", "vault/rules/onyx")
_RESOURCES = (
    *("mdmem://invariants", "mdmem://wing/app", "mdmem://wing/vault", "mdmem://wing/vaul"),
    *(f"mdmem://entry/{one}" for one in _ENTRIES),
)


def _answers(root: Path) -> dict[str, str]:
    async def work(client: Client) -> dict[str, str]:
        found = {"list": (await client.list_resources()).model_dump_json()}
        for name, arguments in _calls():
            answer = await client.call_tool(name, arguments)
            found[f"{name} {arguments}"] = answer.model_dump_json()
        for uri in _RESOURCES:
            try:
                found[uri] = (await client.read_resource(uri)).model_dump_json()
            except MCPError as error:
                found[uri] = f"{error.code} {error.error.message}"
        return found

    return dict(with_client(server_over(open_root(root), access=APP), work))


def test_answers_are_the_same_whether_a_wing_is_there_or_not(tmp_path: Path) -> None:
    root = two_wings(tmp_path)
    write(root, "mdmem.toml", 'default_wing = "vault"\n')
    write_entry(root, "app/rules/slate", status="deprecated", superseded_by=["vault/rules/onyx"], title="Slate")
    write_entry(root, "app/rules/marble", supersedes=["vault/rules/onyx"], conflicts_with=["vault/rules/onyx"])
    entity = {"type": "note", "label": "entity", "relations": "[{type: READS, to: vault/rules/onyx}]"}
    write_entry(root, "app/entities/chalk", "Chalk.\n", **entity)
    with_it = _answers(root)
    assert [call for call, said in with_it.items() if "vault" in said and "vault" not in call] == []
    assert "granite" in with_it["mdmem://wing/app"]
    assert with_it["mdmem://wing/vault"].startswith("-32602 there is no wing `vault`; ")
    shutil.rmtree(root / "vault")
    # When hygiene ran is kept there, and told.
    shutil.rmtree(tmp_path / ".git/mdmem")
    without_it = _answers(root)
    assert {call: said for call, said in with_it.items() if without_it[call] != said} == {}


@pytest.mark.parametrize("path", ["memory/vault/rules", "memory/vault/rules/"])
def test_path_is_taken_as_typed_so_that_no_folder_of_another_wing_shows(path: str, tmp_path: Path) -> None:
    root = two_wings(tmp_path)
    write_entry(root, "app/rules/basalt", "As in memory/vault/rules.\n\nRationale: it lasts.\n", title="Basalt")

    async def work(client: Client) -> str:
        answer = await client.call_tool("retrieve", {"paths": [path], "format": "json"})
        return answer.model_dump_json()

    answers = []
    for _ in range(2):
        answers.append(with_client(server_over(open_root(root), access=APP), work))
        shutil.rmtree(root / "vault", ignore_errors=True)
    assert f"mentions {path}" in answers[0]
    assert answers[0] == answers[1]
