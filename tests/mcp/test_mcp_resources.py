"""The resources as a real client reads them: what each holds, how long it is, and what is said where there is none."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from builders import commit_all, memory, open_root, write, write_entry
from clients import ERAS, server_over, with_client
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference
from served import two_wings

from mdmem.guide import page, topics
from mdmem.mcp.calls import Calls, Limits
from mdmem.mcp.workspaces import Provider
from mdmem.model.access import Access

GUIDE = [f"mdmem://guide/{topic}" for topic in topics()]
_ENTRY = "mdmem://entry/{wing}/{room}/{entry_id}"
TEMPLATES = [
    _ENTRY,
    "mdmem://lineage/{wing}/{room}/{entry_id}",
    "mdmem://wing/{wing}",
    "mdmem://room/{wing}/{room}",
    "mdmem://invariants/{wing}",
    "mdmem://guide/{topic}",
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return memory(tmp_path / "repo") / "memory"


def read(server: Any, uri: str, *, mode: str = "auto") -> Any:
    """Return the one content of a resource."""

    async def work(client: Client) -> Any:
        return await client.read_resource(uri)

    (content,) = with_client(server, work, mode=mode).contents
    return content


def text(root: Path, uri: str) -> str:
    found: str = read(server_over(root), uri).text
    return found


def refusal(server: Any, uri: str) -> tuple[int, str]:
    """Return code and sentence of the error that reading a resource gives."""

    async def work(client: Client) -> tuple[int, str]:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri)
        return refused.value.code, refused.value.error.message

    answer: tuple[int, str] = with_client(server, work)
    return answer


def completed(server: Any, uri: str, name: str, typed: str, **known: str) -> Any:
    """Return what completes an argument of a template."""

    async def work(client: Client) -> Any:
        reference = ResourceTemplateReference(uri=uri)
        return await client.complete(reference, {"name": name, "value": typed}, known or None)

    return with_client(server, work).completion


@pytest.mark.parametrize("mode", ERAS)
def test_resources_and_templates_are_listed(root: Path, mode: str) -> None:
    async def work(client: Client) -> tuple[list[str], list[str]]:
        assert client.server_capabilities.completions is not None
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        assert all(one.description and one.mime_type and one.title for one in (*listed, *templates))
        return [one.uri for one in listed], [one.uri_template for one in templates]

    listed, templates = with_client(server_over(root), work, mode=mode)
    fixed = ["mdmem://invariants", "mdmem://guide", "mdmem://schema", *GUIDE]
    assert listed == [*fixed, "mdmem://wing/nav", "mdmem://room/nav/architecture", "mdmem://room/nav/rules"]
    assert templates == TEMPLATES


def test_page_of_the_guide_is_read_and_the_nearest_is_named(root: Path) -> None:
    assert text(root, "mdmem://guide/asking") == page("asking")
    said = refusal(server_over(root), "mdmem://guide/setings")[1]
    assert said.endswith("the guide has no page `setings`; did you mean `settings`?")


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


def test_entry_is_found_by_an_escaped_name(root: Path) -> None:
    write_entry(root, "nav/rules/größe", "Groß.\n")
    assert "`nav/rules/größe`" in text(root, "mdmem://entry/nav/rules/gr%C3%B6%C3%9Fe")


def test_wing_lists_its_current_entries_room_by_room(root: Path) -> None:
    write_entry(root, "nav/rules/draft", status="draft", title="Not yet")
    write_entry(root, "nav/rules/doubt", type="pattern", status="under_review", title="A `b` ``c``\u202e")
    commit_all(root.parent)
    said = text(root, "mdmem://wing/nav")
    assert "3 current; not listed: 1 draft and 0 deprecated or superseded.\n" in said
    assert "- invariant `nav/rules/callbacks`: `Callbacks do not block`\n- pattern (under review)" in said
    assert "```A `b` ``c``<U+202E>```" in said
    assert "Not yet" not in said


def test_text_has_nothing_that_acts_on_a_terminal(root: Path) -> None:
    write_entry(root, "nav/rules/evil", "One \x1b]0;owned\x07 \u202e\n")
    assert "One <U+001B>]0;owned<U+0007> <U+202E>" in text(root, "mdmem://entry/nav/rules/evil")


def test_title_is_no_markup(root: Path) -> None:
    write_entry(root, "nav/rules/odd", title="'![x](http://example.org) <script>'")
    assert ": `![x](http://example.org) <script>`\n" in text(root, "mdmem://room/nav/rules")


def test_files_that_cannot_be_read_come_first(root: Path) -> None:
    write(root, "nav/rules/broken.md", "---\ntype: invariant\n")
    for uri in ("mdmem://wing/nav", "mdmem://room/nav/rules", "mdmem://invariants"):
        assert "nav/rules/broken.md" in text(root, uri)[:300]


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
    code, said = refusal(server_over(root), "mdmem://invariants")
    assert (code, "`arm`, `nav`" in said) == (-32602, True)
    assert "callbacks" in text(root, "mdmem://invariants/nav")


@pytest.mark.parametrize("uri", ["mdmem://wing/nav", "mdmem://invariants", "mdmem://entry/nav/rules/long"])
def test_long_text_is_cut_and_says_so(uri: str, root: Path) -> None:
    for number in range(300):
        write_entry(root, f"nav/rules/rule-{number:03}-{'z' * 60}", "x" * 300, type="invariant", title="y" * 250)
    write_entry(root, "nav/rules/long", "word " * 20_000)
    commit_all(root.parent)
    said = text(root, uri)
    assert len(said) <= 40_000
    assert said.endswith("\n(cut: this is all that a client takes; `get_entry` and `retrieve` give the rest)\n")


def test_lineage_is_a_flowchart(root: Path) -> None:
    write_entry(root, "nav/architecture/threads", title="Use two threads", superseded_by=["nav/architecture/one"])
    write_entry(root, "nav/architecture/one", title="'Use \"one\" #1'", supersedes=["nav/architecture/threads"])
    write_entry(root, "nav/architecture/none", status="draft", title="None", supersedes=["nav/architecture/one"])
    commit_all(root.parent)
    content = read(server_over(root), "mdmem://lineage/nav/architecture/threads")
    assert content.mime_type == "text/vnd.mermaid"
    assert content.text.splitlines()[:6] == [
        "flowchart TD",
        '    n0["Use two threads<br/>nav/architecture/threads<br/>decision, active, 2026-03-05 – ?"]:::ended',
        '    n1["Use #34;one#34; #35;1<br/>nav/architecture/one<br/>decision, active, 2026-03-05"]:::current',
        '    n2["None<br/>nav/architecture/none<br/>decision, draft, 2026-03-05"]:::draft',
        '    n1 -.->|"may be superseded by"| n2',
        '    n0 -->|"superseded by"| n1',
    ]


def test_guide_names_every_kind_of_resource_and_is_read_without_a_memory(tmp_path: Path) -> None:
    nowhere = Provider(None, environment={}, cwd=tmp_path, today=lambda: None)  # type: ignore[arg-type,return-value]
    said = read(server_over(nowhere), "mdmem://guide").text
    assert [one for one in TEMPLATES if f"`{one}`" not in said] == ["mdmem://invariants/{wing}"]


def test_without_a_memory_the_fixed_ones_are_listed_and_the_others_say_why(tmp_path: Path) -> None:
    nowhere = Provider(None, environment={}, cwd=tmp_path, today=lambda: None)  # type: ignore[arg-type,return-value]

    async def work(client: Client) -> list[str]:
        return [one.uri for one in (await client.list_resources()).resources]

    assert with_client(server_over(nowhere), work) == ["mdmem://invariants", "mdmem://guide", "mdmem://schema", *GUIDE]
    code, said = refusal(server_over(nowhere), "mdmem://invariants")
    assert (code, said.startswith("no memory here: ")) == (-32603, True)


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("mdmem://entry/nav/architecture/thread", "did you mean nav/architecture/threads?"),
        ("mdmem://lineage/nav/rules/callback", "did you mean nav/rules/callbacks?"),
        ("mdmem://wing/nva", 'there is no wing "nva"; did you mean `nav`?'),
        ("mdmem://room/nav/rule", 'there is no room "rule" in `nav`; did you mean `rules`?'),
        ("mdmem://room/nav", "Unknown resource: mdmem://room/nav"),
        ("mdmem://entry/..%2F..%2Fetc/x/passwd", "Unknown resource"),
        ("mdmem://entry/%2Fetc/x/passwd", "Unknown resource"),
        ("file:///etc/passwd", "Unknown resource: file:///etc/passwd"),
    ],
)
def test_what_is_not_there_is_no_resource_and_the_nearest_is_named(uri: str, said: str, root: Path) -> None:
    code, message = refusal(server_over(root), uri)
    assert (code, said in message, "/etc/passwd.md" in message) == (-32602, True, False)


def test_completion_knows_wings_rooms_and_entries(root: Path) -> None:
    write_entry(root, "arm/rules/clamp")
    server = server_over(root)
    assert completed(server, "mdmem://wing/{wing}", "wing", "").values == ["arm", "nav"]
    assert completed(server, _ENTRY, "room", "", wing="nav").values == ["architecture", "rules"]
    assert completed(server, _ENTRY, "entry_id", "C", wing="nav", room="rules").values == ["callbacks"]
    assert completed(server, _ENTRY, "entry_id", "l", room="rules").values == ["callbacks", "clamp"]
    assert completed(server, _ENTRY, "entry_id", "am", wing="nav").values == []


def test_completion_gives_a_hundred_and_says_how_many_there_are(root: Path) -> None:
    for number in range(120):
        write_entry(root, f"nav/rules/rule-{number:03}")
    found = completed(server_over(root), _ENTRY, "entry_id", "rule")
    assert (len(found.values), found.total, found.has_more) == (100, 120, True)


def _answers(root: Path) -> dict[str, str]:
    """Return everything that is offered, as who sees one wing gets it."""
    uris = ["mdmem://invariants", *(f"mdmem://invariants/{wing}" for wing in ("app", "vault"))]
    uris += [f"mdmem://wing/{wing}" for wing in ("app", "vault", "vaul")]
    uris += [f"mdmem://room/{wing}/rules" for wing in ("app", "vault")]
    uris += [f"mdmem://{kind}/app/rules/{one}" for kind in ("entry", "lineage") for one in ("granite", "marble")]
    uris += [f"mdmem://{kind}/vault/rules/onyx" for kind in ("entry", "lineage")]
    prompts = [
        ("onboard", {}),
        ("record_decision", {"decision": "granite onyx"}),
        ("supersede", {"address": "granite"}),
    ]
    prompts += [("supersede", {"address": "vault/rules/onyx"}), ("onboard", {"wing": "vault"})]

    async def work(client: Client) -> dict[str, str]:
        found = {"list": (await client.list_resources()).model_dump_json()}
        for uri in uris:
            found[uri] = await _answer(client.read_resource(uri))
        for name, arguments in prompts:
            found[f"{name} {arguments}"] = await _answer(client.get_prompt(name, arguments))
        for name in ("wing", "room", "entry_id"):
            reference = ResourceTemplateReference(uri=_ENTRY)
            found[name] = await _answer(client.complete(reference, {"name": name, "value": ""}, {"wing": "vault"}))
        address = client.complete(PromptReference(name="supersede"), {"name": "address", "value": ""})
        return found | {"address": await _answer(address)}

    access = Access.to_wings(["app"])
    return dict(with_client(server_over(open_root(root), access=access), work))


async def _answer(asked: Any) -> str:
    try:
        answer: str = (await asked).model_dump_json()
    except MCPError as error:
        return f"{error.code} {error.error.message}"
    return answer


def test_who_sees_one_wing_is_answered_the_same_whether_the_other_is_there_or_not(tmp_path: Path) -> None:
    root = two_wings(tmp_path)
    write(root, "mdmem.toml", 'default_wing = "vault"\n')
    write_entry(root, "app/rules/slate", status="deprecated", superseded_by=["vault/rules/onyx"], title="Slate")
    write_entry(root, "app/rules/marble", supersedes=["vault/rules/onyx"], conflicts_with=["vault/rules/onyx"])
    commit_all(root.parent)
    with_other = _answers(root)
    shutil.rmtree(root / "vault")
    assert _answers(root) == with_other
    assert "granite" in with_other["mdmem://wing/app"]
    assert with_other["mdmem://wing/vault"].startswith('-32602 there is no wing "vault"; ')


def test_memory_that_takes_too_long_is_an_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()
    monkeypatch.setattr(Calls, "limits", lambda _: Limits(0.01))
    monkeypatch.setattr("mdmem.mcp.resources.list_rooms", lambda *_: answered.wait(10))
    code, said = refusal(server_over(root), "mdmem://room/nav/rules")
    answered.set()
    assert (code, said) == (-32603, "no answer within 0.01 s; ask again")


def test_each_read_sees_the_files_as_they_are(root: Path) -> None:
    async def work(client: Client) -> tuple[str, str]:
        before = await client.read_resource("mdmem://room/nav/rules")
        write_entry(root, "nav/rules/new", title="New")
        after = await client.read_resource("mdmem://room/nav/rules")
        return before.contents[0].text, after.contents[0].text

    before, after = with_client(server_over(root), work, cache=None)
    assert ("`New`" in before, "`New`" in after) == (False, True)
