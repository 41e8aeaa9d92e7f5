"""What `mdmem check` would find if each open text was saved: looked for again where an edit reaches."""

from __future__ import annotations

from collections.abc import Mapping

from mdmem.catalog.edits import may_be_edited, with_edits
from mdmem.checks.baseline import without_known
from mdmem.checks.case import Case
from mdmem.checks.engine import chosen_codes, require_known_wings, run_checks
from mdmem.checks.kept_answers import AnswerStore
from mdmem.checks.kept_findings import with_extracts
from mdmem.checks.live_findings import LiveFindings
from mdmem.dataclass import dataclass
from mdmem.errors import MdmemError, SettingsError, shown_message
from mdmem.finding import Finding, Place, Severity
from mdmem.lsp.edits import Edits
from mdmem.lsp.session import EditorSession
from mdmem.settings import Settings
from mdmem.tree import SETTINGS_NAME, OverlaidTree

SETTINGS_CODE = "settings"


@dataclass(eq=False)
class SessionFindings:
    """The findings of one session, as of the revision that was looked at last."""

    session: EditorSession
    _revision: int = -1
    _live: LiveFindings | None = None
    _found: tuple[Finding, ...] = ()

    def now(self) -> tuple[Finding, ...]:
        """Return the findings of the session as it is."""
        if self._revision != self.session.revision or self._live is None:
            self._found = self._looked()
            self._revision = self.session.revision
        return self._found

    def _looked(self) -> tuple[Finding, ...]:
        try:
            return self._checked()
        except SettingsError as error:
            # Until they can be read nothing else can be said: nobody knows which checks are wanted.
            self._live = None
            message, _, help_ = shown_message(str(error)).partition("; ")
            place = Place(SETTINGS_NAME, error.line)
            return (Finding(SETTINGS_CODE, message, place, help_, severity=Severity.ERROR),)
        except MdmemError:
            # Where the folder, or git, went away meanwhile, there is nothing to say of it.
            self._live = None
            return ()

    def _checked(self) -> tuple[Finding, ...]:
        session = self.session
        workspace = session.workspace
        edits = session.unchecked.paths
        is_text = self._live is not None and edits is not None and SETTINGS_NAME not in edits
        settings = session.settings if is_text else workspace.settings
        codes = chosen_codes(settings)
        case = Case(workspace.catalog, settings, session.today(), session.facts)
        if self._live is None or edits is None or not self._live.may_edit(case, edits):
            require_known_wings(settings, workspace.catalog.wings)
            case = with_extracts(case, session.extracts)
            answers = AnswerStore(workspace.cache_folder).load()
            self._live = LiveFindings(case, codes, answers.asking(case))
        elif edits:
            self._live.edit(case, edits)
        session.unchecked = Edits.none()
        return self._told(self._live.findings(), settings)

    def _told(self, found: list[Finding], settings: Settings) -> tuple[Finding, ...]:
        if settings.baseline is None:
            return tuple(found)
        return tuple(without_known(self.session.workspace, found, chosen_codes(settings), None)[0])

    def tried(self, contents: Mapping[str, bytes]) -> tuple[Finding, ...]:
        """Return what would be found with other bytes in some files: the edit is made for a look, and taken back."""
        found, live, session = self.now(), self._live, self.session
        if live is None or not contents:
            return found
        workspace, settings = session.workspace, session.settings
        tree = OverlaidTree(workspace.whole_tree, contents)
        if not may_be_edited(workspace.catalog, contents):
            case = Case(workspace.over(tree).catalog, settings, session.today(), session.facts)
            return self._told(run_checks(with_extracts(case, session.extracts), chosen_codes(settings)), settings)
        catalog = with_edits(workspace.catalog, tree, contents)
        now = Case(workspace.catalog, settings, session.today(), session.facts)
        try:
            live.edit(Case(catalog, settings, session.today(), session.facts), contents)
            return self._told(live.findings(), settings)
        finally:
            live.edit(now, contents)

    def fresh(self, finding: Finding) -> Finding:
        """Return a finding as its check alone tells it now: what moves files names places in others, too.

        Those are kept as they were when the check was asked last.
        """
        session, settings = self.session, self.session.settings
        case = Case(session.catalog, settings, session.today(), session.facts)
        found = run_checks(with_extracts(case, session.extracts), [finding.code])
        return next((one for one in found if (one.place, one.message) == (finding.place, finding.message)), finding)
