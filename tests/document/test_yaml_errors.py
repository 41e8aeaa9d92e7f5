"""Why a front matter is refused; each cause that people meet is a case of tests/data/document/front_matter.txt."""

import re

from golden import DATA, read_cases

from document.reading import read_fields


def test_cause_is_what_the_reader_says_when_it_is_a_rare_one(loader: str) -> None:
    (trouble,) = read_fields("- a\ntype: note\n")[1]
    assert trouble.code == "yaml-syntax"
    assert trouble.message.startswith("the YAML parser says: ")
    assert trouble.line == 2


def test_help_of_a_one_line_cause_can_be_typed_as_it_is() -> None:
    cases = [case for case in read_cases(DATA / "document" / "front_matter.txt") if case.before.count("\n") == 1]
    found = [re.search(r": yaml-syntax: .*; write (\S+:.*)", said) for case in cases for said in case.says]
    advised = [match[1] for match in found if match]
    assert len(advised) >= 10
    assert [text for text in advised if read_fields(f"{text}\n")[1] != ()] == []
