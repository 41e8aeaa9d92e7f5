"""One question to many repositories: the same policy, each entry with its place, wings that several pin told once."""

import gc
import json
import re
import shutil
import weakref
from datetime import date
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from builders import TODAY, commit_all, head, make_repository, make_root, run_here, write, write_entry
from pushes import pushed, rows
from sync.pair import Two, two_repositories

from mdmem.ask.question import Question
from mdmem.ask.search import snippets
from mdmem.change.fetch_wings import fetch_wings
from mdmem.hub import across, union
from mdmem.hub.across import AcrossRequest, answer_each_across, search_across
from mdmem.hub.connection import connected, transaction
from mdmem.hub.permissions import grant
from mdmem.hub.reader import Reader
from mdmem.hub.repository_copy import shown_label


def shop(folder: Path) -> Path:
    """Return a memory whose addresses are those of another, too."""
    root = make_root(make_repository(folder) / "memory")
    write(root, "app/README.md", "---\nkind: project\nowners: [shop-team]\n---\n\n# app\n")
    ended = {"status": "deprecated", "deprecated_at": "2026-04-01"}
    new = "app/architecture/durable-queue"
    write_entry(root, "app/architecture/polling", "Orders are polled.\n", superseded_by=[new], reason="slow", **ended)
    write_entry(
        root,
        new,
        "Orders go through a durable queue.\n",
        title="A queue for orders",
        owner="shop-team",
        supersedes=["app/architecture/polling"],
        reason="polling was slow",
        tags=["orders"],
    )
    write_entry(root, "app/notes/amendment", "Orders of guests skip it.\n", amends=[new], created_at="2026-05-01")
    write_entry(root, "app/rules/personal", "Orders hold no personal data.\n", type="invariant")
    write_entry(root, "app/architecture/stream", "Orders may go through a stream.\n", status="draft")
    write(root, "app/rules/broken.md", "---\ntype: [\n---\n\norders\n")
    commit_all(folder)
    return root


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, module_dsn: str) -> dict[str, Any]:
    """Return a hub of four repositories, of which two pin a wing of a third, and where they are."""
    folder = tmp_path_factory.mktemp("hub")
    root = shop(folder / "shop")
    pushed(module_dsn, root, repository="acme/shop")
    mill = Path(shutil.copytree(folder / "shop", folder / "mill")) / "memory"
    write_entry(mill, "app/architecture/durable-queue", "Orders of the mill wait on paper.\n", owner="mill-team")
    commit_all(folder / "mill")
    pushed(module_dsn, mill, repository="acme/mill", is_new=True)
    two = two_repositories(folder)
    fetch_wings(two.opened(), commit=True)
    pushed(module_dsn, two.root, repository="acme/robot")
    other = Two(two.lib, Path(shutil.copytree(two.app, two.app.with_name("other"))))
    pushed(module_dsn, other.root, repository="acme/other", is_new=True)
    pin = two.opened().settings.wings["ros2"].commit
    return {"dsn": module_dsn, "folder": folder, "pin": pin, "shop": head(folder / "shop")}


@pytest.fixture
def asked(hub: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("MDMEM_HUB_DSN", hub["dsn"])

    def ask(*words: str, code: int = 0) -> Any:
        ran = run_here(capsys, "hub", *words, "--format", "json", cwd=hub["folder"])
        assert ran.code == code, ran.err
        return json.loads(ran.out) if ran.out else ran.err

    return ask


@pytest.mark.parametrize("repositories", [("acme/nope",), ("acme/shop", "acme/nope")])
@pytest.mark.parametrize("question", [("search", "orders"), ("who", "orders"), ("list",)])
def test_a_repository_that_is_not_there_is_not_found(
    asked: Any, question: tuple[str, ...], repositories: tuple[str, ...]
) -> None:
    named = [part for one in repositories for part in ("--repository", one)]
    assert "the hub has no repository `acme/nope`; `mdmem hub status`" in asked(*question, *named, code=1)


def test_a_place_narrows_the_list_of_all_and_of_one(asked: Any) -> None:
    def listed(*words: str) -> set[str]:
        return {f"{one['repository']}:{one['address']}" for one in asked("list", *words)["entries"]}

    both = {f"{name}:app/rules/personal" for name in ("acme/shop", "acme/mill")}
    assert both <= listed("app/rules") <= listed("app")
    assert both <= listed("rules")
    assert listed("app/rules", "--repository", "acme/shop") == {"acme/shop:app/rules/personal"}
    assert "is no wing and no room" in asked("list", "app/rules/personal", code=2)


def test_a_list_or_search_that_finds_nothing_says_so(
    hub: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MDMEM_HUB_DSN", hub["dsn"])
    one = ("--repository", "acme/shop")
    for words, said in (
        (("list", "nowhere"), "no entry that you may read passes these filters"),
        (("list", "--type", "pattern", *one), "no entry passes these filters"),
        (("search", "zzzq", *one), "nothing found: no entry holds zzzq"),
    ):
        ran = run_here(capsys, "hub", *words, cwd=hub["folder"])
        assert (ran.code, ran.err.splitlines()) == (1, [said])


def test_the_entries_of_an_answer_are_read_at_once(hub: dict[str, Any]) -> None:
    asked: list[str] = []

    class Counting(Reader):
        def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
            asked.append(statement)
            return super().rows(statement, *values)

    with connected(hub["dsn"]) as connection, transaction(connection, is_snapshot=True) as cursor:
        request = AcrossRequest(Question(words="orders polled"))
        answer = search_across(Counting(cursor), request, today=date.fromisoformat(TODAY))
        told = list(map(snippets(answer.workspace, answer.result), answer.result.hits))
    assert len(told) >= 4
    assert all(told)
    assert len([one for one in asked if one.startswith("SELECT id, content")]) == 1


def test_answers_to_many_questions_keep_nothing_of_what_was_read_for_them(
    hub: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Any] = []

    def union_of(*given: Any, **named: Any) -> Any:
        found = union.union_of(*given, **named)
        read.append(weakref.ref(found[0].tree))
        return found

    monkeypatch.setattr(across, "union_of", union_of)
    with connected(hub["dsn"]) as connection, transaction(connection, is_snapshot=True) as cursor:
        questions = [Question(words="orders"), Question(words="stream queue")]
        several = answer_each_across(Reader(cursor), None, questions, today=date.fromisoformat(TODAY))
    gc.collect()
    assert [one() for one in read] == [None, None]
    assert all(packed.item.reason for pack in several.answers.packs for packed in pack.items)


def test_hits_of_all_repositories_name_their_place(asked: Any, hub: dict[str, Any]) -> None:
    found = asked("search", "orders", "polled")
    first = found["hits"][0]
    # What was superseded yields its head, in its own repository alone.
    place = ("repository", "address", "commit", "path", "heads", "via")
    assert [first[name] for name in place[1:2]] == ["app/architecture/durable-queue"]
    via = {hit["repository"]: hit for hit in found["hits"] if hit["via"]}
    assert {name: via["acme/shop"][name] for name in place} == {
        "repository": "acme/shop",
        "address": "app/architecture/durable-queue",
        "commit": hub["shop"],
        "path": "memory/app/architecture/durable-queue.md",
        "heads": ["app/architecture/durable-queue"],
        "via": ["app/architecture/polling"],
    }
    assert via["acme/shop"]["amended_by"] == ["app/notes/amendment"]
    assert [(one["repository"], one["path"]) for one in found["problems"]] == [
        ("acme/mill", "memory/app/rules/broken.md"),
        ("acme/shop", "memory/app/rules/broken.md"),
    ]
    assert [one["repository"] for one in found["repositories"]] == ["acme/mill", "acme/shop"]
    assert found["at_least"] is False


def test_of_files_that_cannot_be_read_the_number_is_told(
    asked: Any, hub: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(across, "_BROKEN", 1)
    found = asked("search", "orders")
    assert (len(found["problems"]), found["unread_files"]) == (1, 2)
    for command in ("search", "retrieve"):
        said = run_here(capsys, "hub", command, "orders", cwd=hub["folder"]).err.splitlines()
        assert "in all 2 files cannot be read; `mdmem check` in each clone names its own" in said


def test_filters_and_repositories_narrow(asked: Any) -> None:
    def found(*words: str) -> list[tuple[str, str]]:
        return [(hit["repository"], hit["address"]) for hit in asked("search", "orders", *words)["hits"]]

    rule = "app/rules/personal"
    assert found("--type", "invariant") == [("acme/mill", rule), ("acme/shop", rule)]
    assert found("--owner", "mill-team") == [("acme/mill", "app/architecture/durable-queue")]
    two = ("--repository", "acme/shop", "--repository", "acme/robot")
    assert {name for name, _ in found("--tag", "orders", *two)} == {"acme/shop"}
    assert ("acme/shop", "app/architecture/stream") in found("--status", "draft")
    assert asked("search", "orders", "--wing", "nowhere", code=2) == (
        "mdmem: no repository that you may read has a wing nowhere\n"
    )


def test_a_word_that_nothing_holds_stands_for_what_begins_with_it(asked: Any) -> None:
    found = asked("search", "pap")
    assert (found["begun"], [hit["repository"] for hit in found["hits"]]) == (["pap"], ["acme/mill"])


def test_what_binds_is_told_by_repository_invariants_first(asked: Any) -> None:
    found = asked("retrieve", "orders", "durable", "queue")
    assert [(one["repository"], one["type"]) for one in found["items"][:2]] == [
        ("acme/mill", "invariant"),
        ("acme/shop", "invariant"),
    ]
    queue = next(one for one in found["items"] if one["repository"] == "acme/shop" and one["type"] == "decision")
    assert "Orders go through a durable queue." in queue["content"]
    assert found["tokens"] <= found["budget"]
    assert {one["repository"] for one in found["omitted"]} <= {"acme/mill", "acme/shop"}


@pytest.mark.parametrize("place", [(), ("--repository", "acme/shop")])
def test_several_questions_have_an_answer_each(
    asked: Any,
    hub: dict[str, Any],
    place: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("retrieve", *place, "--ask", "which queue for orders", "--ask", "personal data in orders")
    first, second = asked(*words)["answers"]
    assert [one["query"] for one in (first, second)] == list(words[-3::2])
    assert {one["repository"] for one in (*first["items"], *second["items"])} >= {"acme/shop"}
    queue = ("acme/shop", "app/architecture/durable-queue")
    assert queue in [(one["repository"], one["address"]) for one in first["items"]]
    text = run_here(capsys, "hub", *words, cwd=hub["folder"]).out
    assert re.search(r"(?sm)^1\. which queue for orders\n.*\n\n2\. personal data in orders\n", text), text
    assert "copy of " in text.splitlines()[-1]
    assert asked("retrieve", "polled", *words[1:])["answers"]
    query = ("retrieve", *place, "durable AND NOT polled", "--query-syntax")
    if place:
        assert asked(*query)["items"]
    else:
        assert "the query language is for one repository" in asked(*query, code=2)


def test_entries_tell_what_they_say_about_words(
    asked: Any, hub: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    both = ("acme/shop:app/architecture/durable-queue", "acme/mill:app/rules/personal")
    told = asked("show", *both, "--about", "queue", "--about", "personal data")["entries"]
    assert [(one["repository"], one["passages"].strip()) for one in told] == [
        ("acme/shop", "Orders go through a durable queue."),
        ("acme/mill", "Orders hold no personal data."),
    ]
    text = run_here(capsys, "hub", "show", both[1], "--about", "data", cwd=hub["folder"]).out
    assert "app/rules/personal: " in text
    assert "Orders hold no personal data." in text
    assert f"acme/mill at {head(hub['folder'] / 'mill')[:10]}: memory/app/rules/personal.md" in text
    assert "copy of acme/mill " in text.splitlines()[-1]
    wrong = ("show", both[0], *("--about", "a", "--about", "b"))
    assert "`about` came 2 times, the addresses are 1" in asked(*wrong, code=2)


def test_a_wing_that_several_pin_is_one(asked: Any, hub: dict[str, Any]) -> None:
    found = asked("search", "callbacks")
    (hit,) = [one for one in found["hits"] if one["address"] == "ros2/rules/callbacks"]
    assert hit["pins"] == [{"repository": name, "commit": hub["pin"]} for name in ("acme/other", "acme/robot")]
    assert (hit["commit"], hit["path"]) == (hub["pin"], "memory/ros2/rules/callbacks.md")


def test_a_list_of_all_says_where_it_ends(asked: Any) -> None:
    found = asked("list", "--type", "invariant", "--wing", "app")
    assert [(one["repository"], one["address"], one["path"]) for one in found["entries"]] == [
        (name, "app/rules/personal", "memory/app/rules/personal.md") for name in ("acme/mill", "acme/shop")
    ]
    assert asked("list", "-n", "1")["at_least"] is True


def test_a_list_that_is_cut_is_the_beginning_of_the_whole(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def listed(*words: str) -> list[tuple[str, str]]:
        return [(one["repository"], one["address"]) for one in asked("list", *words)["entries"]]

    whole = listed()
    assert whole == sorted(whole)
    for most in (union._SORTED, 1):
        monkeypatch.setattr(union, "_SORTED", most)
        assert [listed("-n", str(number)) for number in (1, 5)] == [whole[:1], whole[:5]]
        assert listed("-n", "50") == whole
    one = ("--repository", "acme/shop")
    assert listed("-n", "2", *one) == listed(*one)[:2]


def test_an_address_finds_its_repository_or_says_which_have_it(asked: Any) -> None:
    name = "app/architecture/durable-queue"
    assert asked("show", name, code=2) == (
        f"mdmem: `{name}` is in several repositories: acme/mill, acme/shop; write REPOSITORY:{name}\n"
    )
    (shown,) = asked("show", f"acme/mill:{name}")["entries"]
    assert (shown["repository"], shown["body"].strip()) == ("acme/mill", "Orders of the mill wait on paper.")
    both = asked("show", f"acme/shop:{name}", f"acme/mill:{name}", "ros2/rules/callbacks", f"acme/shop:{name}")
    held = ["acme/shop", "acme/mill", both["entries"][2]["repository"], "acme/shop"]
    assert [one["repository"] for one in both["entries"]] == held
    assert [one["repository"] for one in both["repositories"]] == ["acme/shop", "acme/mill", "acme/other"]
    assert "of several repositories" in asked("show", f"acme/shop:{name}", "--repository", "acme/mill", code=2)
    assert "; `mdmem hub list --repository acme/mill` names those in force" in asked("why", "acme/mill:zebra", code=1)
    mixed = asked("show", f"acme/shop:{name}", "ros2/rules/callbacks")["entries"]
    assert [one["repository"] for one in mixed] == held[0:3:2]
    chain = asked("why", f"acme/shop:{name}")["chain"]
    assert [(link["repository"], link["address"]) for link in chain] == [
        ("acme/shop", "app/architecture/polling"),
        ("acme/shop", name),
    ]
    assert "no repository that you may read has an entry `app/x/y`" in asked("show", "app/x/y", code=1)


def test_who_names_owners_and_dependents_in_all_repositories(asked: Any, hub: dict[str, Any]) -> None:
    (entry,) = asked("who", "acme/shop:app/architecture/durable-queue")["entries"]
    assert (entry["owner"], entry["wing_owners"]) == ("shop-team", ["shop-team"])
    assert [(one["address"], one["field"]) for one in entry["dependents"]] == [
        ("app/architecture/polling", "superseded_by"),
        ("app/notes/amendment", "amends"),
    ]
    (rule,) = asked("who", "ros2/rules/callbacks")["entries"]
    assert [one["repository"] for one in rule["pins"]] == ["acme/other", "acme/robot"]
    assert asked("who", "mill", "paper")["entries"][0]["owner"] == "mill-team"


def test_who_says_how_many_match_words(asked: Any, hub: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    found = asked("who", "orders")
    assert (len(found["entries"]), found["matches"], found["at_least"]) == (3, 10, False)
    ran = run_here(capsys, "hub", "who", "orders", cwd=hub["folder"])
    assert ran.err == "10 match: told of are the 3 that match best; an address, or `search`, leads to the others\n"
    assert asked("who", "pap")["begun"] == ["pap"]


def test_who_sees_one_repository_is_told_of_no_other(
    asked: Any, hub: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    role = f"r{uuid4().hex}"
    with connected(hub["dsn"]) as owner:
        owner.execute(f"CREATE ROLE {role} LOGIN")
        grant(owner, role, ["acme/mill"])
        monkeypatch.setenv("MDMEM_HUB_DSN", hub["dsn"].replace("user=postgres", f"user={role}"))
        for words in (("search", "orders", "callbacks"), ("retrieve", "orders"), ("list",), ("who", "orders")):
            assert "shop" not in json.dumps(asked(*words)).replace("shop-team", ""), words
        name = "acme/shop:app/architecture/durable-queue"
        hidden, absent = asked("show", name, code=1), asked("show", name.replace("shop", "none"), code=1)
        assert hidden.replace("shop", "none") == absent
        (entry,) = asked("who", "app/architecture/durable-queue")["entries"]
        assert (entry["repository"], entry["owner"]) == ("acme/mill", "mill-team")
        owner.execute(f"DROP ROLE {role}")


def test_each_repository_says_whether_one_end_of_a_supersession_suffices(dsn: str, tmp_path: Path) -> None:
    root = make_root(make_repository(tmp_path / "one") / "memory", '[lineage]\none_sided = "fact"\n')
    write_entry(root, "app/rules/old", "Orders are polled.\n")
    write_entry(root, "app/rules/new", "Orders come by a queue.\n", supersedes=["app/rules/old"])
    commit_all(root)
    pushed(dsn, root)
    pushed(dsn, root, repository="two", is_new=True)
    rows(dsn, "UPDATE repository SET settings = '' WHERE name = 'two' RETURNING 1")
    with connected(dsn) as connection, transaction(connection, is_snapshot=True) as cursor:
        request = AcrossRequest(Question(words="orders"))
        found = search_across(Reader(cursor), request, today=date.fromisoformat(TODAY)).result
    hits = {shown_label(hit.entry.address): list(map(shown_label, hit.heads)) for hit in found.hits}
    assert hits == {
        "one:app/rules/new": ["one:app/rules/new"],
        "two:app/rules/new": ["two:app/rules/new"],
        "two:app/rules/old": ["two:app/rules/old"],
    }
