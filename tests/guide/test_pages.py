"""Test the README and the guide: the output of transcripts, the tables, and the links."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from builders import Capture, git, on_terminal, run_here

import mdmem.guide
from mdmem.checks.check import get_checks
from mdmem.mcp.answers import LARGEST
from mdmem.store.settings import KEYS, WING_KEYS, Settings, WingSettings

from . import pictures
from .tables import TABLES, parts
from .transcripts import Reader, pattern_of, transcripts

TOP = Path(__file__).parents[2]
FOLDER = Path(mdmem.guide.__file__).parent
PAGES = {"README": TOP / "README.md", "example-wings": TOP / "example-wings/README.md"}
PAGES |= {path.stem: path for path in sorted(FOLDER.glob("*.md"))}
TEXTS = {name: path.read_text(encoding="utf-8") for name, path in PAGES.items()}
# The transcripts of `hub` need a database server, so they run with its tests.
WITH_COMMANDS = [name for name, text in TEXTS.items() if "```console" in text and name != "hub"]


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with the current files of this one, but only with the settings of the golden cases."""
    folder = tmp_path_factory.mktemp("guide") / "mdmem"
    listed = git(TOP, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        # Each page clones it, and files that no page looks at would take most of that.
        if (TOP / name).is_file() and (not name.startswith("tests/cases/") or name.endswith("/mdmem.toml")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(TOP / name, folder / name)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=A developer", "-c", "user.email=developer@example.org", "commit", "-q", "-m", "Cloned")
    return folder


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_transcripts_give_what_they_show(
    name: str, origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "gitconfig"
    own.write_text("[user]\n\tname = A developer\n\temail = developer@example.org\n[init]\n\tdefaultBranch = main\n")
    for variable, value in (("HOME", str(tmp_path)), ("GIT_CONFIG_GLOBAL", str(own))):
        monkeypatch.setenv(variable, value)
    commands = list(transcripts(TEXTS[name]))
    if commands[0][0].startswith("mkdir ../") and "cd ../mdmem" not in TEXTS[name]:
        # The page makes a memory next to the clone, and does not use the clone.
        (tmp_path / "mdmem").mkdir()
    else:
        git(tmp_path, "clone", "-q", "--shared", str(origin), "mdmem")
    reader = Reader(tmp_path / "mdmem")
    for command, shown in commands:
        printed = reader.types(command)
        assert re.fullmatch(pattern_of(shown), printed), f"$ {command}\n{printed}\n{reader.said}"


@pytest.mark.parametrize(("page", "table"), TABLES)
def test_table_is_what_the_program_has(page: str, table: str) -> None:
    shown = parts(TEXTS[page], table)[1]
    assert shown == TABLES[page, table](), "type `python -m guide.tables` in `tests`"


def test_every_setting_is_in_the_guide_with_its_default() -> None:
    rows = dict(re.findall(r"^- `([a-zN.][\w.]+)` \((.*?)\): .+$", TEXTS["settings"], re.MULTILINE))
    defaults = {key: getattr(Settings(), key.split(".")[-1]) for key in KEYS}
    defaults |= {f"wings.NAME.{key}": getattr(WingSettings(), key.split(".")[-1]) for key in WING_KEYS}
    assert list(rows) == list(defaults)
    stated = {key: value for key, value in defaults.items() if value not in (None, (), {})}
    assert {key: rows[key] for key in stated} == {key: shown(value) for key, value in stated.items()}


def shown(default: object) -> str:
    if isinstance(default, Mapping):
        return ", ".join(f'`{name} = "{value}"`' for name, value in default.items())
    return f"`{str(default).lower()}`" if isinstance(default, int) else f'`"{default}"`'


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_files(name: str) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", TEXTS[name])
    there = [PAGES[name].parent / link for link in links if "://" not in link]
    assert [str(path) for path in there if not path.exists()] == []
    # A page may be printed without a repository, so it links only to other pages.
    assert PAGES[name].parent != FOLDER or {path.parent for path in there} <= {FOLDER}


def test_picture_of_the_readme_is_what_the_program_draws() -> None:
    assert f"mdmem/guide/{pictures.LINEAGE}" in TEXTS["README"]
    assert (pictures.FOLDER / pictures.LINEAGE).read_text() == pictures.lineage()


def test_readme_is_short_and_leads_to_every_page() -> None:
    assert len(TEXTS["README"].encode()) <= 7_168
    assert [page for page in mdmem.guide.topics() if f"(mdmem/guide/{page}.md)" not in TEXTS["README"]] == []


@pytest.mark.parametrize("topic", mdmem.guide.topics())
def test_page_has_a_heading_and_a_sentence_and_no_long_words(topic: str) -> None:
    heading, blank, sentence, *_ = TEXTS[topic].splitlines()
    assert (heading[:2], blank, sentence[-1], len(sentence) <= 100) == ("# ", "", ".", True)
    assert len(TEXTS[topic]) <= LARGEST


def test_ci_runs_the_test_command() -> None:
    command = next(line for line in TEXTS["README"].splitlines() if line.startswith(".venv/bin/pip install"))
    install, test = command.split(" && ")
    script = (TOP / ".ci" / "run").read_text(encoding="utf-8")
    # CI adds options that save time.
    assert install.partition(" install -q ")[2] in script
    assert f"\n{test}\n" in script


def test_every_check_is_documented() -> None:
    for code, check in get_checks().items():
        text = check.explanation
        assert "Fails:" in text, code
        assert "Fix:" in text, code


def test_guide_lists_the_topics_with_a_line_each_and_prints_a_page_plain_on_a_pipe(
    tmp_path: Path, capsys: Capture
) -> None:
    ran = run_here(capsys, "guide", cwd=tmp_path)
    assert (ran.code, [line.split()[0] for line in ran.out.splitlines()]) == (0, list(mdmem.guide.topics()))
    assert run_here(capsys, "guide", "asking", cwd=tmp_path).out == TEXTS["asking"]


def test_guide_is_paged_on_a_terminal(tmp_path: Path) -> None:
    code, printed = on_terminal("guide", "asking", cwd=tmp_path, env={"PAGER": "sed s/^/paged:/"})
    assert (code, printed.startswith("paged:# ")) == (0, True)


def test_page_of_checking_lists_every_format() -> None:
    from mdmem.cli.check import FORMATS

    assert f"`--format` is one of {', '.join(FORMATS)};" in TEXTS["checking"]
