"""Test a review as text, Markdown and JSON: complete, within its limit, and without markup from files."""

import json
import re

import pytest
from builders import entry_text
from change.sides import ARTICLE, reviewed, successor, superseded
from hypothesis import given
from hypothesis import strategies as st

from mdmem.change.review_model import AnswerPair, MergeCheck, ReviewReport, SideAnswer
from mdmem.model.finding import Finding, Place, Severity
from mdmem.render.review import LIMIT, MARKER, diff_page, review_json, review_markdown, review_text
from mdmem.render.text import Style, dump

OLD = {"a": entry_text("The old words.\n", title="Old rule")}
NEW = {"a": superseded("b", title="Old rule"), "b": successor("a", title="New rule")}
RULE = entry_text(ARTICLE, type="invariant", title="Times are UTC")


def text(review: ReviewReport) -> str:
    return review_text(review, Style())


def test_text_of_a_supersession() -> None:
    assert text(reviewed(OLD, NEW)) == (
        "old → new\n"
        "1 added, 1 changed; current entries 1 → 1\n"
        "\n"
        "Rules before → after\n"
        "  decision app/rules/a “Old rule”\n"
        "    → decision app/rules/b “New rule”\n"
        "      The new words.\n"
        "    because it was slow"
    )


def test_long_text_is_cut_between_words() -> None:
    words = "pressure " * 30
    shown = text(reviewed({}, {"a": entry_text(f"{words}.\n", title="Rule")}))
    assert shown.endswith(f"\n    {('pressure ' * 22).strip()}…")


def test_draft_shows_what_it_would_replace_and_notes_are_no_rules() -> None:
    old = {**OLD, "x": entry_text("The whole.\n", title="Whole"), "y": entry_text("Shared.\n", title="Shared")}
    links = {"amends": ["app/rules/x"], "overrides": "app/rules/y"}
    draft = successor("a", title="New rule", status="draft", **links).replace("words.", "words. And more.")
    new = {**old, "b": draft, "n": entry_text("A fact.\n", type="note", title="Fact")}
    blocks = text(reviewed(old, new)).split("\n\n")
    assert blocks[1] == (
        "Proposed\n"
        "  draft decision app/rules/b “New rule” would supersede app/rules/a “Old rule” and amend app/rules/x “Whole” "
        "and override app/rules/y “Shared”, because it was slow\n"
        "    The new words. And more."
    )
    assert blocks[-1] == "Notes before → after\n  new: note app/rules/n “Fact”\n    A fact."
    assert not any(one.startswith("Rules before") for one in blocks)
    assert "### Proposed\n\n- **draft** decision `app/rules/b`" in review_markdown(reviewed(old, new))
    assert reviewed(new, new).proposed == ()


def test_changed_words_are_marked_without_colour_and_stand_with_their_neighbours() -> None:
    shown = text(reviewed({"a": RULE}, {"a": RULE.replace("to the second", "to the minute")}))
    assert "… " not in shown
    assert "stored in UTC, to the [-second,-] {+minute,+} and shown" in shown


def test_words_far_from_a_change_are_left_out_and_a_rewritten_page_is_cut() -> None:
    words = " ".join(f"w{number}" for number in range(60))
    shown = text(reviewed({"a": entry_text(f"{words} old\n")}, {"a": entry_text(f"{words} new\n")}))
    assert "    … w52 w53 w54 w55 w56 w57 w58 w59 [-old-] {+new+}" in shown
    before, after = (entry_text(" ".join(f"{letter}{number}" for number in range(2000)) + "\n") for letter in "ab")
    assert " … 3400 more changed words" in text(reviewed({"a": before}, {"a": after}))


def test_what_cannot_be_read_comes_first_and_before_either_is_one_line() -> None:
    shown = text(reviewed({"a": None, "b": None, "c": RULE}, {"a": None, "b": None, "c": None}))
    assert shown.split("\n\n")[1].splitlines() == [
        "Cannot be read",
        "  app/rules/c.md in new: cannot be read: it refuses; on the other side: invariant app/rules/c “Times are UTC”",
        "  2 files on both sides; `mdmem check` shows why",
    ]


def test_merging_and_answers_are_told() -> None:
    found = reviewed(OLD, NEW)
    before, after = found.beliefs[0].before, found.beliefs[0].after
    assert before is not None
    one = Finding("two-successors", "both claim it", Place("app/rules/b.md", 3), severity=Severity.ERROR)
    merging = MergeCheck("merging b into main", True, (one,), older=2)
    answer = AnswerPair("speed", SideAnswer((before,), covered=True), SideAnswer(after))
    more = ReviewReport(before="old", after="new", merging=merging, answers=(answer,))
    assert text(more).split("\n\n")[1:] == [
        (
            "Findings after the merge\n"
            "  merging b into main brings 1 new finding; 2 were there before\n"
            "  error app/rules/b.md:3 two-successors both claim it"
        ),
        ("Answers\n  asked speed\n    before: [-app/rules/a-]\n    after: {+app/rules/b+} (not clearly covered)"),
    ]


def test_long_list_is_cut_and_the_rest_is_counted() -> None:
    place = Place("app/rules/b.md", 3)
    warnings = (Finding("body-empty", "it is empty", place, severity=Severity.WARNING),) * 130
    report = ReviewReport(before="old", after="new", merging=MergeCheck("a merge", True, warnings))
    assert text(report).endswith("\n  30 more; --format json has all")


def test_json_has_every_part() -> None:
    told = json.loads(dump(review_json(reviewed(OLD, NEW))))
    assert list(told) == [
        *("schema", "changed", "before", "after", "remarks", "unread", "counts", "transitions"),
        *("bearings", "proposed", "beliefs"),
        *("rewordings", "edits", "dependents", "covered", "moves", "no_ops", "contradictions"),
        *("merging", "answers", "page_url"),
    ]
    assert (told["schema"], told["changed"], told["counts"]["added"]) == (1, True, 1)
    assert (told["beliefs"][0]["reason"], told["beliefs"][0]["was_there"]) == ("it was slow", [])


def test_markdown_of_very_much_is_cut_and_says_so() -> None:
    before = {f"e{number}": entry_text(f"{ARTICLE}{number} " + "x" * 200 + "\n") for number in range(400)}
    after = {name: words.replace("second", "minute " * 60) for name, words in before.items()}
    shown = review_markdown(reviewed(before, after))
    assert len(shown) <= LIMIT
    assert re.search(r"- \d+ more lines omitted; `mdmem diff` shows all\.", shown)


def test_long_part_does_not_push_out_the_short_ones() -> None:
    texts = {f"e{number}": entry_text(f"{number}\n", title="t" * 190) for number in range(900)}
    draft = entry_text("Not yet.\n", status="draft", title="Draft")
    after = {**texts, "z": successor("y"), "y": superseded("z"), "d": draft}
    shown = review_markdown(reviewed({"y": OLD["a"]}, after))
    assert len(shown) <= LIMIT
    assert "### Status and relations\n\n- decision `app/rules/d` “Draft”: new → draft\n" in shown
    assert "because it was slow" in shown


# Between two blanks each.
_PIECES = (
    "<!-- mdmem diff -->  -->  <script>  ```  ``  `  @ada  #12  GH-7  owner/repo#3  |  | --- |  [x](http://e.org)  "
    "![i](//e.org)  www.example.org  https://e.org  &lt;  **b**  </details>  ~~x~~  !5  $3  %4  &6  * item  # title  "
    "1. one  > quote  ---  \\  _x_  abcdef0  \u202e  \x1b[31m"
)
HOSTILE = st.lists(st.sampled_from(_PIECES.split("  ")), min_size=1, max_size=12).map(" ".join)
_OURS = re.compile(r"</?(?:code|ins|del)>|\*\*")
# An escaped character, or code: there is no escape inside code.
_SHOWN = re.compile(r"<code>.*?</code>|\\[!-/:-@\[-`{-~]|`[^`\n]*`")


@given(HOSTILE, HOSTILE, HOSTILE)
def test_nothing_quoted_is_read_as_markup(title: str, words: str, reason: str) -> None:
    title_, reason_ = json.dumps(title), json.dumps(reason)
    fields = {"title": title_, "reason": reason_, "owner": reason_, "tags": f"[{json.dumps(words)}]"}
    before = {"a": entry_text(f"{words}\n", **fields), "c": entry_text(f"{title}\n", type="invariant")}
    after = {
        "a": superseded("b", **fields),
        "b": successor("a", **fields),
        "c": entry_text(f"{words}\n", type="invariant", **fields),
        "d": entry_text(f"{words}\n", status="draft", **fields | {"supersedes": ["app/rules/c"]}),
    }
    shown = review_markdown(reviewed(before, after))
    assert (shown.count(MARKER), len(shown) <= LIMIT) == (1, True)
    rest = _OURS.sub("", _SHOWN.sub("", shown.removeprefix(MARKER)))
    assert not set("<>`|*[]~\\\x1b\u202e") & set(rest)
    # In code no mention and no reference counts.
    apart = shown.replace("&#8203;", "\u200b")
    unlinked = _OURS.sub("", re.sub(r"&#\d+;", "", _SHOWN.sub("", apart)))
    assert not re.search(r"@\w|#\w|GH-\d|www\.|://|!\d|\$\d|%\d", re.sub(r"^#+ ", "", unlinked, flags=re.MULTILINE))
    ours = re.compile(r"( {2})*- |#{2,3} |$")
    started = [line for line in unlinked.splitlines()[1:] if not ours.match(line)]
    assert set(started) == {" → "}


@pytest.mark.parametrize(
    ("url", "environment", "page"),
    [
        ("https://a/pr-{change}/diff.html", {"GITHUB_REF": "refs/pull/12/merge"}, "https://a/pr-12/diff.html"),
        ("https://a/{run}", {"GITHUB_RUN_ID": "7"}, "https://a/7"),
        ("https://a/{change}", {"CI_MERGE_REQUEST_IID": "3"}, "https://a/3"),
        ("https://a/{change}", {"GITHUB_REF": "refs/heads/main"}, None),
        ("https://a/{change}", {"CI_MERGE_REQUEST_IID": "3)<script>"}, None),
        (None, {"GITHUB_RUN_ID": "7"}, None),
    ],
)
def test_page_of_a_change_is_named_by_the_job(url: str | None, environment: dict[str, str], page: str | None) -> None:
    assert diff_page(url, environment) == page
