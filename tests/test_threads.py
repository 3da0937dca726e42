"""One thread for linear algebra, and how often its libraries are looked for."""

from __future__ import annotations

import sys
from types import ModuleType

import threadpoolctl

from understudy.threads import one_thread


def test_libraries_are_looked_for_once_until_more_is_imported(monkeypatch):
    looked = []
    search = threadpoolctl.ThreadpoolController._load_libraries

    def counting(self):
        looked.append(1)
        search(self)

    monkeypatch.setattr(threadpoolctl.ThreadpoolController, "_load_libraries", counting)
    monkeypatch.setitem(sys.modules, "one_more", ModuleType("one_more"))
    for _ in range(3):
        with one_thread():
            pass
    assert len(looked) == 1
    monkeypatch.setitem(sys.modules, "another", ModuleType("another"))
    with one_thread():
        assert {library["num_threads"] for library in threadpoolctl.threadpool_info()} == {1}
    # The last look is that of `threadpool_info`.
    assert len(looked) == 3
