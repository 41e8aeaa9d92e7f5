"""Git's hooks as text and JSON: what stands at each stage, and what was done about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mdmem.render.json_form import dump

if TYPE_CHECKING:
    from mdmem.workspace.hooking import Hook, Step


def steps_text(steps: Sequence[Step]) -> str:
    """Return one line a hook: what was done, or why nothing was."""
    return "\n".join(_step(step) for step in steps)


def _step(step: Step) -> str:
    if step.done != "kept":
        return f"{step.done} {step.hook.shown}"
    return f"{step.hook.shown} stays as it is: {standing(step.hook)}"


def standing(hook: Hook) -> str:
    """Return how one hook stands, in a few words."""
    if hook.framework is None:
        return hook.state.value
    whether = "names" if hook.framework.names_mdmem else "does not name"
    return f"run by {hook.framework.name}, whose configuration {whether} mdmem"


def hooks_text(hooks: Sequence[Hook]) -> str:
    """Return one line a hook: its stage, how it stands, its file."""
    width = max(len(hook.stage) for hook in hooks)
    return "\n".join(f"{hook.stage:<{width}}  {standing(hook)}  ({hook.shown})" for hook in hooks)


def hooks_json(hooks: Sequence[Hook]) -> str:
    """Return every hook with its stage, path, state, place and framework."""
    return dump(
        {
            "hooks": [
                {
                    "stage": hook.stage,
                    "path": hook.shown,
                    "state": hook.state.value,
                    "where": hook.where.value,
                    "framework": hook.framework.name if hook.framework else None,
                }
                for hook in hooks
            ]
        }
    )
