"""What a program refuses: each golden case as a commit, and merges of two changes in both orders."""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from .hostile import ended, entry
from .program import Answer, Program

OLD, A, B = ("shop/rules/old", "shop/rules/a", "shop/rules/b")
Files = dict[str, str]


def judge_cases(program: Program, cases: Path, folder: Path) -> dict[str, str]:
    """Return the verdict of each golden case: of what is staged over its base, of a commit, or of mere files."""
    template = folder / "template"
    template.mkdir()
    program.git(template, "init", "-q", "-b", "main")
    found = {}
    for case in sorted(path for check in cases.iterdir() for path in check.iterdir()):
        top = folder / "case"
        shutil.copytree(template, top)
        root = top if _read(case / "case.json").get("is_top") else top / "memory"
        later = set(_read(case / "facts.json").get("not_added", ()))
        if (case / "base").is_dir():
            _fill(root, case / "base")
            _commit(program, top)
            _fill(root, case / "root")
            program.git(top, "add", "-A")
            answer = program.ask(root, "check", "--staged", "--format", "json")
        else:
            _fill(root, case / "root", without=later)
            if (case / "facts.json").exists():
                _commit(program, top)
                _fill(root, case / "root")
            else:
                shutil.rmtree(top / ".git")
            answer = program.ask(root, "check", "--format", "json")
        found[f"case {case.parent.name}/{case.name}"] = _verdict(answer)
        shutil.rmtree(top)
    return found


def judge_merges(program: Program, cases: Path, folder: Path) -> dict[str, str]:
    """Return the verdicts of two commits, of `check --merge`, and of git's merge with our hooks, in both orders."""
    found = {}
    for name, fill in sorted(_merges(cases)):
        top = folder / "merge"
        found |= {f"merge {name}: {step}": said for step, said in _judge_merge(program, top, fill)}
        shutil.rmtree(top)
    return found


def _judge_merge(program: Program, top: Path, fill: Callable[[str, Path], None]) -> Iterator[tuple[str, str]]:
    root = top / "memory"
    root.mkdir(parents=True)
    program.git(top, "init", "-q", "-b", "ancestor")
    fill("ancestor", root)
    _commit(program, top)
    assert program.run(root, str(program.path), "hooks", "install").code == 0
    for side in ("ours", "theirs"):
        program.git(top, "checkout", "-q", "-b", side, "ancestor")
        fill(side, root)
        program.git(top, "add", "-A")
        yield f"commit {side}", f"exit {program.run(top, 'git', 'commit', '-qm', side).code}"
        # Commit without the hook what it refused, as a clone without hooks does.
        program.git(top, "commit", "-q", "--no-verify", "--allow-empty", "-m", side)
    for onto, other in (("ours", "theirs"), ("theirs", "ours")):
        program.git(top, "checkout", "-q", "-B", "merged", other)
        yield f"check {other} --merge {onto}", _verdict(program.ask(root, "check", "--merge", onto, "--format", "json"))
        program.git(top, "checkout", "-q", "-B", "merged", onto)
        yield (
            f"git merge {other} into {onto}",
            f"exit {program.run(top, 'git', 'merge', '-q', '--no-edit', other).code}",
        )
        program.git(top, "reset", "-q", "--hard")


def _verdict(answer: Answer) -> str:
    try:
        found = json.loads(answer.out)["findings"]
    except (ValueError, KeyError):
        return f"exit {answer.code}"
    return "\n".join([f"exit {answer.code}", *sorted({f"| {one['code']} {one['path']}" for one in found})])


def _read(path: Path) -> dict[str, list[str]]:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _fill(root: Path, source: Path, without: Iterable[str] = ()) -> None:
    """Copy a folder, and add an empty mdmem.toml if there is none."""
    if root.exists():
        for path in root.iterdir():
            if path.name != ".git":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    # Times of their own: git takes a file of the same size and time for unchanged.
    shutil.copytree(source, root, dirs_exist_ok=True, copy_function=shutil.copyfile)
    (root / "mdmem.toml").touch()
    for path in without:
        (root / path).unlink(missing_ok=True)


def _commit(program: Program, top: Path) -> None:
    program.git(top, "add", "-A")
    program.git(top, "commit", "-q", "--no-verify", "--allow-empty", "-m", "change")


def _merges(cases: Path) -> Iterator[tuple[str, Callable[[str, Path], None]]]:
    """Yield each merge with a function that writes one of its sides."""
    for case in sorted(path.parent for path in cases.glob("*/*/ours")):
        yield f"{case.parent.name}/{case.name}", lambda side, root, case=case: _fill(root, case / side)
    for first, ours in CHANGES.items():
        for second, theirs in CHANGES.items():
            if first <= second:
                sides = {"ancestor": {}, "ours": ours(A), "theirs": theirs(B)}
                yield f"{first} and {second}", lambda side, root, sides=sides: _write(root, sides[side])


def _write(root: Path, changed: Files) -> None:
    files = {"mdmem.toml": "", "shop/README.md": "---\nkind: project\nowners: [Ada]\n---\n"}
    files |= {
        f"{OLD}.md": entry(title="Old", reason="r"),
        "shop/rules/other.md": entry(title="Other", see=OLD),
    } | changed
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _successor(address: str, **fields: object) -> Files:
    return {f"{address}.md": entry(title=f"New {address[-1]}", supersedes=f"[{OLD}]", reason="better", **fields)}


# What one branch does to the old entry, with a new entry at an address.
CHANGES: dict[str, Callable[[str], Files]] = {
    "supersedes": lambda new: _successor(new) | {f"{OLD}.md": ended(f"[{new}]", title="Old")},
    "supersedes, one-sided": _successor,
    "proposes a successor": lambda new: _successor(new, status="draft"),
    "deprecates": lambda _: {f"{OLD}.md": ended(title="Old", reason="not needed")},
    "amends": lambda new: {f"{new}.md": entry(title=f"Part {new[-1]}", amends=f"[{OLD}]", reason="a part")},
    "contradicts": lambda new: {f"{new}.md": entry(title=f"Against {new[-1]}", conflicts_with=f"[{OLD}]")},
}
