"""The JSON that programs read, with the keys that they rely on."""

from pathlib import Path
from typing import Any

import pytest
from builders import Run, make_repository, make_root, write, write_entry


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a memory that fills every list of every answer."""
    made = make_root(make_repository(tmp_path), 'default_wing = "app"\n')
    write(made, "app/README.md", "---\nkind: project\nshared_wings: [lib]\n---\n")
    write(made, "lib/README.md", "---\nkind: shared\n---\n")
    write_entry(made, "app/a/local", "Queue.\n", title="Local", overrides="lib/a/default", conflicts_with="app/a/other")
    write_entry(made, "app/a/other", "Queue.\n", title="Other", focus="auth", reason="x")
    write_entry(
        made, "app/a/old", "Old queue.\n", status="deprecated", superseded_by="app/a/other", deprecated_at="2026-04-01"
    )
    write_entry(made, "app/a/idea", "Queue.\n", status="draft")
    write_entry(made, "lib/a/default", "Queue.\n", title="Default")
    write(made, "app/a/broken.md", "no front matter\n")
    return made


def answered(run: Run, root: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    ran = run(*arguments, "--format", "json", cwd=root)
    assert ran.code == code, ran.err
    answer: dict[str, Any] = ran.json
    assert answer.pop("schema") == 1
    return answer


def test_retrieve_counts_what_it_does_not_list(root: Path, run: Run) -> None:
    for number in range(60):
        write_entry(root, f"app/b/n{number}", "Queue.\n", type="note")
    named = answered(run, root, "retrieve", "--budget", "1500")
    assert 0 < len(named["omitted"]) <= 50
    answer = answered(run, root, "retrieve", "--budget", "0")
    assert len(answer["omitted"]) == 50
    counted = {(one["type"], one["why"]): one["count"] for one in answer["omitted_counts"]}
    assert counted[("decision", "overridden")] == 1
    assert len(answer["omitted"]) + sum(counted.values()) == 64


def test_json_keeps_letters_as_they_are(root: Path, run: Run) -> None:
    write_entry(root, "app/a/emoji", "Text.\n", title="Größe 🎉")
    assert '"title": "Größe 🎉"' in run("show", "app/a/emoji", "--format", "json", cwd=root).out
