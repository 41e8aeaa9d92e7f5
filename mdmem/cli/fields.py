"""`mdmem fields`: every field of a front matter, and what it means."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, format_option, global_options, print_text
from mdmem.cli.completion import complete_field
from mdmem.model.fields import FIELDS
from mdmem.model.spelling import get_field
from mdmem.render.fields import field_text, fields_json, fields_markdown, fields_text


@click.command("fields")
@click.argument("name", required=False, shell_complete=complete_field)
@format_option("text", "json", "markdown")
@global_options
def command(given: Globals, name: str | None, form: str) -> int:
    """List the fields of a front matter, or show all there is to know of the field NAME."""
    fields = FIELDS if name is None else (get_field(name),)
    if form == "text":
        print_text(fields_text(fields, given.ink()) if name is None else field_text(fields[0], given.ink()))
    else:
        print_text(fields_json(fields) if form == "json" else fields_markdown(fields))
    return 0
