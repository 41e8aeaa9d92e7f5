"""The findings of `mdmem check` as if each open text was saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from mdmem.checks.baseline import without_known
from mdmem.checks.case import Case
from mdmem.checks.engine import chosen_codes, require_known_wings, run_checks
from mdmem.checks.kept_findings import with_extracts
from mdmem.errors import MdmemError, SettingsError, shown_message
from mdmem.lsp.session import EditorSession
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.catalog import Catalog
from mdmem.store.settings import Settings
from mdmem.store.tree import SETTINGS_NAME, OverlaidTree

SETTINGS_CODE = "settings"


class SessionFindings(Struct, eq=False):
    """The findings of one session, as of the revision that was checked last."""

    session: EditorSession
    _revision: int = -1
    _found: tuple[Finding, ...] = ()

    def now(self) -> tuple[Finding, ...]:
        """Return the findings of the session as it is."""
        if self._revision != self.session.revision:
            self._found = self._checked()
            self._revision = self.session.revision
        return self._found

    def _checked(self) -> tuple[Finding, ...]:
        workspace = self.session.workspace
        try:
            require_known_wings(workspace.settings, workspace.catalog.wings)
            return self._found_in(workspace.catalog, workspace.settings)
        except SettingsError as error:
            # Nobody knows which checks are wanted until the settings can be read.
            message, _, help_ = shown_message(str(error)).partition("; ")
            place = Place(SETTINGS_NAME, error.line)
            return (Finding(SETTINGS_CODE, message, place, help_, severity=Severity.ERROR),)
        except MdmemError:
            # The folder, or git, went away meanwhile.
            return ()

    def _found_in(self, catalog: Catalog, settings: Settings, codes: Sequence[str] = ()) -> tuple[Finding, ...]:
        session = self.session
        chosen = chosen_codes(settings)
        case = with_extracts(Case(catalog, settings, session.today(), session.facts), session.extracts)
        found = run_checks(case, codes or chosen)
        if settings.baseline is None or codes:
            return tuple(found)
        return tuple(without_known(session.workspace, found, chosen, None)[0])

    def tried(self, contents: Mapping[str, bytes]) -> tuple[Finding, ...]:
        """Return the findings that there would be with other bytes in some files."""
        if not contents:
            return self.now()
        workspace = self.session.workspace
        over = workspace.over(OverlaidTree(workspace.whole_tree, contents))
        return self._found_in(over.catalog, self.session.settings)

    def fresh(self, finding: Finding) -> Finding:
        """Return a finding as its check alone reports it now."""
        found = self._found_in(self.session.catalog, self.session.settings, [finding.code])
        return next((one for one in found if (one.place, one.message) == (finding.place, finding.message)), finding)
