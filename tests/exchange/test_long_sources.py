"""Records of a stranger that a search from each of their letters would take hours for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from builders import environment, make_root, write

_MANY = 100_000
_LINKS = "[a](b.md) [[b]]\n" * 5_000
_RECORDS = {
    "spaces": f"## Status\n\nSuperseded by {' ' * _MANY}x",
    "letters": f"## Status\n\nSuperseded by {'a' * _MANY}",
    "brackets": f"## Status\n\nSuperseded by {'[[' * _MANY}",
    "comments": f"## Status\n\n{'<!--' * _MANY}",
    "markers": "<!-- mdmem export : " * (_MANY // 2),
    "title": f"# {'[' * _MANY}",
    "link-title": f"# {'[a](' * _MANY}",
    "heading": f"# a{' ' * _MANY}b",
    "dashes": f"# a{'-' * _MANY}b",
    "bars": f"# T\n\nStatus: {'|' * _MANY}x",
    "breaks": f"# T\n\nStatus: {'<br>' * _MANY}x",
    "table": f"# T\n\n| Status |\n|{'-' * _MANY}x\n",
    "keys": f"---\nsupersedes: {'a' * 7_000}\namends: '{'[' * 7_000}'\n---\nWe do.\n",
    "cuts": "# T\n\n" + "- Status: accepted\n" * 5_000 + f"\n## Context\n\n{_LINKS}",
}
_RULE = '---\nglobs: "{globs}"\n---\n\nA rule.\n'


def test_sources_are_read_once(tmp_path: Path) -> None:
    root = make_root(tmp_path / "memory", 'default_wing = "app"\n')
    write(root, "app/README.md", "---\nkind: project\n---\n\n# app\n")
    for number, (name, text) in enumerate(_RECORDS.items()):
        write(tmp_path, f"docs/adr/{number:04}-{name}.md", text)
    for name, globs in {"commas": "," * 10_000 + "{", "braces": 3 * f"{{{2_000 * 'a,'}}}"}.items():
        write(tmp_path, f".cursor/rules/{name}.mdc", _RULE.format(globs=globs))
    many = "src/{" + ",".join(map(str, range(70))) + "}/**,!x"
    write(tmp_path, ".cursor/rules/many.mdc", _RULE.format(globs=many))
    command = [sys.executable, "-m", "mdmem", "import", "--root", "memory"]
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True, timeout=60
    )
    assert "`applies_to` cannot express the pattern `!x`" in ran.stdout
    assert "it has more than 64 patterns; those after `src/63/**` are omitted" in ran.stdout
    made = next((root / "app/architecture").glob("*-cuts.md")).read_text()
    assert made.endswith("---\n\n## Context\n\n" + "[a](../../../docs/adr/b.md) [[b]]\n" * 5_000)
