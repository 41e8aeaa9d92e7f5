"""Golden imports: tests/data/import/<dialect>/ holds a project in `before/`, its entries in `after/`, and `said.txt`.

`python -m exchange.test_golden_imports` in `tests` writes what comes out today in place of what is expected.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from builders import TODAY, make_root, run_here, run_mdmem, write
from golden import DATA

from mdmem.cli.main import load_command
from mdmem.exchange.dialects import DIALECTS

CASES = sorted((DATA / "import").iterdir())
# What is imported from where nobody looks by itself.
NAMED = {
    "basic-memory": ("notes",),
    "markdown": ("wiki",),
    "instructions": ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursor", ".github", "web"),
}


def project(case: Path, folder: Path) -> Path:
    """Return a copy of a case's project with an empty memory in it."""
    shutil.copytree(case / "before", folder, dirs_exist_ok=True)
    root = make_root(folder / "memory", 'default_wing = "app"\n')
    write(root, "app/README.md", "---\nkind: project\n---\n\n# app\n")
    return folder


def entries(folder: Path) -> dict[str, str]:
    found = sorted(path for path in folder.rglob("*.md") if path.name != "README.md")
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in found}


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_records_become_the_entries_that_are_expected(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = project(case, tmp_path)
    sources = entries(folder)
    shown = run_here(capsys, "import", "--root", "memory", "--dry-run", *NAMED.get(case.name, ()), cwd=folder)
    assert (shown.code, entries(folder / "memory")) == (0, {})
    assert shown.out == (case / "said.txt").read_text()
    assert run_here(capsys, "import", "--root", "memory", *NAMED.get(case.name, ()), cwd=folder).code == 0
    assert entries(folder / "memory/app") == entries(case / "after")
    assert {path: text for path, text in entries(folder).items() if not path.startswith("memory/")} == sources
    told = {line.split(": ")[1] for line in shown.out.splitlines() if line.startswith("  app/")}
    checked = run_here(capsys, "check", "--root", "memory", "--format", "concise", cwd=folder)
    assert {line.split(" ")[2] for line in checked.out.splitlines() if " error " in line} == told
    again = run_here(capsys, "import", "--root", "memory", *NAMED.get(case.name, ()), cwd=folder)
    assert again.out.splitlines()[-1].startswith("imported 0 entries; ")
    assert entries(folder / "memory/app") == entries(case / "after")


def test_every_dialect_can_be_said() -> None:
    (said,) = (one for one in load_command("import").params if one.name == "dialect")
    assert sorted(said.type.choices) == sorted(DIALECTS) == sorted(case.name for case in CASES if case.name != "houses")


def _write_anew(case: Path) -> None:
    with TemporaryDirectory() as name:
        folder = project(case, Path(name))
        arguments = NAMED.get(case.name, ())
        shown = run_mdmem("import", "--root", "memory", "--dry-run", *arguments, cwd=folder, env={"MDMEM_TODAY": TODAY})
        (case / "said.txt").write_text(shown.stdout)
        run_mdmem("import", "--root", "memory", *arguments, cwd=folder)
        shutil.rmtree(case / "after", ignore_errors=True)
        for path, text in entries(folder / "memory/app").items():
            write(case / "after", path, text)


if __name__ == "__main__":
    for each in CASES if not sys.argv[1:] else [DATA / "import" / name for name in sys.argv[1:]]:
        _write_anew(each)
