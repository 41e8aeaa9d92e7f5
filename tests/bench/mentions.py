"""How many mentions are found, and how many of those found are right, against records that were read by hand.

The sample is 18 decision records and 13 PEPs. Each row names the current records, not older, whose text means it;
tickets, records of other projects, renumberings and lists of numbers do not count.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from builders import open_root
from frozen.program import THIS_PROGRAM, Program
from frozen.roots import make_root

from mdmem.ask.excerpt import mentioning_sentences
from mdmem.ask.relate import mention_pattern

JUDGED = {
    "dummies": {
        "adr-0005": "0032 0046",
        "adr-0007": "0021 0032 0037 0044",
        "adr-0008": "0009 0019 0020 0029 0032 0033 0046 0075 0079",
        "adr-0009": "0011 0012 0016 0027 0030 0033",
        "adr-0010": "0011 0014 0021 0023 0034",
        "adr-0012": "0027 0046",
        "adr-0013": "0051 0074",
        "adr-0020": "0029 0031 0054",
        "adr-0028": "0040",
        "adr-0031": "0032 0046 0054 0076",
        "adr-0042": "0043 0067",
        "adr-0047": "0048 0052",
        "adr-0051": "0053 0074",
        "adr-0054": "0067 0079",
        "adr-0056": "0058 0060 0065 0070 0072",
        "adr-0065": "0062 0066 0070 0072",
        "adr-0070": "0071 0072",
        "adr-0075": "0076 0079",
    },
    "peps": {
        "pep-218": "283 320",
        "pep-257": "8",
        "pep-3000": "361",
        "pep-302": "356 3147 338 366 420 451 489",
        "pep-3116": "400",
        "pep-341": "356",
        "pep-383": "444 519 540",
        "pep-394": "773 397",
        "pep-399": "421 570 737",
        "pep-457": "570",
        "pep-528": "538",
        "pep-602": "607 596 619 664 693 719 745 790 826",
        "pep-639": "770 808",
    },
}


def main() -> None:
    """Print precision and recall of each collection."""
    for name, judged in JUDGED.items():
        with tempfile.TemporaryDirectory() as kept, Program(THIS_PROGRAM, Path(kept)) as program:
            found = _mentions(make_root(name, program, Path(), Path(kept) / "root"), set(judged))
        meant = {(f"{of.partition('-')[0]}-{by}", of) for of, numbers in judged.items() for by in numbers.split()}
        right = len(found & meant)
        print(f"{name}: {len(found)} found, precision {right / len(found):.2f}, recall {right / len(meant):.2f}")
        for by, of in sorted(found ^ meant):
            print(f"  {'not meant' if (by, of) in found else 'not found'}: {by} mentions {of}")


def _mentions(root: Path, names: set[str]) -> set[tuple[str, str]]:
    """Return the pairs of a current entry and an entry of the sample that it mentions."""
    catalog = open_root(root).catalog
    current = [one for one in catalog.entries.values() if catalog.lineage.is_current(one.address)]
    found = set()
    for entry in (one for one in current if one.address.rpartition("/")[2] in names):
        for other in current:
            if other == entry or str(other.created_at) < str(entry.created_at):
                continue
            pattern = mention_pattern(entry, is_near=other.room == entry.room)
            if next(mentioning_sentences(catalog.body(other.address), pattern), None) is not None:
                found.add((other.address.rpartition("/")[2], entry.address.rpartition("/")[2]))
    return found


if __name__ == "__main__":
    main()
