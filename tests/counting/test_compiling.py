from __future__ import annotations

import os
import subprocess
import sys
import threading
from types import SimpleNamespace

from understudy.counting import compiling
from understudy.counting.compiling import MESSAGE

COUNT = """
import numba
import numpy as np
from understudy.counting import pairwise_information
from understudy.data.coded import Coded

numba.njit(lambda x: x + 1)(1)  # somebody else's kernel is none of our business
codes = np.arange(2000) % 7
few = Coded.from_arrays({"a": codes, "b": codes, "c": codes})
wide = Coded.from_arrays({"a": codes, "b": codes * 50})
print(pairwise_information(few)[0, 1] == pairwise_information(wide)[0, 1])
"""


def run(cache):
    return subprocess.run(  # our own code
        [sys.executable, "-W", "error", "-c", COUNT],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )


def test_a_new_machine_is_told_once_why_it_waits_and_later_runs_are_silent(tmp_path):
    first = run(tmp_path)
    assert first.stdout.strip() == "True"
    assert first.stderr.strip() == MESSAGE  # once, though two kernels were compiled

    second = run(tmp_path)
    assert second.stdout.strip() == "True"
    assert second.stderr == ""


def test_the_package_does_not_load_the_compiler_before_it_counts():
    code = "import sys, understudy.counting; print('numba' in sys.modules)"
    done = subprocess.run(  # our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_only_kernels_of_this_package_are_announced_and_only_once(caplog, monkeypatch):
    monkeypatch.setattr(compiling, "_said", threading.Event())

    def compile_kernel_of(module):
        kernel = SimpleNamespace(py_func=SimpleNamespace(__module__=module))
        compiling._announce(SimpleNamespace(data={"dispatcher": kernel}))

    compile_kernel_of("somebody.kernels")
    compile_kernel_of("understudy_of_another_name")
    assert caplog.messages == []
    compile_kernel_of("understudy.counting.kernels")
    compile_kernel_of("understudy.synthesis.bayes")
    assert caplog.messages == [MESSAGE]
