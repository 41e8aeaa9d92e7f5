"""The guide's page of the hub, typed as a reader would."""

import re
import sys
from pathlib import Path

import pytest
from guide.transcripts import Reader, pattern_of, transcripts

import mdmem.guide


def test_transcripts_give_what_they_show(empty_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "gitconfig"
    own.write_text("[user]\n\tname = A developer\n\temail = developer@example.org\n")
    for variable, value in (("HOME", tmp_path), ("GIT_CONFIG_GLOBAL", own), ("MDMEM_HUB_DSN", empty_dsn)):
        monkeypatch.setenv(variable, str(value))
    monkeypatch.setattr(sys, "executable", sys.executable)
    (tmp_path / "mdmem").mkdir()
    reader = Reader(tmp_path / "mdmem")
    for command, shown in transcripts(mdmem.guide.page("hub")):
        printed = reader.types(command)
        assert re.fullmatch(pattern_of(shown), printed), f"$ {command}\n{printed}\n{reader.said}"


def test_the_workflow_fetches_the_commits_that_are_pinned_and_no_newer_ones() -> None:
    steps = re.findall(r"run: (mdmem .*)", mdmem.guide.page("hub"))
    assert steps[:2] == ["mdmem sync --wings --pinned", "mdmem hub push"]
