"""Records of log4brains: MADR's, with the day in the file's name and that name as the id."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from mdmem.exchange import madr
from mdmem.exchange.decision import decision_record
from mdmem.exchange.record import ForeignRecord, Guess, SourceFile, Sureness

NAME = "log4brains"
_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)-")


def fits(source: SourceFile) -> bool:
    """Say whether a record of MADR's form has a day in its name."""
    return _DAY.match(source.stem) is not None and madr.fits(source)


def read(source: SourceFile) -> Iterator[ForeignRecord]:
    """Yield the record, dated by its name where it states no date."""
    record = decision_record(source)
    tags = record.fields.get("tags", ())
    if not isinstance(tags, str):
        # Blanks part them, too.
        split = tuple(dict.fromkeys(word for tag in tags for word in tag.split()))
        record = replace(record, fields={**record.fields, "tags": split})
    found = _DAY.match(source.stem)
    if record.created_at is None and found is not None:
        guess = Guess("the day in the file's name", Sureness.LIKELY)
        record = replace(record, created_at="-".join(found.groups()), guesses={**record.guesses, "created_at": guess})
    yield record
