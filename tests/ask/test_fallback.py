"""Test the answer when the memory cannot be read: from docs, README, then a search of the workspace."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from builders import Run, commit_all, git, make_repository, open_root, run_mdmem, without_rights, write

from mdmem.ask.answer import Passage
from mdmem.ask.fallback import lines_outside, search_outside

from .builders import make_wings, put

DOCS = "# Architecture\n\nThe queue retries.\n\n---\n\nLocks are held briefly.\n"
README = "# Project\n\nA queue for everybody.\n"


def answered(run: Run, folder: Path, *arguments: str) -> dict[str, object]:
    """Return the JSON answer of a retrieval, which exits 0."""
    ran = run("retrieve", *arguments, "--format", "json", cwd=folder)
    assert (ran.code, ran.err) == (0, "")
    answer: dict[str, object] = json.loads(ran.out)
    return answer


def sources(answer: Mapping[str, object]) -> tuple[object, object, list[tuple[str, int, str]]]:
    """Return source, whether the answer is degraded, and what was found outside the memory."""
    passages = [(one["path"], one["line"], one["text"]) for one in answer["fallback"]]
    return answer["source"], answer["degraded"], passages


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository without a memory, which has docs, a README and code."""
    made = make_repository(tmp_path / "repository")
    write(made, "docs/architecture.md", DOCS)
    write(made, "README.md", README)
    write(made, "src/queue.py", "# timeout of a queue\nTIMEOUT = 5\n")
    commit_all(made)
    return made


# The lines of the three sources about a queue.
OF_A_QUEUE = [
    ("docs/architecture.md", 3, "The queue retries."),
    ("README.md", 3, "A queue for everybody."),
    ("src/queue.py", 1, "# timeout of a queue"),
]


@pytest.mark.parametrize(
    ("words", "source", "lines"),
    [
        (("the queues", "queue"), "docs", OF_A_QUEUE),
        (("everybody",), "readme", [("README.md", 3, "A queue for everybody.")]),
        (("timeout",), "workspace", [("src/queue.py", 1, "# timeout of a queue"), ("src/queue.py", 2, "TIMEOUT = 5")]),
        (("nowhere",), "workspace", []),
        # Without words, it is the text of docs and README.
        (
            (),
            "docs",
            [
                ("docs/architecture.md", 1, "# Architecture"),
                ("docs/architecture.md", 3, "The queue retries."),
                ("docs/architecture.md", 7, "Locks are held briefly."),
                ("README.md", 1, "# Project"),
                ("README.md", 3, "A queue for everybody."),
            ],
        ),
    ],
)
def test_answer_without_a_memory_names_the_first_source_that_has_a_line(
    words: tuple[str, ...], source: str, lines: list[tuple[str, int, str]], repository: Path, run: Run
) -> None:
    found = answered(run, repository / "src", *words)
    assert sources(found) == (source, True, lines)
    assert (found["items"], found["covered"], found["scope"]["state"]) == ([], False, "unresolved")


def test_answer_outside_git_searches_the_files(tmp_path: Path, run: Run) -> None:
    write(tmp_path, "notes/a.md", "A timeout.\n")
    assert sources(answered(run, tmp_path, "timeout")) == ("workspace", True, [("notes/a.md", 1, "A timeout.")])


def test_answer_as_text_says_where_it_comes_from(repository: Path, run: Run) -> None:
    ran = run("retrieve", "queue", cwd=repository)
    assert ran.out.startswith("Degraded: no memory here: no mdmem.toml in ")
    assert "; this answer comes from docs/architecture.md, README.md, src/queue.py.\n" in ran.out
    assert "docs/architecture.md:3: The queue retries." in ran.out
    assert "othing binding" not in ran.out
    assert "comes from" not in (nothing := run("retrieve", "nowhere", cwd=repository).out)
    assert nothing.endswith("\n0 of 1500 tokens\n")
    # Without words, no index is needed.
    assert run("retrieve", cwd=make_wings(repository)).out.endswith(" tokens; from the files\n")


def test_root_that_is_named_and_is_none_is_a_usage_error(repository: Path, run: Run) -> None:
    ran = run("--root", "nowhere", "retrieve", "queue", cwd=repository)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("mdmem: there is no folder nowhere")


def test_memory_of_broken_files_alone_answers_with_problems_and_the_fallback(repository: Path, run: Run) -> None:
    root = make_wings(repository)
    write(root, "app/a/rule.md", "no front matter\n")
    found = answered(run, root, "queue")
    assert sources(found)[:2] == ("docs", True)
    assert [one["path"] for one in found["problems"]] == ["app/a/rule.md"]
    text = run("retrieve", "queue", "--ask", "queue", cwd=root).out
    assert "There is no readable entry yet." in text
    assert "\nSource: the files; not read: web" in text


def test_memory_that_a_sparse_checkout_leaves_out_answers_with_the_fallback(repository: Path, run: Run) -> None:
    put(make_wings(repository), "app/a/rule", "Queue", type="invariant")
    commit_all(repository)
    git(repository, "sparse-checkout", "set", "--no-cone", "/*", "!/memory/app/a/")
    assert sources(answered(run, repository, "queue")) == ("docs", True, OF_A_QUEUE)
    for command in ("retrieve", "context"):
        ran = run(command, "queue", cwd=repository)
        assert (ran.code, "type `git sparse-checkout add memory`" in ran.out) == (0, True), ran
        assert "here is no memory" not in ran.out
        assert "ontinue without" not in ran.out


def test_memory_that_covers_nothing_gives_a_few_lines_beside_it_and_is_no_fault(repository: Path, run: Run) -> None:
    root = make_wings(repository)
    put(root, "app/a/idea", "Queue", status="draft")
    commit_all(repository)
    found = answered(run, root, "queue")
    assert (sources(found), found["coverage"]) == (("index", False, OF_A_QUEUE), "none")
    assert "Outside the memory, not binding:\n  docs/architecture.md:3: " in run("retrieve", "queue", cwd=root).out
    put(root, "app/a/choice", "Queue")
    commit_all(repository)
    assert sources(answered(run, root, "queue"))[2] == []
    # An export is a copy of the memory, here an old one.
    for form in (["agents-md"], ["madr", "--out", "docs/decisions"]):
        assert "wrote" in run("export", *form, cwd=repository).out
    put(root, "app/a/choice", "Queue", status="deprecated", deprecated_at="2026-03-06", deprecated_reason="slow")
    commit_all(repository)
    assert sources(answered(run, root, "queue"))[2] == OF_A_QUEUE


def test_lines_beside_the_memory_hold_most_of_the_words_and_are_few(repository: Path, run: Run) -> None:
    root = make_wings(repository)
    write(repository, "docs/architecture.md", "A timeout.\n" + "A queue has a timeout.\n" * 9)
    write(repository, "README.md", "queue timeout lock " + "x" * 200 + "\n")
    found = answered(run, root, "timeout of the queue lock")
    assert [one["line"] for one in found["fallback"]] == [1, 2, 3, 4, 5]
    assert (found["fallback"][0]["path"], found["fallback"][1]["path"]) == ("README.md", "docs/architecture.md")


def test_lines_that_tell_agents_of_mdmem_itself_are_no_source(repository: Path, run: Run) -> None:
    run("init", "--wing", "shop", "--no-hook", cwd=repository)
    agents = (repository / "AGENTS.md").read_text()
    assert "Before you change code" in agents
    (repository / "AGENTS.md").write_text(f"Change code in small steps.\n\n{agents}")
    commit_all(repository)
    expected = [("AGENTS.md", 1, "Change code in small steps.")]
    assert sources(answered(run, repository, "before I change code ask only in other words"))[2] == expected
    (repository / "memory" / "mdmem.toml").unlink()
    assert sources(answered(run, repository, "before I change code ask only in other words"))[2] == expected


def test_search_beside_the_memory_that_takes_too_long_gives_the_documents(repository: Path) -> None:
    root = make_wings(repository)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mdmem.ask.fallback._SECONDS", 1e-9)
        assert [one.path for one in lines_outside(open_root(root), "queue")] == ["docs/architecture.md", "README.md"]


# --- without the right to read ---


def unprivileged(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line where it cannot read what its mode forbids, root or not."""
    if os.name != "posix":
        pytest.skip("modes forbid nothing here")
    return run_mdmem(*arguments, cwd=cwd, first=without_rights())


@pytest.mark.parametrize(
    "locked", ["memory", "memory/app", "memory/app/a", "memory/app/a/rule.md", "memory/mdmem.toml"]
)
def test_what_may_not_be_read_is_a_problem_and_never_nothing_binding(locked: str, repository: Path) -> None:
    root = make_wings(repository)
    put(root, "app/a/rule", "Queue", type="invariant")
    # git tracks the settings, so that the root is found from the top without reading it.
    commit_all(repository)
    path = repository / locked
    mode = path.stat().st_mode
    path.chmod(0)
    try:
        mdmem = ("retrieve", "queue", "--wing", "app")
        ran = unprivileged(*mdmem, "--format", "json", cwd=repository)
        text = unprivileged(*mdmem, cwd=repository)
    finally:
        path.chmod(mode)
    assert (ran.returncode, text.returncode) == (0, 0), ran.stderr
    answer = json.loads(ran.stdout)
    assert [one["path"] for one in answer["problems"]] == [locked.removeprefix("memory/") if "/" in locked else "."]
    assert "othing binding" not in text.stdout
    if locked == "memory/mdmem.toml":
        assert [one["address"] for one in answer["items"]] == ["app/a/rule"]
    else:
        assert sources(answer) == ("docs", True, OF_A_QUEUE)


# --- the lines of each source ---


def test_word_of_two_letters_is_no_part_of_another(repository: Path, run: Run) -> None:
    write(repository, "src/go.py", "go = 1\ncargo\n")
    commit_all(repository)
    assert sources(answered(run, repository, "go"))[2] == [("src/go.py", 1, "go = 1")]


def test_sources_share_a_bounded_number_of_short_lines(tmp_path: Path) -> None:
    for path in ("docs/architecture.md", "README.md"):
        write(tmp_path, path, "queue " * 99 + "\n" + "queue\n" * 99)
    write(tmp_path, "notes.md", "queue\nlock\n")
    write(tmp_path, "sub/notes.md", "A Queue\n")
    write(tmp_path, "code.py", "queue\n")
    _, passages = search_outside(tmp_path, None, "Queue")
    assert Counter(one.path for one in passages) == {
        "docs/architecture.md": 12,
        "README.md": 6,
        "notes.md": 1,
        "sub/notes.md": 1,
    }
    assert (len(passages[0].text), passages[0].text[-8:]) == (240, "e queue…")


def test_document_that_is_not_utf8_is_read(tmp_path: Path) -> None:
    write(tmp_path, "README.md", b"caf\xe9 queue\n")
    assert search_outside(tmp_path, None, "queue") == ("readme", (Passage("README.md", 1, "caf\ufffd queue"),))
