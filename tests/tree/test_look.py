import pytest

from mdmem.tree.look import FolderLook, column_of


@pytest.mark.parametrize(("inode", "is_stored"), [(7, True), (1 << 63, False)])
def test_look_gives_the_stats_it_took_and_stores_none_that_no_file_holds(inode: int, is_stored: bool) -> None:
    stats = [(10, 11, 12, 13), (20, 21, 22, inode)]
    paths = ["app/r/a.md", "app/r/b.md"]
    look = FolderLook(1 << 62, ["a.md", "b.md"], (), paths, column_of(stats), dict.fromkeys(paths, "d"))
    assert look.stats == dict(zip(paths, stats, strict=True))
    stored = look.stored()
    assert (stored is not None) is is_stored
    if stored is not None:
        again = stored.look("app/r/", at=1 << 62)
        assert again is not None
        assert again.tells_as(look)
