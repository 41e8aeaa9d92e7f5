"""`mdmem token`: a one-time token for a write to a shared wing."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, format_option, global_options, open_workspace, print_text


@click.command("token")
@click.option("--preview", metavar="TEXT", help="What is going to be written, shown with the token.")
@format_option("text", "json")
@global_options
def command(given: Globals, form: str, preview: str | None) -> int:
    """Get a token for one write to a shared wing; it is shown once and expires after a minute (a setting)."""
    from datetime import UTC, datetime

    from mdmem.render.tokens import forbidden_json, token_json, token_text
    from mdmem.workspace.permitting import GlobalWritesForbiddenError, ask_for_token

    workspace = open_workspace(given)
    try:
        token = ask_for_token(workspace, datetime.now(UTC))
    except GlobalWritesForbiddenError as error:
        if form == "text":
            raise
        print_text(forbidden_json(str(error)))
        return error.exit_code
    seconds = workspace.settings.token_seconds
    print_text(token_json(token, seconds=seconds) if form == "json" else token_text(token, seconds=seconds))
    if preview:
        given.remark(f"for: {preview}")
    return 0
