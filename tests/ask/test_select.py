"""Test which entries answer a question, their order, and the reasons."""

from pathlib import Path

import pytest
from builders import commit_all, make_repository, open_root, write

from mdmem.ask.answer import Elsewhere, OmittedCount, Question
from mdmem.ask.retrieve import retrieve
from mdmem.model.entry import EntryType, Status
from mdmem.render.answers import answer_json

from .builders import found, left_out, make_wings, names, only, put

INVARIANT, DECISION, PATTERN, NOTE = EntryType


# --- authority ---


def test_order_inside_a_type_is_focus_then_project_then_shared(root: Path) -> None:
    put(root, "lib/a/one", "Queue queue queue")
    put(root, "app/a/two", "Queue queue")
    put(root, "app/a/three", "Queue of the auth service", focus="auth")
    put(root, "lib/a/four", "Queue of everybody", focus="auth")
    answer = found(root, "queue", focuses=("auth",))
    assert names(answer.items)[:2] == ["app/a/three", "app/a/two"]
    assert [item.tier for item in answer.items] == ["focus", "project", "shared", "shared"]


def test_order_inside_a_scope_is_active_then_under_review_and_of_equals_score_then_newest_then_address(
    root: Path,
) -> None:
    put(root, "app/a/sure", "A queue that holds other words too")
    put(root, "app/a/doubtful", "Queue", status="under_review")
    put(root, "app/a/expired", "Queue", expires_at="2026-11-20")
    for name, created in (("c", "2026-01-01"), ("a", "2026-01-01"), ("b", "2026-02-01")):
        put(root, f"app/a/{name}", "Queue", created_at=created)
    expected = [f"app/a/{name}" for name in ("b", "a", "c", "sure", "doubtful", "expired")]
    assert names(found(root, "queue").items) == expected


# --- paths in prose ---


def test_path_that_stands_in_the_text_brings_an_entry_in(root: Path) -> None:
    put(root, "app/a/only", "One door", "Only src/payment.py talks to the provider; see `src/payment.py`.\n")
    put(root, "app/a/old", "Two doors", "So does src/pay.py.\n", status="deprecated", superseded_by=["app/a/new"])
    put(root, "app/a/new", "No door", supersedes=["app/a/old"])
    put(root, "app/a/other", "Another", "Not app/src/payment.py, src/payment.py.bak, src/payment.pyc; src.\n")
    answer = found(root, paths=("src/payment.py",))
    assert [(item.entry.address, item.reason) for item in answer.items] == [("app/a/only", "mentions src/payment.py")]
    assert answer.basis.coverage == "partial"
    assert names(found(root, paths=("src/pay.py",)).items) == ["app/a/new"]
    assert names(found(root, paths=("src/",)).items) == []
    put(root, "app/a/only", "One door", "Only src/payment.py talks.\n", applies_to=["web/**"])
    assert left_out(found(root, paths=("src/payment.py",))) == {"app/a/only": "applies elsewhere"}


@pytest.mark.parametrize(
    ("path", "mentioned"),
    [
        ("migrations/0001.sql", "migrations/"),
        ("src/pay/card/visa.py", "src/pay/"),
        ("src/pay/", "src/pay/"),
        ("migrations/old/0001.sql", None),
        ("src/payment.py", None),
        ("tools/job.py", "tools/job.py"),
        ("top.py", None),
    ],
)
def test_folder_or_link_in_the_text_brings_an_entry_in_with_its_text(
    path: str, mentioned: str | None, root: Path
) -> None:
    linked = " and ".join(f"https://forge.example/o/r/blob/main/{one}#L3" for one in ("tools/job.py", "top.py"))
    put(root, "app/a/sql", "Plain SQL", f"Put SQL in `migrations/` and src/pay/, not in my-migrations/. See {linked}\n")
    answer = retrieve(open_root(root), Question(words="drop a column", paths=(path,))).main
    assert answer is not None
    shown = [(item.reason, item.content != "") for item in answer.items]
    assert shown == [(f"mentions {mentioned}", True) if mentioned else ("no match; one of few decisions", False)]
    # Only a mention of the given path itself covers a part of the question.
    assert answer.basis.coverage == ("partial" if mentioned == path else "none")


# --- scope ---


@pytest.mark.parametrize(
    "filters",
    [
        {"rooms": ("b",)},
        {"types": (PATTERN,)},
        {"statuses": (Status.UNDER_REVIEW,)},
        {"labels": ("local",)},
        {"tags": ("slow", "other")},
        {"owners": ("team",)},
    ],
)
def test_filters_narrow(filters: dict[str, object], root: Path) -> None:
    put(root, "app/a/other", "Queue")
    put(
        root, "app/b/this", "Queue", type="pattern", status="under_review", label="local", tags=["slow"], owner="team"
    )  # fmt: skip
    assert names(found(root, "queue", **filters).items) == ["app/b/this"]


def test_focus_lets_in_its_own_entries_and_those_of_none(root: Path) -> None:
    put(root, "app/a/none", "Queue")
    put(root, "app/a/own", "Queue", focus="auth")
    put(root, "app/a/else", "Queue", focus="billing")
    put(root, "app/a/quiet", "Lock", focus="billing")
    answer = found(root, "queue", focuses=("auth",))
    assert names(answer.items) == ["app/a/own", "app/a/none"]
    assert left_out(answer) == {"app/a/else": "another focus"}


# --- candidates ---


def test_candidates_without_words_and_paths_are_every_current_entry(root: Path) -> None:
    put(root, "app/a/rule", "One", type="invariant")
    put(root, "app/a/choice", "Two", applies_to=["src/**"])
    put(root, "lib/a/note", "Three", type="note")
    put(root, "app/a/old", "Four", status="deprecated")
    put(root, "app/a/draft", "Five", status="draft")
    answer = found(root)
    assert names(answer.items) == ["app/a/rule", "app/a/choice", "lib/a/note"]
    assert [item.reason for item in answer.items] == ["invariant of the scope", "in scope", "in scope"]
    assert answer.basis.covered


def test_candidates_with_words_are_matches_and_with_stop_words_alone_unconditional_invariants(root: Path) -> None:
    put(root, "app/a/rule", "Nothing alike", type="invariant")
    put(root, "app/a/choice", "What we should retry in the queue")
    put(root, "app/a/other", "Locks")
    assert names(found(root, "queue timeout").items) == ["app/a/rule", "app/a/choice"]
    answer = found(root, "what should we do with it")
    assert names(answer.items) == ["app/a/rule"]
    assert (answer.basis.covered, answer.basis.unmatched_terms) == (False, ())


# --- unconditional invariants ---


@pytest.mark.parametrize(
    "filters",
    [
        {"statuses": (Status.DEPRECATED,)},
        {"statuses": (Status.UNDER_REVIEW,)},
        {"labels": ("other",)},
        {"tags": ("other",)},
        {"owners": ("other",)},
        {"types": (INVARIANT, NOTE)},
        {"include_deprecated": True, "include_drafts": True},
        {"focuses": ("auth",)},
    ],
)
def test_invariants_pass_every_other_filter(filters: dict[str, object], root: Path) -> None:
    put(root, "app/a/rule", "Rule", type="invariant")
    put(root, "lib/a/rule-of-all", "Law", type="invariant")
    answer = found(root, "unrelated words", ("src/x.py",), **filters)
    assert names(answer.items) == ["app/a/rule", "lib/a/rule-of-all"]
    assert left_out(answer) == {}


def test_invariants_are_left_out_and_counted_for_three_reasons(root: Path) -> None:
    put(root, "app/a/always", "Always", type="invariant")
    put(root, "app/a/elsewhere", "Elsewhere", type="invariant", applies_to=["src/nav/**"])
    put(root, "app/a/other", "Other", type="invariant", focus="billing")
    answer = found(root, "", ("src/app.py",), focuses=("auth",))
    assert names(answer.items) == ["app/a/always"]
    assert left_out(answer) == {"app/a/elsewhere": "applies elsewhere", "app/a/other": "another focus"}
    answer = found(root, types=(DECISION,))
    assert names(answer.items) == []
    assert left_out(answer) == dict.fromkeys(("app/a/always", "app/a/elsewhere", "app/a/other"), "type filter")
    # Without a given focus, entries with any focus apply.
    assert "app/a/other" in names(found(root, "unrelated").items)


def test_invariants_come_whatever_rooms_are_asked_for(root: Path) -> None:
    put(root, "app/a/rule", "Rule", type="invariant")
    put(root, "lib/b/other", "Other", type="invariant")
    put(root, "app/b/choice", "Queue", conflicts_with=["lib/b/other"])
    put(root, "app/a/choice", "Queue")
    answer = found(root, "queue", rooms=("a",))
    assert names(answer.items) == ["app/a/rule", "lib/b/other", "app/a/choice"]
    assert answer.searched == ("app/a",)
    answer = found(root, "queue", rooms=("a",), types=(INVARIANT,))
    assert (names(answer.items), left_out(answer)) == (["app/a/rule"], {"lib/b/other": "another room"})


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [("kind: project", ["lib/a/law"]), ("shared_wings: [lib]", ["lib/a/law"]), ("shared_wings: []", [])],
)
def test_invariants_of_the_shared_wings_that_are_read_apply(manifest: str, expected: list[str], tmp_path: Path) -> None:
    root = make_wings(tmp_path, manifest=manifest)
    put(root, "lib/a/law", "Law", type="invariant")
    assert names(found(root, "unrelated").items) == expected


@pytest.mark.parametrize(
    ("globs", "manifest", "binds"),
    [
        ('["src/**"]', "kind: project", True),
        ('["docs/**"]', "kind: project", False),
        ('["docs/**"]', "shared_wings: [lib]", True),
    ],
)
def test_shared_wing_that_nobody_names_binds_where_it_is_about_a_tracked_file(
    globs: str, manifest: str, binds: bool, tmp_path: Path
) -> None:
    root = make_wings(make_repository(tmp_path / "repo"), manifest=manifest)
    write(root, "lib/README.md", f"---\nkind: shared\napplies_to: {globs}\n---\n")
    write(tmp_path / "repo", "src/app.py")
    put(root, "lib/a/law", "Law", type="invariant")
    commit_all(tmp_path / "repo")
    answer = retrieve(open_root(root), Question(words="unrelated")).all[0]
    assert names(answer.items) == (["lib/a/law"] if binds else [])
    assert names(found(root, "law").items) == ["lib/a/law"]


def test_invariants_of_other_projects_apply_only_where_they_match(root: Path) -> None:
    put(root, "web/a/law", "Law", type="invariant")
    assert names(found(root, "unrelated", all_wings=True).items) == []
    assert names(found(root, "law", all_wings=True).items) == ["web/a/law"]


def test_invariants_that_ended_are_not_unconditional(root: Path) -> None:
    put(root, "app/a/ended", "Queue", type="invariant", status="deprecated")
    assert names(found(root, "unrelated", include_deprecated=True).items) == []
    assert names(found(root, "queue", include_deprecated=True).items) == ["app/a/ended"]
    assert names(found(root, types=(DECISION,), include_deprecated=True).items) == []


# --- code paths ---


def test_paths_bring_in_what_applies_to_them(root: Path) -> None:
    put(root, "app/a/glob", "One", applies_to=["src/nav/*.py"])
    put(root, "app/a/folder", "Two", applies_to=["docs", "src"])
    put(root, "app/a/deep", "Three", applies_to=["src/*.py"])
    put(root, "app/a/anywhere", "Four")
    answer = found(root, "", ("src/nav/node.py",))
    assert names(answer.items) == ["app/a/folder", "app/a/glob"]
    assert [item.reason for item in answer.items] == ["applies to src/nav/node.py"] * 2
    assert (answer.basis.covered, left_out(answer)) == (True, {})


def test_paths_keep_out_what_matches_the_words_and_applies_elsewhere(root: Path) -> None:
    put(root, "app/a/here", "Queue", applies_to=["src/**"])
    put(root, "app/a/anywhere", "Queue")
    put(root, "app/a/elsewhere", "Queue", applies_to=["docs/**"])
    answer = found(root, "queue", ("src/a.py",))
    assert names(answer.items) == ["app/a/anywhere", "app/a/here"]
    assert left_out(answer) == {"app/a/elsewhere": "applies elsewhere"}
    assert only(answer, "app/a/here").reason == "contains queue; applies to src/a.py"


def test_paths_of_several_need_one_that_applies(root: Path) -> None:
    put(root, "app/a/rule", "Rule", type="invariant", applies_to=["src/b/**"])
    assert only(found(root, "", ("src/a.py", "src/b/c.py")), "app/a/rule").reason.endswith("applies to src/b/c.py")
    four = ("src/b/a.py", "src/b/b.py", "src/b/c.py", "src/z.py")
    assert only(found(root, "", four), "app/a/rule").reason.endswith("applies to src/b/a.py, src/b/b.py and 1 more")


# --- deprecated entries ---


def test_deprecated_entries_come_only_where_asked_for_and_name_what_replaced_them(root: Path) -> None:
    put(root, "app/a/old", "Queue", status="deprecated", superseded_by=["app/a/new"])
    put(root, "app/a/new", "Queue, again", supersedes=["app/a/old"])
    put(root, "app/a/ended", "Queue", status="deprecated", deprecated_reason="nobody used it")
    put(root, "app/a/silent", "Queue", status="deprecated")
    assert names(found(root, "queue").items) == ["app/a/new"]
    for asked in ({"include_deprecated": True}, {"statuses": (Status.ACTIVE, Status.DEPRECATED)}):
        answer = found(root, "queue", **asked)
        told = {item.entry.address: item.reason.split("; ")[-1] for item in answer.items}
        assert told == {
            "app/a/new": "replaces app/a/old, which matched",
            "app/a/ended": "not current: nobody used it",
            "app/a/old": "not current: replaced by app/a/new",
            "app/a/silent": "not current, no reason given",
        }
        assert names(answer.items)[0] == "app/a/new"


def test_deprecated_entries_stand_behind_all_in_force_of_their_type(root: Path) -> None:
    put(root, "app/a/ended", "Queue", status="deprecated")
    put(root, "app/a/linked", "Queue", superseded_by=["lib/a/sure"])
    put(root, "lib/a/sure", "A queue of many words", supersedes=["app/a/linked"], status="under_review")
    assert names(found(root, "queue", include_deprecated=True).items)[0] == "lib/a/sure"


# --- lineage ---


def chain(root: Path, length: int, *, ended: str = "deprecated", title: str = "Replaced", **fields: object) -> str:
    """Write a chain of supersessions, the oldest about queues and the others not; return its head's address."""
    for number in range(length):
        last = number == length - 1
        put(
            root,
            f"app/a/v{number:03}",
            "Queue" if number == 0 else title,
            status="active" if last else ended,
            supersedes=[f"app/a/v{number - 1:03}"] if number else [],
            superseded_by=[] if last else [f"app/a/v{number + 1:03}"],
            **fields,
        )
    return f"app/a/v{length - 1:03}"


@pytest.mark.parametrize(
    ("length", "ended", "kind"),
    [*((length, "deprecated", "decision") for length in (2, 3, 200)), (2, "active", "invariant")],
)
def test_superseded_match_yields_the_head_of_its_chain(length: int, ended: str, kind: str, root: Path) -> None:
    head = chain(root, length, ended=ended, type=kind)
    answer = found(root, "queue")
    assert names(answer.items) == [head]
    assert (answer.items[0].via, answer.items[0].score > 0) == (("app/a/v000",), True)
    scope = "invariant of the scope; " if kind == "invariant" else ""
    assert answer.items[0].reason == f"{scope}replaces app/a/v000, which matched"


def test_a_long_chain_that_matched_is_counted_and_costs_the_head_no_place(root: Path) -> None:
    chain(root, 40, title="Queue limit")
    (item,) = found(root, "queue limit").items
    assert len(item.via) == 39
    assert item.reason.endswith("; replaces app/a/v004, which matched; replaces 34 more, which matched")
    pack = retrieve(open_root(root), Question(words="queue limit"), budget=700).all[0]
    assert [len(given["via"]) for given in answer_json(pack)["items"]] == [5]


def test_superseded_match_yields_a_head_that_the_filters_leave_out(root: Path) -> None:
    put(root, "app/a/old", "Queue", status="deprecated", tags=["slow"], superseded_by=["web/b/new"])
    put(root, "web/b/new", "Replaced", type="pattern", focus="other", supersedes=["app/a/old"])
    for filters in ({"rooms": ("a",)}, {"types": (DECISION,)}, {"tags": ("slow",)}, {"focuses": ("auth",)}):
        answer = found(root, "queue", **filters)
        assert names(answer.items) == ["web/b/new"]
        assert left_out(answer) == {}


def test_superseded_match_whose_head_applies_elsewhere_is_said(root: Path) -> None:
    put(root, "app/a/old", "Queue", status="deprecated", superseded_by=["web/a/new"])
    put(root, "web/a/new", "New", supersedes=["app/a/old"], applies_to=["docs/**"])
    answer = found(root, "queue", ("src/a.py",))
    assert (names(answer.items), left_out(answer)) == ([], {"web/a/new": "applies elsewhere"})


def test_superseded_match_without_a_head_is_not_authority(root: Path) -> None:
    put(root, "app/a/old", "Queue", status="deprecated", superseded_by=["app/a/newer"])
    put(root, "app/a/newer", "Queue", status="deprecated", supersedes=["app/a/old"])
    assert names(found(root, "queue").items) == []


@pytest.mark.parametrize("status", ["active", "deprecated"])
def test_entries_on_a_cycle_are_shown_and_marked(status: str, root: Path) -> None:
    put(root, "app/a/x", "Queue", status=status, supersedes=["app/a/y"], superseded_by=["app/a/y"])
    put(root, "app/a/y", "Queue", status=status, supersedes=["app/a/x"], superseded_by=["app/a/x"])
    answer = found(root, "queue")
    assert names(answer.items) == ["app/a/x", "app/a/y"]
    assert all("contradictory: it and another entry supersede each other" in item.reason for item in answer.items)
    assert [(one.a, one.b, one.why) for one in answer.basis.conflicts] == [
        ("app/a/x", "app/a/y", "2 entries supersede one another")
    ]


# --- drafts ---


def test_drafts_are_proposed_and_never_items(root: Path) -> None:
    put(root, "app/a/choice", "Queue")
    put(root, "app/a/idea", "Queue", status="draft", supersedes=["app/a/choice"])
    put(root, "lib/a/law", "Queue", type="invariant", status="draft")
    put(root, "app/a/other", "Lock", status="draft")
    for filters in ({}, {"include_drafts": True}):
        answer = found(root, "queue", **filters)
        assert names(answer.items) == ["app/a/choice"]
        assert names(answer.proposed) == ["lib/a/law", "app/a/idea"]
    reason = "contains queue; a draft: proposed, not binding"
    assert [item.reason for item in answer.proposed] == [reason, f"{reason}; would supersede app/a/choice"]


# --- overrides ---


@pytest.mark.parametrize(
    ("lower", "higher"), [("note", "decision"), ("note", "pattern"), ("pattern", "decision"), ("decision", "invariant")]
)
def test_override_of_what_has_more_authority_drops_nothing(lower: str, higher: str, root: Path) -> None:
    put(root, "lib/a/law", "Callbacks must not block", type=higher)
    put(root, "app/a/local", "Ours may", type=lower, overrides=["lib/a/law"])
    answer = found(root, "callbacks")
    assert names(answer.items) == ["lib/a/law", "app/a/local"]
    assert "overridden" not in only(answer, "lib/a/law").reason
    assert only(answer, "app/a/local").reason == f"cannot override the {higher} lib/a/law"
    assert (only(answer, "app/a/local").overrides, left_out(answer)) == ((), {})


def test_override_of_an_invariant_by_an_invariant_leaves_both_and_says_so(root: Path) -> None:
    put(root, "lib/a/law", "Callbacks must not block", type="invariant")
    put(root, "app/a/local", "Ours may", type="invariant", overrides=["lib/a/law"])
    answer = found(root, "callbacks")
    assert names(answer.items) == ["app/a/local", "lib/a/law"]
    assert only(answer, "lib/a/law").reason.endswith("overridden here by app/a/local")
    assert left_out(answer) == {}


@pytest.mark.parametrize(
    ("shared", "narrow", "asked", "is_left", "where"),
    [
        ([], {"applies_to": ["src/nav/**"]}, (), True, " only in src/nav/**"),
        ([], {"applies_to": ["src/nav/**"]}, ("src/nav/a.py",), False, ""),
        ([], {"applies_to": ["src/nav/**"]}, ("src/nav/a.py", "src/db/b.py"), True, " only in src/nav/**"),
        (["src/**"], {"applies_to": ["src/nav/**"]}, ("src/nav/a.py", "README.md"), False, ""),
        ([], {"applies_to": ["src/nav/**"]}, ("src/dock.py",), True, None),
        ([], {"focus": "bills"}, (), True, " only in the focus bills"),
        ([], {"focus": "bills"}, ("bills",), False, ""),
        ([], {"focus": "bills"}, ("bills", "carts"), True, " only in the focus bills"),
    ],
)
def test_override_of_a_narrower_place_or_focus_leaves_the_rule_to_the_rest(
    shared: list[str], narrow: dict[str, object], asked: tuple[str, ...], is_left: bool, where: str | None, root: Path
) -> None:
    put(root, "lib/a/default", "One thread", applies_to=shared)
    # Only the overridden entry has the word.
    put(root, "app/a/local", "Two workers", overrides=["lib/a/default"], **narrow)
    answer = found(root, "thread", focuses=asked) if "focus" in narrow else found(root, "thread", asked)
    # Without `where`, the override does not apply to any of the paths.
    shown = {"app/a/local": where is not None, "lib/a/default": is_left}
    assert names(answer.items) == [address for address, is_shown in shown.items() if is_shown]
    if where is not None:
        assert only(answer, "app/a/local").reason.endswith(f"overrides lib/a/default{where}")


@pytest.mark.parametrize(
    ("old", "new", "fields", "asked", "shown"),
    [
        # A question about a shared wing has that wing's rules.
        ("lib/a/default", "app/a/local", {}, {"wings": ("lib", "app")}, ["lib/a/default", "app/a/local"]),
        ("lib/a/default", "web/a/local", {}, {"all_wings": True}, ["web/a/local", "lib/a/default"]),
        ("app/a/local", "lib/a/default", {}, {}, ["app/a/local", "lib/a/default"]),
        *(
            ("lib/a/default", "app/a/local", fields, {"paths": ("src/a.py",), "focuses": ("auth",)}, ["lib/a/default"])
            for fields in (
                {"status": "draft"},
                {"status": "deprecated"},
                {"applies_to": ["docs/**"]},
                {"focus": "bills"},
            )
        ),
    ],
)
def test_override_that_does_not_count_here_replaces_nothing(
    old: str, new: str, fields: dict[str, object], asked: dict[str, object], shown: list[str], root: Path
) -> None:
    put(root, old, "One thread for the queue")
    put(root, new, "Two threads for the queue", overrides=[old], **fields)
    assert names(found(root, "queue", **asked).items) == shown


# --- coverage ---


@pytest.mark.parametrize(
    ("words", "coverage", "lacking"),
    [
        ("retry the queue", "full", ()),
        ("queue", "full", ()),
        ("explain general queue behavior", "none", ()),
        # No entry contains the rarest word.
        ("retry the queue timeout", "partial", ("timeout",)),
        # The title has none of the words, but one passage has all.
        ("lane crowded", "full", ()),
        ("lane horn zebra timeout", "none", ()),
        ("zebra", "none", ()),
    ],
)
def test_coverage_is_what_one_passage_with_its_title_holds(
    words: str, coverage: str, lacking: tuple[str, ...], root: Path
) -> None:
    put(root, "app/a/choice", "Retry the queue", "The lane is crowded.\n\n## Other\n\nA beacon is lit.\n")
    for number in range(9):
        put(root, f"app/a/note-{number}", "Of another matter", type="note")
    put(root, "app/a/horn", "A horn", type="note")
    basis = found(root, words).basis
    assert (basis.coverage, basis.uncovered_terms) == (coverage, lacking)
    assert basis.covered is (coverage == "full")


def test_words_that_another_decision_contains_are_not_said_to_be_missing(root: Path) -> None:
    put(root, "app/a/choice", "Retry the queue", "The lane is crowded.\n")
    put(root, "app/a/clock", "Clocks", "A timeout ends the call.\n")
    for number in range(9):
        put(root, f"app/a/note-{number}", "Of another matter", "A timeout.\n" if number < 3 else "", type="note")
    basis = found(root, "retry the queue timeout zebra").basis
    assert (basis.coverage, basis.uncovered_terms) == ("partial", ("zebra",))


def test_reason_names_a_word_of_several_parts_only_where_the_entry_has_all(root: Path) -> None:
    put(root, "app/a/flow", "Text flows", "A TextFlow is a pane.\n")
    put(root, "app/a/text", "Text", "A text is read.\n")
    reasons = {item.address: item.reason for item in found(root, "panes with SelectableTextFlow").items}
    assert reasons == {"app/a/flow": "contains panes", "app/a/text": "matches the query"}


@pytest.mark.parametrize(
    ("kind", "status", "covered"),
    [
        *(("invariant", "active", True), ("decision", "active", True), ("pattern", "active", False)),
        *(("note", "active", False), ("decision", "deprecated", False)),
    ],
)
def test_covered_by_current_invariants_and_decisions_alone(kind: str, status: str, covered: bool, root: Path) -> None:
    put(root, "app/a/x", "Queue", type=kind, status=status, applies_to=["src/**"])
    for asked in (("queue",), ("", ("src/a.py",)), ()):
        assert found(root, *asked, include_deprecated=True).basis.covered is covered


def test_few_decisions_that_share_no_word_are_named_and_many_counted(root: Path) -> None:
    put(root, "app/a/x", "Queue")
    put(root, "app/a/y", "Lock")
    put(root, "lib/a/z", "Timer")
    answer = found(root, "queue")
    assert names(answer.unmatched) == ["app/a/y"]
    assert answer.basis.omitted_counts == (OmittedCount("decision", "shares no word or path", 1),)
    for number in range(9):
        put(root, f"app/a/more-{number}", "Of another matter")
    answer = found(root, "queue")
    assert answer.basis.omitted_counts == (OmittedCount("decision", "shares no word or path", 11),)
    assert (answer.unmatched, found(root).basis.omitted_counts) == ((), ())


# --- other wings ---


def test_rules_of_another_project_on_the_path_are_counted(root: Path) -> None:
    for address, kind in (("web/a/rule", "invariant"), ("web/a/choice", "decision"), ("web/a/note", "note")):
        put(root, address, "Rule", type=kind, applies_to=["src/web/**"])
    put(root, "web/a/draft", "Rule", status="draft", applies_to=["src/web/**"])
    put(root, "web/a/always", "Rule", type="invariant")
    assert found(root, "queue", ("src/web/a.ts",)).basis.elsewhere == (Elsewhere("web", 2),)
    assert found(root, "queue", ("src/app.ts",)).basis.elsewhere == ()
    assert found(root, "queue", ("src/web/a.ts",), wings=("web",)).basis.elsewhere == ()
