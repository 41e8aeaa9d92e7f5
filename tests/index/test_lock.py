from pathlib import Path

import pytest

from mdmem.store.index.folder import locked
from mdmem.store.index.protocol import IndexBusyError


def test_locked_raises_when_somebody_holds_it(tmp_path: Path) -> None:
    with locked(tmp_path, wait=0), pytest.raises(IndexBusyError), locked(tmp_path, wait=0):
        pass


def test_locked_lets_go_when_what_it_guards_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(tmp_path, wait=0):
        raise ZeroDivisionError
    with locked(tmp_path, wait=0):
        pass
