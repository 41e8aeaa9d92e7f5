"""The verbs that the contracts name: each takes plain values and answers in the contract's shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mdmem.workspace.verbs import WritingVerbs

if TYPE_CHECKING:
    from mdmem.context.asked import ContextAsked
    from mdmem.context.pack import ContextPack
    from mdmem.retrieval.bundle import ContextBundle
    from mdmem.retrieval.surface import Surface
    from mdmem.scope import ScopeAnswer
    from mdmem.synthesis.asked import SynthesisAsked
    from mdmem.synthesis.plan import SynthesisPlan
    from mdmem.workspace.remembering import Remembered


class ContractVerbs(WritingVerbs):
    """The verbs of the contracts; all but `remember` change no byte of the memory."""

    def retrieve_context(
        self,
        *,
        project_id: str | None,
        scope: str = "project",
        focus: str | None = None,
        categories: Sequence[str] | None = None,
        topic: str | None = None,
        paths: Sequence[str] = (),
        at: str | None = None,
    ) -> ContextBundle:
        """Return the memory of focus, project and shared wings, merged by authority; `at` a revision or a date.

        Raises UsageError for a scope or category that is not known, and for a revision or date that is none.
        """
        from mdmem.workspace.bundling import retrieve_context

        return retrieve_context(
            self.as_of(at),
            project_id=project_id,
            scope=scope,
            focus=focus,
            categories=categories,
            topic=topic,
            paths=paths,
        )

    def get_scope_state(self, *, project_id: str | None, focus: str | None = None) -> ScopeAnswer:
        """Return how certain the scope of a project and a focus is, and what to do where it is not."""
        from mdmem.workspace.surfacing import get_scope_state

        return get_scope_state(self, project_id=project_id, focus=focus)

    def memory_surface(self, *, query: str, project_id: str | None = None, limit: int = 5) -> Surface:
        """Return the best matches of a few words in one project, or anywhere, without merging scopes."""
        from mdmem.workspace.surfacing import memory_surface

        return memory_surface(self, query=query, project_id=project_id, limit=limit)

    def compile_context(self, asked: ContextAsked, *, at: str | None = None) -> ContextPack:
        """Return what matters for a goal, in facets; that it was asked for is kept in the audit log.

        With `at` it is what mattered at a revision or a date. Raises AccessDeniedError for a project that the caller
        may not read, and UsageError for a revision or date that is none.
        """
        from mdmem.workspace.contexts import compile_context

        return compile_context(self.as_of(at), asked)

    def plan_synthesis(self, asked: SynthesisAsked) -> SynthesisPlan:
        """Return the outline of a text with the sources of each section and with what they do not cover.

        Raises AccessDeniedError for a project that the caller may not read.
        """
        from mdmem.workspace.planning import plan_synthesis

        return plan_synthesis(self, asked)

    def remember(self, **given: object) -> Remembered:
        """Keep a memory word for word, in a project's wing or for the caller alone; never raises.

        Takes `title`, `content`, `kind`, `domain`, `project`, `tags`, `related_to`, `metadata`, `agent` and `room`.
        """
        from mdmem.workspace.remembering import remember

        return remember(self, given)
