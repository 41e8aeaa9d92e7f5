"""Ask the questions of a root, and say what is kept of each answer."""

import hashlib
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from .program import Answer, Program

QUESTIONS = Path(__file__).parent / "questions"
TEXTS = ("message", "score", "address", "path", "type", "form", "code")


def read_questions(root: str) -> list[list[str]]:
    """Return the commands asked of a root; a line begins with `t` for text, `j` for JSON, or `tj`."""
    found = []
    for line in (QUESTIONS / f"{root}.txt").read_text(encoding="utf-8").splitlines():
        forms, _, words = line.partition(" ")
        command = shlex.split(words, comments=True)
        if command:
            found += [command] if "t" in forms else []
            found += [[*command, "--format", "json"]] if "j" in forms else []
    return found


def ask_all(questions: list[list[str]], program: Program, root: Path, *, in_full: bool) -> dict[str, str]:
    """Return what each question gave, by command line."""
    found: dict[str, str] = {}
    times: Counter[str] = Counter()
    for one in questions:
        question = shlex.join(one)
        times[question] += 1
        found[f"{question}  # again" * (times[question] > 1) or question] = _kept(
            program.ask(root, *one), root, in_full=in_full
        )
    return found


def _kept(answer: Answer, root: Path, *, in_full: bool) -> str:
    out, err = (text.replace(str(root.parent), "<top>") for text in answer[1:])
    lines = [f"exit {answer.code}", *(f"! {line}" for line in err.split("\n") if line)]
    if not in_full:
        return "\n".join([*lines, *_outline(out)])
    return "\n".join([*lines, *(f"| {line}" for line in out.split("\n"))])


def _outline(out: str) -> Iterator[str]:
    """Yield addresses, types, forms and digests, in order: the texts of the corpora are not ours to keep."""
    try:
        yield from list(_objects(json.loads(out))) or [f"| {_digest(out)}"]
    except ValueError:
        yield f"| {_digest(out)}"
        yield from (f"| {address}" for address in re.findall(r"(?<![\w/])\w+/[\w-]+/[\w-]+", out))


def _objects(found: object) -> Iterator[str]:
    if isinstance(found, dict):
        place = found.get("address") or found.get("path")
        if isinstance(place, str):
            rest = {key: value for key, value in found.items() if key not in TEXTS}
            said = [place, *(str(found[key]) for key in ("type", "form", "code") if found.get(key))]
            yield f"| {' '.join(said)} {_digest(json.dumps(rest, sort_keys=True))}"
    children = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    for child in children:
        yield from _objects(child)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
