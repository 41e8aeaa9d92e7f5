"""Test `mdmem hub search`, `hub who` for owners, and `--repository` for questions to one repository."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from builders import Capture, Ran, commit_all, git, head, make_repository, make_root, run_here, write, write_entry
from change.pair import Two, two_repositories
from pushes import pushed

from mdmem.change.sync import fetch_wings
from mdmem.hub.connection import connected
from mdmem.hub.repositories import grant

Asked = Callable[..., Any]
QUEUE = "app/architecture/durable-queue"


def shop(folder: Path) -> Path:
    root = make_root(make_repository(folder) / "memory")
    write(root, "app/README.md", "---\nkind: project\nowners: [shop-team]\n---\n\n# app\n")
    ended = {"status": "deprecated", "deprecated_at": "2026-04-01"}
    write_entry(root, "app/architecture/polling", "Orders are polled.\n", superseded_by=[QUEUE], reason="slow", **ended)
    write_entry(
        root,
        QUEUE,
        "Orders go through a durable queue.\n",
        title="A queue for orders",
        owner="shop-team",
        supersedes=["app/architecture/polling"],
        reason="polling was slow",
        tags=["orders"],
    )
    write_entry(root, "app/notes/amendment", "Orders of guests skip it.\n", amends=[QUEUE], created_at="2026-05-01")
    write_entry(root, "app/rules/personal", "Orders hold no personal data.\n", type="invariant")
    write_entry(root, "app/architecture/stream", "Orders may go through a stream.\n", status="draft")
    commit_all(folder)
    return root


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, module_dsn: str) -> dict[str, Any]:
    """Return a hub of four repositories, of which two pin a wing of a fifth, and where they are."""
    folder = tmp_path_factory.mktemp("hub")
    pushed(module_dsn, shop(folder / "shop"), repository="acme/shop")
    mill = Path(shutil.copytree(folder / "shop", folder / "mill")) / "memory"
    write_entry(mill, QUEUE, "Orders of the mill wait on paper.\n", owner="mill-team")
    commit_all(folder / "mill")
    pushed(module_dsn, mill, repository="acme/mill")
    two = two_repositories(folder)
    fetch_wings(two.opened(), commit=True)
    pushed(module_dsn, two.root, repository="acme/robot")
    other = Two(two.lib, Path(shutil.copytree(two.app, two.app.with_name("other"))))
    pushed(module_dsn, other.root, repository="acme/other")
    return {"dsn": module_dsn, "folder": folder, "pin": two.opened().settings.wings["ros2"].commit}


@pytest.fixture
def typed(hub: dict[str, Any], capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    monkeypatch.setenv("MDMEM_HUB_DSN", hub["dsn"])
    monkeypatch.setenv("XDG_CACHE_HOME", str(hub["folder"] / "cache"))
    return lambda *words: run_here(capsys, *words, cwd=hub["folder"])


@pytest.fixture
def asked(typed: Callable[..., Ran]) -> Asked:
    def ask(*words: str, code: int = 0) -> Any:
        ran = typed("hub", *words, "--format", "json")
        assert ran.code == code, ran.err
        return json.loads(ran.out)

    return ask


def addresses(found: dict[str, Any]) -> list[str]:
    return [f"{hit['repository']}:{hit['address']}" for hit in found["hits"]]


def test_hits_say_where_they_are(asked: Asked, typed: Callable[..., Ran], hub: dict[str, Any]) -> None:
    found = asked("search", "queue", "for", "orders")
    first = found["hits"][0]
    assert first | {"score": 0, "snippet": ""} == {
        "address": QUEUE,
        "repository": "acme/shop",
        "commit": head(hub["folder"] / "shop"),
        "path": f"memory/{QUEUE}.md",
        "type": "decision",
        "status": "active",
        "title": "A queue for orders",
        "wing": "app",
        "room": "architecture",
        "score": 0,
        "snippet": "",
    }
    assert first["snippet"] == "Orders go through a durable queue."
    assert [one["repository"] for one in found["repositories"]] == ["acme/mill", "acme/shop"]
    assert found["total"] == found["matches"] == len(found["hits"])
    few = typed("hub", "search", "orders", "--limit", "2")
    assert (few.out.count("\n["), few.err) == (1, "6 match; a higher limit shows more\n")
    said = typed("hub", "search", "queue", "for", "orders").out
    assert said.startswith(
        f"[decision] acme/shop:{QUEUE}\n  A queue for orders\n  Orders go through a durable queue.\n"
    )
    assert "\n\ncopy of acme/mill " in said


def test_filters_and_repositories_narrow(asked: Asked) -> None:
    def found(*more: str, words: str = "orders") -> set[str]:
        return set(addresses(asked("search", words, *more)))

    assert found("--type", "invariant") == {"acme/shop:app/rules/personal", "acme/mill:app/rules/personal"}
    assert found("--owner", "mill-team") == {f"acme/mill:{QUEUE}"}
    assert found("--tag", "orders") == {f"acme/shop:{QUEUE}"}
    assert found("--room", "notes", "--repository", "acme/mill") == {"acme/mill:app/notes/amendment"}
    assert f"acme/shop:{'app/architecture/stream'}" not in found()
    assert found("--status", "draft", "--repository", "acme/shop") == {"acme/shop:app/architecture/stream"}
    assert "acme/shop:app/architecture/polling" in found("--include-deprecated", "--limit", "20")
    # A pinned wing is found in each repository that pins it.
    for name in ("acme/robot", "acme/other"):
        assert len(found("--repository", name, "--wing", "ros2", words="callbacks")) == 1


def test_a_word_without_a_match_stands_for_what_begins_with_it(asked: Asked, typed: Callable[..., Ran]) -> None:
    found = asked("search", "durab")
    assert (addresses(found), found["begun"]) == ([f"acme/mill:{QUEUE}", f"acme/shop:{QUEUE}"], ["durab"])
    assert "no entry has durab; these entries have words that begin with it" in typed("hub", "search", "durab").err


def test_nothing_found_and_what_is_not_there_are_sentences(typed: Callable[..., Ran]) -> None:
    for words, code, said in (
        (("search", "xylophone"), 1, "nothing found in the repositories that you may read"),
        (("search", "the"), 1, "nothing found"),
        (("search", "orders", "--repository", "acme/nope"), 1, "no repository `acme/nope`; `mdmem hub status` lists"),
        (("search", "orders", "--wing", "nope"), 2, "has a wing nope"),
        (("who", "xylophone"), 1, "no entry that you may read is at `xylophone`"),
        (("retrieve", "orders"), 2, "Option '--repository' requires an argument"),
    ):
        ran = typed("hub", *words)
        assert (ran.code, said in ran.err) == (code, True), ran.err


def test_a_wing_that_several_pin_is_found_once(asked: Asked, hub: dict[str, Any]) -> None:
    (hit,) = asked("search", "executor", "blocks", "--wing", "ros2", "--type", "invariant")["hits"]
    assert (hit["repository"], hit["commit"]) == ("acme/other", hub["pin"])
    assert hit["pins"] == [{"repository": name, "commit": hub["pin"]} for name in ("acme/other", "acme/robot")]


def test_a_repository_is_asked_as_its_clone(typed: Callable[..., Ran]) -> None:
    ran = typed("retrieve", "orders", "--repository", "acme/mill")
    assert ran.code == 0
    assert "Orders of the mill wait on paper." in ran.out
    assert ran.err.startswith("copy of acme/mill in the hub at ")
    found = json.loads(typed("search", "polled", "--repository", "acme/shop", "--format", "json").out)
    assert [(hit["address"], hit["via"]) for hit in found["hits"][:1]] == [(QUEUE, ["app/architecture/polling"])]
    assert typed("list", "rules", "--repository", "acme/shop").out.split()[:3] == [
        "invariant",
        "active",
        "app/rules/personal",
    ]
    assert "polling was slow" in typed("why", QUEUE, "--repository", "acme/shop").out
    assert "A callback must not block" in typed("show", "ros2/rules/callbacks", "--repository", "acme/robot").out
    refused = typed("search", "orders", "--repository", "acme/shop", "--at", "HEAD")
    assert (refused.code, "leave out --at" in refused.err) == (2, True)


def test_old_names_work_for_one_repository(typed: Callable[..., Ran]) -> None:
    for words in (("retrieve", "orders"), ("list", "rules"), ("why", QUEUE)):
        new = typed(*words, "--repository", "acme/shop")
        old = typed("hub", *words, "--repository=acme/shop")
        assert (old.code, old.out) == (0, new.out)
        assert old.err.startswith(f"mdmem: `hub {words[0]}` is now `mdmem {words[0]} --repository`; the old name ends")
    # An address as `hub search` prints it.
    for name in ("show", "why"):
        assert typed("hub", name, f"acme/shop:{QUEUE}").out == typed(name, QUEUE, "--repository", "acme/shop").out != ""


def test_who_names_owners_and_dependents_in_all_repositories(asked: Asked, typed: Callable[..., Ran]) -> None:
    (one,) = asked("who", f"acme/shop:{QUEUE}")["entries"]
    assert (one["owner"], one["wing_owners"]) == ("shop-team", ["shop-team"])
    linked = [(by["repository"], by["address"], by["field"]) for by in one["dependents"]]
    assert linked == [
        ("acme/shop", "app/architecture/polling", "superseded_by"),
        ("acme/shop", "app/notes/amendment", "amends"),
    ]
    both = asked("who", QUEUE)["entries"]
    assert [entry["repository"] for entry in both] == ["acme/mill", "acme/shop"]
    # What pins a wing depends on it under the name that it has there.
    (rule,) = asked("who", "ros2/rules/callbacks", "--repository", "acme/robot")["entries"]
    assert {by["repository"] for by in rule["dependents"]} >= {"acme/robot", "acme/other"}
    assert {pin["repository"] for pin in rule["pins"]} == {"acme/other", "acme/robot"}
    ran = typed("hub", "who", "orders")
    assert "match, of which the best 3 are shown" in ran.err
    assert ran.out.count("owners: ") == 3


HIDDEN, SEEN = "vault/plans/zebra", "app/rules/growth"


@pytest.mark.usefixtures("roles")
def test_nothing_is_told_of_a_hidden_wing(
    dsn: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_root(make_repository(tmp_path / "shop") / "memory")
    write_entry(root, HIDDEN, "Growth by quagga.\n", type="decision", title="Zebra", supersedes=f"[{SEEN}]")
    body = f"Growth is reported, see [see: {HIDDEN}] and [see: app/rules/other].\n"
    write_entry(root, SEEN, body, title="Growth", see=f"[{HIDDEN}]", conflicts_with=f"[{HIDDEN}]")
    write_entry(root, "app/rules/other")
    commit_all(root)
    pushed(dsn, root)
    with connected(dsn) as owner:
        grant(owner, "guest", ["shop/app"])
    monkeypatch.setenv("MDMEM_HUB_DSN", dsn.replace("user=postgres", "user=guest"))
    for words in (
        ("hub", "search", "growth"),
        ("hub", "who", f"shop:{SEEN}"),
        ("show", SEEN, "--repository", "shop"),
        ("retrieve", "growth", "--repository", "shop"),
        ("list", "--repository", "shop"),
    ):
        for form in ("text", "json"):
            ran = run_here(capsys, *words, "--format", form, cwd=tmp_path)
            assert (ran.code, "Growth" in ran.out) == (0, True), ran.err
            for word in ("zebra", "quagga", "vault"):
                assert word not in (ran.out + ran.err).lower(), (words, ran.out)
    assert run_here(capsys, "hub", "search", "quagga", cwd=tmp_path).code == 1


OLD_HUB = Path(__file__).parents[1] / "data" / "hub_of_61caf593"
# What the old program printed for its tokens `pusher` and `narrow`.
PUSHER, NARROW = "T5xRfu6t7aK_MMgkoEF46EE-ryFQ43TOE2kJ6B_gkyU", "a-m5YTjAklYnG84tNfve-FwKA92LKDq_DFdErgxevqE"


@pytest.mark.usefixtures("roles")
def test_a_hub_that_commit_61caf593_filled_is_migrated(
    empty_dsn: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its entries are found before a push, its tokens keep their rights, and the next push is complete."""
    with psycopg.connect(empty_dsn, autocommit=True) as owner:
        owner.execute((OLD_HUB / "hub.sql").read_text())
    monkeypatch.setenv("MDMEM_HUB_DSN", empty_dsn)

    def typed(*words: str, token: str = "", cwd: Path = tmp_path) -> Ran:
        with monkeypatch.context() as context:
            if token:
                context.setenv("MDMEM_HUB_TOKEN", token)
                context.setenv("MDMEM_HUB_DSN", empty_dsn.replace("user=postgres", "user=guest"))
            return run_here(capsys, *words, cwd=cwd)

    assert "`mdmem hub init` migrates them" in typed("hub", "search", "amounts").err
    assert typed("hub", "init").out == "the hub's tables are now of version 3\n"
    assert typed("hub", "search", "executor").out.startswith("[decision] acme/lib:ros2/rules/executors\n  One executor")
    assert "the report of 2025" in typed("show", "shop/notes/cents", "--repository", "acme/store").out
    assert typed("hub", "grants").out.splitlines() == [
        "narrow (token): reads acme/shop/shop",
        "pusher (token): pushes acme/shop",
        "reader (token): reads acme/shop",
    ]
    assert [typed("hub", "search", word, token=NARROW).code for word in ("amounts", "vault")] == [0, 1]
    root = tmp_path / "shop/memory"
    git(tmp_path, "clone", "-q", str(OLD_HUB / "shop.bundle"), "shop")
    place = f'[url "{OLD_HUB}/lib.bundle"]\n\tinsteadOf = https://git.example.org/acme/lib\n'
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(write(tmp_path, "gitconfig", place)))
    assert typed("sync", "--wings", "--pinned", cwd=root).code == 0
    sent = typed("hub", "push", "--repository", "acme/shop", token=PUSHER, cwd=root)
    assert sent.out == "acme/shop: the hub is at fd9b6e0f4a now: 7 files added, 1 pin changed\n"
    assert typed("hub", "verify", "--repository", "acme/shop", cwd=root).code == 0
    assert typed("hub", "search", "executor").out.startswith("[decision] acme/")
