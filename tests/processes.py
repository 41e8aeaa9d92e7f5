"""Several processes at once, each of its own interpreter, let go at the same moment."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any


def run_at_once(work: Callable[..., Any], *arguments: Any, count: int = 8) -> list[Any]:
    """Return what each process gave; `work` gets its number first, and has to be a module's own function."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(count), context.Queue()
    processes = [
        context.Process(target=_begin, args=(barrier, results, work, number, arguments)) for number in range(count)
    ]
    for process in processes:
        process.start()
    found = [results.get(timeout=300) for _ in processes]
    for process in processes:
        process.join(timeout=300)
    results.close()
    results.join_thread()
    return found


def _begin(barrier: Any, results: Any, work: Callable[..., Any], number: int, arguments: tuple[Any, ...]) -> None:
    barrier.wait(300)
    try:
        results.put(work(number, *arguments))
    except Exception as error:  # noqa: BLE001  # the test sees what went wrong in another process
        results.put(error)
