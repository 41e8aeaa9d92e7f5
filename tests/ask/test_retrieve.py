"""Test the answer without its items: contradictions, unreadable files, and that it is the same each time."""

import json
from itertools import combinations, permutations
from pathlib import Path

import pytest
from builders import Run, commit_all, entry, make_repository, run_mdmem, write

from mdmem.ask.answer import Answer, Coverage
from mdmem.ask.rank import coverage_of
from mdmem.model.entry import EntryType
from mdmem.store.index import Match
from mdmem.store.index.fulltext import FOLDER

from .builders import found, make_wings, names, put


def told(retrieval: Answer) -> list[tuple[str, str, str]]:
    return [(one.a, one.b, one.why) for one in retrieval.basis.conflicts]


def troubles(retrieval: Answer) -> list[tuple[str, str]]:
    """Return path and code of what could not be read."""
    return [(finding.place.path, finding.code) for finding in retrieval.basis.problems]


# --- contradictions ---


@pytest.mark.parametrize("where", ["first", "second", "both"])
# The other two have one subject, too.
@pytest.mark.parametrize("pair", [("app/a/x", "app/a/y"), ("lib/b/threads", "zoo/a/threads")])
def test_conflict_is_reported_once_whichever_end_declares_it(pair: tuple[str, str], where: str, root: Path) -> None:
    write(root, "mdmem.toml", f'default_wing = "{pair[1][:3]}"\n')
    for this, other, end in (*pair, "first"), (*pair[::-1], "second"):
        put(root, this, f"Queue of {this}", conflicts_with=[other] if where in (end, "both") else [])
    answer = found(root, "queue")
    assert sorted(names(answer.items)) == [*pair]
    assert told(answer) == [(*pair, "declared in `conflicts_with`")]


def test_conflict_is_reported_where_one_end_alone_is_an_item(root: Path) -> None:
    put(root, "app/a/x", "Queue")
    put(root, "app/a/y", "Lock", conflicts_with=["app/a/x"])
    assert told(found(root, "queue")) == [("app/a/x", "app/a/y", "declared in `conflicts_with`")]
    assert told(found(root, "timeout")) == []


def test_conflict_with_what_ended_or_is_a_draft_is_none(root: Path) -> None:
    put(root, "app/a/x", "Queue", conflicts_with=["app/a/old", "app/a/idea", "app/a/nowhere"])
    put(root, "app/a/old", "Queue", status="deprecated", conflicts_with=["app/a/x"])
    put(root, "app/a/idea", "Queue", status="draft", conflicts_with=["app/a/x"])
    assert told(found(root, "queue")) == []


def test_conflict_of_project_and_shared_entry_on_one_subject_is_reported(root: Path) -> None:
    put(root, "app/a/threads", "Use two threads for the queue")
    put(root, "lib/b/threads", "Something else about a queue")
    put(root, "lib/b/other", "Use two threads in the queue")
    answer = found(root, "queue")
    assert told(answer) == [
        ("app/a/threads", "lib/b/other", "one subject, and no `overrides`: their titles share 71% of their words"),
        ("app/a/threads", "lib/b/threads", "one subject, and no `overrides`: both have the same entry-id"),
    ]
    assert names(answer.items)[0] == "app/a/threads"


@pytest.mark.parametrize("field", ["overrides", "see"])
def test_conflict_on_one_subject_is_none_where_the_project_says_how_they_stand(field: str, root: Path) -> None:
    put(root, "app/a/threads", "Queue", **{field: ["lib/b/threads"]})
    put(root, "lib/b/threads", "Queue")
    assert told(found(root, "queue")) == []


def test_conflict_of_two_successors_is_reported_unless_the_old_entry_says_why(root: Path) -> None:
    put(root, "app/a/x", "Left", supersedes=["app/a/old"])
    put(root, "app/a/y", "Right", supersedes=["app/a/old"])
    split = {"status": "deprecated", "superseded_by": ["app/a/x", "app/a/y"]}
    put(root, "app/a/old", "Queue", **split)
    assert told(found(root, "queue")) == [("app/a/x", "app/a/y", "both supersede app/a/old")]
    put(root, "app/a/old", "Queue", reason="two concerns", **split)
    answer = found(root, "queue")
    assert (names(answer.items), told(answer)) == (["app/a/x", "app/a/y"], [])


# --- what cannot be read ---


def test_broken_file_out_of_scope_is_none(root: Path) -> None:
    for path in ("web/a/rule.md", "app/b/rule.md", "lib/a/rule.md"):
        write(root, path, "no front matter\n")
    put(root, "app/a/choice", "Queue")
    code = "front-matter-fence"
    assert troubles(found(root, "queue")) == [("app/b/rule.md", code), ("lib/a/rule.md", code)]
    # Each may be an invariant, and no room leaves one out.
    assert troubles(found(root, "queue", rooms=("a",))) == [("app/b/rule.md", code), ("lib/a/rule.md", code)]
    assert troubles(found(root, "queue", wings=("web",), types=(EntryType.NOTE,)))[-1] == ("web/a/rule.md", code)


def test_broken_manifest_is_a_problem(root: Path) -> None:
    write(root, "app/README.md", "---\nshared_wings: [lib\n---\n")
    put(root, "app/a/choice", "Queue")
    assert troubles(found(root, "queue", rooms=("a",))) == [("app/README.md", "manifest-invalid")]


@pytest.mark.parametrize("field", ["applies_to: {a: b}", "expires_at: 2026-02-30", "overrides: {a: b}"])
def test_entry_whose_decisive_field_cannot_be_read_is_an_item_and_a_problem(field: str, root: Path) -> None:
    write(root, "app/a/rule.md", f"---\ntype: invariant\nstatus: active\ncreated_at: 2026-03-05\n{field}\n---\nRule.\n")
    answer = found(root)
    assert names(answer.items) == ["app/a/rule"]
    assert [path for path, _ in troubles(answer)] == ["app/a/rule.md"]


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_answer_with_a_broken_file_never_says_that_nothing_binds(form: str, root: Path, run: Run) -> None:
    put(root, "app/a/choice", "Queue")
    silent = run("retrieve", "timeout", "--format", form, cwd=root).out
    assert silent.startswith(
        "No binding rule is about this. No entry of app or lib contains timeout. Searched 1 room.\n"
    )
    quoted = run("retrieve", 'timeout of "a lost message"', "--format", form, cwd=root).out
    assert 'No entry of app or lib contains timeout or "a lost message".' in quoted
    for paths, subject in (
        ((), "this"),
        (("x.py",), "this file in particular"),
        (("x.py", "y"), "these files in particular"),
    ):
        given = (f"--path={one}" for one in paths)
        of_files = run("retrieve", "--type", "invariant", *given, "--format", form, cwd=root).out
        assert of_files.startswith(f"No binding rule is about {subject}. Searched 1 room.\n")
    write(root, "app/a/rule.md", "no front matter\n")
    ran = run("retrieve", "timeout", "--format", form, cwd=root)
    assert ran.code == 0
    assert ran.out.startswith("1 file of this scope cannot be read in full, and may apply:\n  app/a/rule.md:1: ")
    assert "No binding rule" not in ran.out


def test_session_is_told_in_full_once_which_files_cannot_be_read(root: Path, run: Run) -> None:
    def said(*options: str) -> str:
        return run("retrieve", "timeout", *options, cwd=root).out

    write(root, "app/a/rule.md", "no front matter\n")
    whole = "1 file of this scope cannot be read in full, and may apply:\n  app/a/rule.md:1: "
    assert said("--session", "one").startswith(whole)
    assert said("--session", "one").startswith("1 file still cannot be read in full (`mdmem check`)\n\n")
    assert all(
        said(*options).startswith(whole) for options in ((), ("--session", "two"), ("--session", "one", "--fresh"))
    )
    write(root, "app/a/other.md", "no front matter\n")
    assert said("--session", "one").startswith("2 files of this scope cannot be read in full, and may apply: ")


# --- the same answer each time ---


def busy(folder: Path) -> Path:
    """Return a memory in which many things are equal, in a repository."""
    root = make_wings(make_repository(folder))
    for number in range(12):
        kind = list(EntryType)[number % 4]
        links = {"conflicts_with": [f"lib/b/e{number + 4}"], "tags": ["x", "y"]}
        put(root, f"app/a/e{number}", "Queue and lock", type=kind, **(links if number < 8 else {"status": "draft"}))
        put(root, f"lib/b/e{number}", "Queue and lock", type=kind)
    put(root, "app/a/old", "Queue", status="deprecated", superseded_by=["app/a/e1", "app/a/e2"])
    write(root, "app/a/broken.md", "no front matter\n")
    commit_all(folder)
    return root


@pytest.mark.parametrize("command", ["retrieve", "search"])
def test_answer_is_the_same_bytes_in_another_process_with_another_hash_seed(command: str, tmp_path: Path) -> None:
    root = busy(tmp_path)
    arguments = [command, "queue lock timeout", "--format", "json", "--include-drafts"]
    # What is forked has the seed that chance gave to this run.
    answers = [run_mdmem(*arguments, cwd=root, env=seed) for seed in ({"PYTHONHASHSEED": "1"}, {})]
    assert answers[0].returncode == 0
    assert len(json.loads(answers[0].stdout)["items" if command == "retrieve" else "hits"]) >= 10
    assert answers[0].stdout == answers[1].stdout


def test_coverage_depends_on_no_order_of_the_words() -> None:
    rule = entry("app/a/rule", title="Rule")
    for terms in combinations(("bolt", "disc", "fork", "gear", "lamp", "pump", "ramp"), 3):
        match, body = Match(rule.address, 1.0, frozenset(terms)), f"A {' '.join(terms)}.\n"
        # In binary, 0.1 + 0.2 + 0.3 is more than 0.3 + 0.2 + 0.1.
        for weights in permutations(zip(terms, (0.1, 0.2, 0.3), strict=True)):
            coverage = coverage_of(dict(weights), [(rule, match)], lambda _, body=body: body, 1, has_unknown=False)
            assert coverage is Coverage.FULL


@pytest.mark.parametrize(
    ("title", "bolt", "cord", "total", "has_unknown", "coverage"),
    [
        ("Rule", 0.3, 0.3, 1, False, Coverage.PARTIAL),
        ("Rule", 0.3, 0.3, 50, False, Coverage.PARTIAL),
        # In a large memory, some passage has two words by chance.
        ("Rule", 0.3, 0.3, 500, False, Coverage.NONE),
        # One word with the same share is less evidence than two, but a word of the title is more.
        ("Rule", 0.6, 0.0, 50, False, Coverage.NONE),
        ("Bolts", 0.45, 0.0, 50, False, Coverage.PARTIAL),
        # The passage lacks a little, but if no entry contains the word, it may be the one that the question is about.
        ("Rule", 0.45, 0.45, 50, False, Coverage.FULL),
        ("Rule", 0.45, 0.45, 500, False, Coverage.PARTIAL),
        ("Rule", 0.45, 0.45, 50, True, Coverage.PARTIAL),
    ],
)
def test_coverage_needs_more_of_the_words_in_a_large_memory(
    title: str, bolt: float, cord: float, total: int, has_unknown: bool, coverage: Coverage
) -> None:
    rule = entry("app/a/rule", title=title)
    match = Match(rule.address, 1.0, frozenset({"bolt"}))
    weights = {"bolt": bolt, "cord": cord, "disc": 1 - bolt - cord}
    body = "A bolt and a cord.\n"
    assert coverage_of(weights, [(rule, match)], lambda _: body, total, has_unknown=has_unknown) is coverage


def test_answer_is_the_same_from_index_scan_and_revision(tmp_path: Path, run: Run) -> None:
    root = busy(tmp_path)
    arguments = ["retrieve", "queue lock timeout", "--format", "json"]
    first = json.loads(run(*arguments, cwd=root).out)
    assert first["source"] == "index"
    cache = tmp_path / ".git" / "mdmem" / "cache"
    assert (cache / "memory" / FOLDER).is_dir()
    for text in cache.glob(f"*/{FOLDER}"):
        text.rename(text.with_name("away"))
        text.write_text("a file stands where the index belongs")
    scanned = json.loads(run(*arguments, cwd=root).out)
    assert (scanned["source"], scanned["degraded"]) == ("scan", True)
    revised = json.loads(run(*arguments, "--at", "HEAD", cwd=root).out)
    apart = {"source": None, "degraded": None, "tokens": None}
    # Without an index nobody searches for mentions.
    for answer in (first, scanned, revised):
        for item in answer["items"]:
            item.pop("beneath", None)
    assert first | apart == scanned | apart == revised | apart
