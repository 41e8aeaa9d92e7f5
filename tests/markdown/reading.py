"""Front matter read in a test."""

from mdmem.markdown.front_matter import Fields, FrontMatterError
from mdmem.markdown.parse import handler
from mdmem.model.finding import Finding


def read_fields(text: str) -> tuple[Fields | None, tuple[Finding, ...]]:
    """Return the fields of a front matter, if they are certain, and its faults."""
    try:
        fields = handler().load(text)
    except FrontMatterError as error:
        return None, error.findings
    return fields, fields.findings
