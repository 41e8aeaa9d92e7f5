"""Test that this project's own memory is clean and applies to existing files, and the example memories."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from builders import Capture, run_here

from mdmem.ask.facets import Facet
from mdmem.cli.main import run

TOP = Path(__file__).parents[1]
ROOT = TOP / "example-wings"
OWN = ROOT / "mdmem"
# A module, a glob, or a folder in backticks; an address has none of their ends.
PATH = re.compile(r"[\w<>*-][\w./<>*-]*(?:\.py\b|/\*\*?)|(?<=`)[\w<>*-][\w./<>*-]*/(?=`)")


def test_example_wings_have_no_error_and_their_warnings_are_the_deliberate_conflicts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MDMEM_TODAY", "2026-11-23")
    code = run(["check", "--root", str(ROOT), "--format", "concise"])
    found = [line.split(" ")[1:3] for line in capsys.readouterr().out.splitlines()]
    assert (code, found) == (0, [["warning", "conflict-unresolved"]] * 3)


def test_own_rules_apply_to_files_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["check", "--root", str(ROOT), "--strict", "--select", "applies-to-nothing", f"{ROOT}/mdmem"])
    assert code == 0, capsys.readouterr().out


def texts() -> dict[str, str]:
    """Return the entries of our own wing that have not ended, by their path in it."""
    found = {str(path.relative_to(OWN)): path.read_text(encoding="utf-8") for path in sorted(OWN.rglob("*.md"))}
    return {name: text for name, text in found.items() if "\nstatus: deprecated\n" not in text}


def exists(pattern: str) -> bool:
    """Return whether a path or glob matches a file; `<name>` matches any name."""
    return next(TOP.glob(re.sub("<[a-z]+>", "*", pattern).rstrip("/")), None) is not None


def test_paths_that_own_entries_name_are_whole_and_exist() -> None:
    named = {(name, path) for name, text in texts().items() for path in PATH.findall(text)}
    assert named
    assert [pair for pair in sorted(named) if not pair[1].startswith(("mdmem/", "tests/", "example-wings/"))] == []
    assert [pair for pair in sorted(named) if not exists(pair[1])] == []


EXAMPLES = Path(__file__).parents[1] / "example-wings"
REVIEW = ("review how the ingest accepts or rejects late readings of a gauge", "--path", "src/ingest/late.py")
WING = "tidewatch"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """Return the wings as somebody has them who got them without git: nothing in them is only proposed."""
    shutil.copytree(EXAMPLES, tmp_path / "memory")
    return tmp_path


def asked(memory: Path, capsys: Capture, *arguments: str) -> dict[str, Any]:
    ran = run_here(capsys, *arguments, "--root", "memory", "--format", "json", cwd=memory)
    assert ran.code == 0
    answer: dict[str, Any] = json.loads(ran.out)
    return answer


def test_policy_example_has_all_but_some_notes_without_pressure(memory: Path, capsys: Capture) -> None:
    answer = asked(memory, capsys, "retrieve", *REVIEW, "--wing", WING, "--budget", "5000")
    found = Counter(item["type"] for item in answer["items"])
    assert found == {"invariant": 2, "decision": 3, "pattern": 6, "note": 9 - sum(answer_counts(answer).values())}


def answer_counts(answer: dict[str, Any]) -> Counter[str]:
    """Count by type what an answer leaves out."""
    counts = Counter({one["type"]: one["count"] for one in answer["omitted_counts"]})
    return counts + Counter(one["type"] for one in answer["omitted"])


def test_policy_example_keeps_what_binds_under_pressure(memory: Path, capsys: Capture) -> None:
    asked_for = ("retrieve", *REVIEW, "--wing", WING, "--budget", "800", "--root", "memory")
    said = run_here(capsys, *asked_for, cwd=memory).out
    heads = re.findall(r"^\[(\w+)\] \S+/(\S+): .*?(excerpt)?\)?$", said, re.MULTILINE)
    assert heads == [
        ("invariant", "no-reading-is-dropped-in-silence", ""),
        ("invariant", "water-levels-are-millimetres", ""),
        ("decision", "ingest-writes-through-an-append-only-log", ""),
        ("decision", "late-readings-replace-estimates", ""),
        ("pattern", "reject-with-a-cause", "excerpt"),
        ("pattern", "replay-the-log-after-a-fix", "excerpt"),
    ]
    assert "\nOmitted: " in said


_FILES = ("CheckoutForm.tsx", "useSubmitOrder.ts", "draft.ts", "address.tsx", "retry.ts")
CHECKOUT = [f"src/checkout/{name}" for name in _FILES]


def test_five_files_of_the_checkout_are_one_small_answer_or_five_within_a_session(
    memory: Path, capsys: Capture
) -> None:
    def said(words: str, *arguments: str) -> str:
        return run_here(capsys, "retrieve", words, "--wing", "myapp", *arguments, "--root", "memory", cwd=memory).out

    paths = [part for path in CHECKOUT for part in ("--path", path)]
    whole = said("add a retry to the checkout form", *paths)
    assert len(whole.encode()) <= 10_000
    for address in (
        "myapp/components/one-idempotency-key-per-order",
        "myapp/components/controlled-checkout-form",
        "myapp/components/checkout-draft-survives-reload",
        "myapp/contracts/money-in-minor-units",
        "myapp/architecture/no-personal-data-in-web-storage",
    ):
        assert re.search(rf"^\[(invariant|decision)\] {address}: .*\n  \S", whole, re.MULTILINE)
    each = [said(f"change {Path(path).stem} of the checkout", "--path", path, "--session", "s") for path in CHECKOUT]
    assert sum(len(text.encode()) for text in each) <= 16_384


def test_goal_brings_every_facet(memory: Path, capsys: Capture) -> None:
    goal = "plan how the gauges stop falling silent at spring tide"
    pack = asked(memory, capsys, "context", goal, "--project", WING, "--layer", "deep_search")
    assert sorted(section["facet"] for section in pack["sections"]) == sorted(Facet)
