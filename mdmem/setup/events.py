"""An event of a client becomes what its model is told: nothing here fails, and nothing keeps the client waiting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path

from mdmem.ask.brief import Brief, brief
from mdmem.errors import GitError
from mdmem.setup.event import HookEvent, Moment, read_event
from mdmem.setup.event_forms import FORMS
from mdmem.setup.wake import wake
from mdmem.store.git import find_repository
from mdmem.store.state.local_records import Sessions, briefed
from mdmem.store.workspace.location import locate
from mdmem.store.workspace.remarks import note_told
from mdmem.store.workspace.workspace import Workspace

Send = Callable[[str], None]


def answer_event(
    client: str, content: bytes, send: Send, *, environment: Mapping[str, str], root: str | None, today: date
) -> None:
    """Send what the model of a client is to be told at an event, if anything, and note that it was told.

    `root` is counted from the top of the repository that the event happens in. Raises what reading raises.
    """
    form, event = FORMS.get(client), read_event(content)
    if form is None or event is None:
        return
    workspace = _opened(event, environment, root, today)
    now, name = datetime.now(UTC), briefed(f"{client}\0{event.session}", event.agent)
    sessions = Sessions(workspace.state_folder)
    if event.moment is not Moment.EDIT and not event.is_resumed:
        sessions.forget(name)
    told = _told(workspace, event, sessions.given(name, now) if event.session else {})
    if not told.text:
        return
    send(form(event, told.text))
    # What was not sent was not told.
    if event.session:
        sessions.give(name, told.gave, now)
    note_told(workspace, f"hook {client}", told.addresses)


def _told(workspace: Workspace, event: HookEvent, given: Mapping[str, str]) -> Brief:
    if event.moment is Moment.EDIT:
        return brief(workspace, event.paths, given=given) if event.paths else Brief()
    if event.moment is Moment.FORGET or event.is_resumed:
        return Brief()
    return wake(workspace)


def _opened(event: HookEvent, environment: Mapping[str, str], root: str | None, today: date) -> Workspace:
    cwd = Path(event.cwd) if event.cwd is not None and Path(event.cwd).is_dir() else Path.cwd()
    base = cwd
    if root is not None and not Path(root).is_absolute():
        try:
            repository = find_repository(cwd)
        except GitError:
            repository = None
        base = repository.top if repository is not None else cwd
    location = locate(root, environment, base)
    return Workspace(location=location, environment=environment, cwd=cwd, today=today)
