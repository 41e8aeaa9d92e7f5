"""Git's hooks as text and JSON: what stands at each stage, and what was done about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mdmem.render.json import dump

if TYPE_CHECKING:
    from mdmem.setup.hooks import Hook, HookStep
    from mdmem.setup.merge_driver import Driver


def steps_text(steps: Sequence[HookStep]) -> str:
    """Return one line a hook: what was done, or why nothing was."""
    return "\n".join(_step(step) for step in steps)


def _step(step: HookStep) -> str:
    if step.removed_legacy:
        return f"removed {step.hook.shown}.legacy\n{step.hook.shown} stays as it is: {_framework(step.hook)}"
    if step.done != "kept":
        return f"{step.done} {step.hook.shown}"
    return f"{step.hook.shown} stays as it is: {standing(step.hook)}"


def standing(hook: Hook) -> str:
    """Return how one hook stands, in a few words."""
    aside = "" if hook.legacy is None else f", and which moved the hook of mdmem to {hook.legacy.name}"
    return _framework(hook) + aside if hook.framework else hook.state.value


def _framework(hook: Hook) -> str:
    if hook.framework is None:
        return ""
    whether = "names" if hook.framework.names_mdmem else "does not name"
    return f"run by {hook.framework.name}, whose configuration {whether} mdmem"


def driver_text(driver: Driver, done: str) -> str:
    """Return what was done about the merge driver, or why nothing was."""
    if done == "left":
        return "the merge driver stays: `mdmem hooks uninstall --driver-only` removes it"
    if done == "kept":
        return f"the merge driver stays as it is: {driver.state.value}"
    return f"{done} the merge driver for {' and '.join(driver.patterns)}"


def hooks_text(hooks: Sequence[Hook], driver: Driver | None = None) -> str:
    """Return one line a hook: its stage, how it stands, its file; and one for the merge driver of a memory."""
    rows = [(hook.stage, standing(hook), hook.shown) for hook in hooks]
    rows += [("merge-driver", driver.state.value, driver.shown)] if driver else []
    width = max(len(name) for name, _, _ in rows)
    return "\n".join(f"{name:<{width}}  {state}  ({shown})" for name, state, shown in rows)


def hooks_json(hooks: Sequence[Hook], driver: Driver | None = None) -> str:
    """Return every hook with its stage, path, state, place and framework, and the merge driver of a memory."""
    merging = {"state": driver.state.value, "path": driver.shown, "patterns": list(driver.patterns)} if driver else None
    return dump(
        {
            "hooks": [
                {
                    "stage": hook.stage,
                    "path": hook.shown,
                    "state": hook.state.value,
                    "where": hook.where.value,
                    "framework": hook.framework.name if hook.framework else None,
                    "legacy": f"{hook.shown}.legacy" if hook.legacy else None,
                }
                for hook in hooks
            ],
            "merge_driver": merging,
        }
    )
