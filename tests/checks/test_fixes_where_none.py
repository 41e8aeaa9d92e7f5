"""Where a fix would be a guess there is none, or one that asks for a decision."""

from pathlib import Path

import pytest
from builders import commit_all, make_root, memory, open_root, write, write_entry
from hypothesis import given
from hypothesis import strategies as st
from trees import case_of

from mdmem.checks.case import Base
from mdmem.checks.engine import run_checks
from mdmem.checks.rules.front_matter import find_rewrite
from mdmem.checks.run import CheckRequest, check
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.parse import parse_document
from mdmem.model.finding import Fix
from mdmem.store.catalog.load import load
from mdmem.store.settings import Settings, parse_settings
from mdmem.store.tree import WorkingTree

PATH = "app/rules/a.md"
HEAD = "---\ntype: decision\nstatus: active\ncreated_at: 2026-03-05\n"
BODY = "---\n\nText.\n\nRationale: tried.\n"


def fixes(root: Path, code: str, settings: bytes = b"") -> list[Fix | None]:
    """Return the fix of each finding of a check."""
    return [one.fix for one in run_checks(case_of(root, parse_settings(settings)), [code])]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("empty-value", f"{HEAD}owner:  # ask Ada\n{BODY}"),
        (
            "empty-value",
            f"{HEAD}owner:\n# who asks\n  # for it\nTags: [a]\n{BODY}".replace("owner:\n", "owner: ~ # x\n"),
        ),
        ("key-spelling", f"{HEAD}Tags: [a]\ntags: [b]\n{BODY}"),
        ("yaml-syntax", f"{HEAD}title: 'tis the season\nowner: api\n{BODY}"),
        ("yaml-syntax", f'{HEAD}title: "one\n  and two\n{BODY}'),
        ("yaml-syntax", f"{HEAD}title: @one\n  and two\n{BODY}"),
        ("yaml-syntax", f"{HEAD}title: one: two\n  and three\n{BODY}"),
        ("yaml-syntax", f'{HEAD}title: "one" and "two"\n{BODY}'),
        ("yaml-syntax", f'{HEAD}title: "a\\tb \\d"\n{BODY}'),
        ("yaml-syntax", f"{HEAD}reviewer:Ada\n{BODY}"),
        ("yaml-syntax", f"{HEAD}title: Retries: three # or four\n{BODY}"),
        ("comment-truncates-value", f"{HEAD}tags: [a #b\n  ]\n{BODY}"),
        ("comment-truncates-value", f"{HEAD}title: two\n  lines #2 here\n{BODY}"),
        ("fence-unterminated", f"{HEAD}\ntitle: A\n\nText.\n"),
        ("fence-unterminated", f"{HEAD}# a comment or a heading\n\nText.\n"),
        ("fence-unterminated", HEAD),
        ("fence-unterminated", "---\ntype: decision\n\nText.\n"),
        ("fence-variant", "+++\ntype = 'decision'\n+++\n\nText.\n"),
        ("fence-variant", "----\nText.\n----\n"),
        ("front-matter-missing", "type: of prose\n\nText.\n"),
        ("missing-field", "---\ntype: decision\nstate: active\ncreated_at: 2026-03-05\n---\n\nText.\n"),
        ("unknown-status", HEAD.replace("active", "inactive") + BODY),
        ("unknown-type", HEAD.replace("decision", "session") + BODY),
        ("wrong-type", f"{HEAD}owner: [web, api]\n{BODY}"),
        ("wrong-type", f"{HEAD}confidence: 1.5\n{BODY}"),
        ("wrong-type", f"{HEAD}confidence: 130%\n{BODY}"),
        ("wrong-type", f"{HEAD}ignore: [vague-invariant]\n{BODY}"),
        ("self-link", f"{HEAD}superseded_by: [app/rules/a]\n{BODY}".replace("active", "deprecated")),
        ("self-link", f"{HEAD}label: local-override\noverrides: a\n{BODY}"),
        ("link-placeholder", f"{HEAD}superseded_by: none\n{BODY}".replace("active", "deprecated")),
        ("bad-name", f"{HEAD}{BODY}"),
        ("title-missing", f"{HEAD}{BODY}"),
    ],
)
def test_there_is_no_fix_where_the_meaning_is_not_certain(tmp_path: Path, code: str, text: str) -> None:
    write(make_root(tmp_path), PATH if code != "bad-name" else "app/rules/☃.md", text)
    assert [fix for fix in fixes(tmp_path, code) if fix is not None] == []
    assert fixes(tmp_path, code) != []


def test_entry_of_less_authority_ends_another_only_as_a_decision(tmp_path: Path) -> None:
    make_root(tmp_path)
    write_entry(tmp_path, "app/rules/old", type="invariant")
    write_entry(tmp_path, "app/rules/new", type="note", supersedes=["app/rules/old"])
    (fix,) = fixes(tmp_path, "supersession-one-sided")
    assert fix is not None
    assert not fix.is_safe


def fixing(root: Path, code: str, *, base: Path | None = None) -> list[bool]:
    """Say of each fix of a code whether it is safe; `base` is what the change started from."""
    before = Base("main", load(WorkingTree(base)), Settings()) if base else None
    found = run_checks(case_of(root, base=before), [code])
    return [one.fix.is_safe for one in found if one.fix is not None]


@pytest.mark.parametrize("links", [{}, {"superseded_by": ["app/rules/b"]}], ids=["one link", "both links"])
def test_what_is_in_force_is_ended_safely_by_who_writes_the_link_and_else_as_a_decision(
    tmp_path: Path, links: dict[str, list[str]]
) -> None:
    now, base = (make_root(tmp_path / name) for name in ("now", "base"))
    write_entry(base, "app/rules/a")
    write_entry(now, "app/rules/a", **links)
    write_entry(now, "app/rules/b", supersedes=["app/rules/a"])
    code = "superseded-but-active" if links else "supersession-one-sided"
    assert [fixing(now, code, base=one) for one in (None, now, base)] == [[False], [False], [True]]


def test_who_writes_a_claim_is_told_by_the_last_commit(tmp_path: Path) -> None:
    folder = memory(tmp_path)
    root, new, old = folder / "memory", "nav/architecture/one", "nav/architecture/threads"

    def safe() -> list[bool]:
        found = check(open_root(root), CheckRequest(select=("supersession-one-sided",))).findings
        return [one.fix.is_safe for one in found if one.fix is not None]

    write_entry(root, new, title="One", status="draft", supersedes=[old])
    commit_all(folder)
    write_entry(root, new, title="One", supersedes=[old])
    assert safe() == [True]
    commit_all(folder)
    write_entry(root, new, title="One thread", supersedes=[old])
    assert safe() == [False]


@pytest.mark.parametrize("slip", ["Supersedes: [nav/architecture/threads]", "supersedes: threads.md"])
def test_what_another_fix_makes_a_link_of_is_written_by_nobody(slip: str, tmp_path: Path) -> None:
    folder = memory(tmp_path)
    root, new = folder / "memory", "nav/architecture/one"
    write(root, f"{new}.md", f"{HEAD}title: One\n{slip}\nreason: It is faster.\n{BODY}")
    commit_all(folder)
    write_entry(root, new, title="One", supersedes=["nav/architecture/threads"])
    found = check(open_root(root), CheckRequest(select=("supersession-one-sided",))).findings
    assert [one.fix.is_safe for one in found if one.fix is not None] == [False]


def test_missing_end_of_what_has_ended_is_written_safely(tmp_path: Path) -> None:
    make_root(tmp_path)
    write_entry(tmp_path, "app/rules/a", status="deprecated", deprecated_at="2026-06-01", deprecated_reason="gone")
    write_entry(tmp_path, "app/rules/b", supersedes=["app/rules/a"])
    assert fixing(tmp_path, "supersession-one-sided") == [True]


ENDED = {"app/rules/a": {"status": "deprecated", "deprecated_reason": "it is gone"}}
VERIFIED = {
    "app/rules/a": {"status": "deprecated", "verified_at": "2026-06-01", "superseded_by": ["app/rules/b"]},
    "app/rules/b": {"created_at": "2026-05-01", "supersedes": ["app/rules/a"]},
}


@pytest.mark.parametrize(
    ("code", "entries", "settings"),
    [
        pytest.param("deprecated-at-missing", ENDED, b"", id="no other replaced it"),
        pytest.param("deprecated-at-missing", VERIFIED, b"", id="its successor is older than its last check"),
        pytest.param("bad-name", {"My-App/rules/a": {}}, b'default_wing = "My-App"\n', id="the settings name the wing"),
        pytest.param("bad-name", {"My-App/rules/a": {}, "my_app/rules/b": {}}, b"", id="there is a wing of that name"),
    ],
)
def test_day_and_name_that_may_be_wrong_are_not_offered(
    tmp_path: Path, code: str, entries: dict[str, dict[str, object]], settings: bytes
) -> None:
    make_root(tmp_path)
    for address, fields in entries.items():
        write_entry(tmp_path, address, **fields)
    assert fixes(tmp_path, code, settings) == [None]


def test_wing_is_renamed_where_nothing_names_it(tmp_path: Path) -> None:
    write_entry(make_root(tmp_path), "My-App/rules/a")
    assert [fix is None for fix in fixes(tmp_path, "bad-name")] == [False]


def test_entry_is_not_renamed_while_a_file_that_names_it_cannot_be_read(tmp_path: Path) -> None:
    write_entry(make_root(tmp_path), "app/rules/Use-UTC")
    write(tmp_path, "app/rules/broken.md", f"{HEAD}title: one: two\nsee: Use-UTC\n{BODY}")
    assert fixes(tmp_path, "bad-name") == [None]


@pytest.mark.parametrize("code", ["case-collision", "unicode-collision"])
def test_second_of_two_that_collide_gets_a_number_and_the_links_follow(tmp_path: Path, code: str) -> None:
    names = ("Use-UTC", "use-utc") if code == "case-collision" else ("cafe\u0301", "caf\u00e9")
    make_root(tmp_path)
    for name in names:
        write_entry(tmp_path, f"app/rules/{name}")
    write_entry(tmp_path, "app/rules/x", see=[f"app/rules/{names[1]}"])
    (fix,) = fixes(tmp_path, code)
    assert fix is not None
    assert not fix.is_safe
    assert fix.renames == ((f"app/rules/{names[1]}.md", f"app/rules/{names[1]}-2.md"),)
    assert [edit.path for edit in fix.edits] == ["app/rules/x.md"]


def test_name_that_windows_refuses_is_written_without_the_sign(tmp_path: Path) -> None:
    make_root(tmp_path)
    for name in ("when: now", "aux"):
        write_entry(tmp_path, f"app/rules/{name}")
    aux, colon = fixes(tmp_path, "path-illegal-on-windows")
    assert aux is None
    assert colon is not None
    assert colon.renames == (("app/rules/when: now.md", "app/rules/when-now.md"),)


VALUES = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_categories=["Cc", "Zl", "Zp"]), min_size=1
)


@given(value=st.one_of(VALUES, st.text("ab'\"#: \\[]{}-@*&!|>%`,?", min_size=1, max_size=12)))
def test_fixed_line_reads_as_it_was_written_and_nothing_else_changes(value: str) -> None:
    text = f"{HEAD}title: {value}\nowner: Ada\n{BODY}"
    document = parse_document(PATH, text.encode())
    for found in document.findings:
        fix = find_rewrite(document, found)
        if fix is None:
            continue
        mended = parse_document(PATH, apply_edits(document.data, fix.edits))
        assert mended.text.splitlines()[:4] + mended.text.splitlines()[5:] == (
            text.splitlines()[:4] + text.splitlines()[5:]
        )
        assert mended.fields is not None
        assert mended.fields["owner"] == "Ada"
        quotes = value.strip().startswith(("'", '"', "["))
        whole, cut = value.strip(), value.strip().split(" #")[0].rstrip()
        assert quotes or mended.fields["title"] == whole or str(mended.fields["title"]).startswith(cut)
