"""Record what an mdmem program answers, or show what differs from the recording."""

import argparse
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from .answers import ask_all, read_questions
from .program import THIS_PROGRAM, Program
from .recordings import Recorded, differences, group_of, passes_now, read_recordings, write_recordings
from .roots import OURS, available, make_root, pack_inputs, unpack_inputs
from .verdicts import judge_cases, judge_merges


def answers_of(name: str, path: Path, inputs: Path, questions: list[list[str]] | None = None) -> Recorded:
    """Return the answers of a program about one root, to all questions or to some; or its verdicts."""
    with tempfile.TemporaryDirectory(prefix="frozen-") as kept:
        folder = Path(kept).resolve()
        (folder / "home").mkdir()
        with Program(path, folder / "home") as program:
            if name == "cases":
                return judge_cases(program, inputs / "cases", folder)
            if name == "merges":
                return judge_merges(program, inputs / "cases", folder)
            root = make_root(name, program, inputs, folder)
            return ask_all(questions or read_questions(name), program, root, in_full=name in OURS)


def all_answers(names: list[str], path: Path) -> dict[str, Recorded]:
    """Return the answers about several roots, asked two at a time."""
    with tempfile.TemporaryDirectory(prefix="frozen-") as kept, ThreadPoolExecutor(2) as pool:
        inputs = Path(kept)
        unpack_inputs(inputs)
        found = pool.map(partial(answers_of, path=path, inputs=inputs), names)
        return dict(zip(names, found, strict=True))


def compare(names: list[str], path: Path) -> int:
    """Print what differs from the recordings, a refused commit that passes first; return 1 where anything does."""
    recorded = {name: read_recordings(name) for name in names}
    now = all_answers(names, path)
    passed = [one for name in ("cases", "merges") if name in now for one in passes_now(recorded[name], now[name])]
    for one in passed:
        print(f"a refused commit now passes: {one}")
    counts: Counter[str] = Counter()
    for name in names:
        for question, diff in differences(recorded[name], now[name]):
            counts[group_of(name, question)] += 1
            print(f"\n{name}: {question}\n{diff}")
    asked = sum(map(len, now.values()))
    by_group = ", ".join(f"{group} {count}" for group, count in sorted(counts.items()))
    print(f"\n{sum(counts.values())} of {asked} answers differ{': ' if by_group else ''}{by_group}")
    return int(bool(counts))


def record(names: list[str], path: Path) -> int:
    """Record all answers again, unless a commit that was refused would now pass."""
    before = {name: read_recordings(name) for name in names}
    now = all_answers(names, path)
    if passed := [one for name in ("cases", "merges") if name in now for one in passes_now(before[name], now[name])]:
        print(*(f"a refused commit now passes: {one}" for one in passed), sep="\n")
        print("nothing is recorded; delete the recording of what is no fault any more, and record again")
        return 1
    for name, answers in now.items():
        write_recordings(name, answers)
    print(f"{sum(map(len, now.values()))} answers recorded")
    return 0


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m frozen", description=__doc__)
    parser.add_argument("command", choices=("record", "compare"))
    parser.add_argument("roots", nargs="*", help="cases, merges, example, hostile, peps, keps, dummies; default: all")
    parser.add_argument("--program", type=Path, default=THIS_PROGRAM, help="an installed mdmem; default: this one")
    parser.add_argument("--new-inputs", action="store_true", help="take example wings and golden cases as they are now")
    options = parser.parse_args()
    names = options.roots or ["cases", "merges", *available()]
    if options.new_inputs:
        pack_inputs()
    return (record if options.command == "record" else compare)(names, options.program)


if __name__ == "__main__":
    sys.exit(main())
