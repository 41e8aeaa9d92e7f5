"""Recorded answers in files: one for each root and command."""

import difflib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

RECORDED = Path(__file__).parent / "recorded"
Recorded = dict[str, str]
"""What was asked, and what is kept of the answer."""


def group_of(root: str, question: str) -> str:
    """Return the recording that a question of a root is in."""
    return root if root in ("cases", "merges") else f"{root}-{question.split()[0]}"


def write_recordings(root: str, answers: Recorded) -> None:
    """Replace the recordings of a root."""
    for old in RECORDED.glob(f"{root}*.txt"):
        old.unlink()
    texts: dict[str, str] = defaultdict(str)
    for question, answer in sorted(answers.items()):
        texts[group_of(root, question)] += f"$ {question}\n{answer}\n"
    for group, text in texts.items():
        (RECORDED / f"{group}.txt").write_text(text, encoding="utf-8", newline="")


def read_recordings(root: str) -> Recorded:
    """Return all that is recorded of a root."""
    found: dict[str, list[str]] = {}
    for file in sorted(RECORDED.glob(f"{root}*.txt")):
        with file.open(encoding="utf-8", newline="") as stream:
            for line in stream.read().removesuffix("\n").split("\n"):
                if line.startswith("$ "):
                    found[line[2:]] = lines = []
                else:
                    lines.append(line)
    return {question: "\n".join(lines) for question, lines in found.items()}


def passes_now(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the cases and merges that were refused and now pass."""
    return [name for name, said in now.items() if _code(said) == 0 and _code(before.get(name, "exit 0")) != 0]


def _code(answer: str) -> int:
    return int(answer.split("\n", 1)[0].removeprefix("exit "))


def differences(before: Recorded, now: Recorded) -> Iterator[tuple[str, str]]:
    """Yield each question whose answer differs, with a unified diff."""
    for question in sorted(before.keys() | now.keys()):
        old, new = (found.get(question, "not asked").split("\n") for found in (before, now))
        if old != new:
            yield question, "\n".join(difflib.unified_diff(old, new, "recorded", "now", n=1, lineterm=""))
