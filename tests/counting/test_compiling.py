from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from understudy.counting import compiling
from understudy.counting.compiling import EACH_TIME, MESSAGE

COUNT = """
import sys
from pathlib import Path
from understudy.counting import compiling
compiling.READY = Path(sys.argv[1])
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


def run(cache, ready, **environment):
    done = subprocess.run(  # our own code
        [sys.executable, "-W", "error", "-c", COUNT, str(ready)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "True"
    return done.stderr.strip()


@pytest.mark.skipif(not compiling._is_common(), reason="this processor is not as most are")
def test_kernels_are_compiled_once_for_a_machine_or_come_with_the_wheel(tmp_path):
    for_most, own, ready = tmp_path / "most", tmp_path / "own", tmp_path / "ready"
    # A new machine is told once why it waits, though two kernels are compiled; then all is silent.
    common = {"NUMBA_CPU_NAME": compiling.COMMON_PROCESSOR, "NUMBA_CPU_FEATURES": ""}
    assert run(for_most, ready, **common) == MESSAGE
    assert run(for_most, ready, **common) == ""

    # What was compiled for the common processor serves this one, which compiles nothing itself.
    shipped = ready / compiling.folder_of(Path(compiling.__file__))
    (made,) = for_most.iterdir()
    shutil.copytree(made, shipped)
    assert run(own, ready) == ""
    assert not list(own.rglob("*.nbc"))


def test_kernels_are_kept_for_one_run_where_no_folder_can_be_written_to(tmp_path):
    # A user-provided folder is all that Numba may look for, and none is provided.
    (tmp_path / "twice.py").write_text(
        "import os\n"
        "from types import SimpleNamespace\n"
        "from understudy.counting import compiling\n"
        "@compiling.kernel\n"
        "def double(x):\n    return 2 * x\n"
        "folder = os.environ['NUMBA_CACHE_DIR']\n"
        "print(double(4), len(os.listdir(folder)), folder)\n"
        "kernel = SimpleNamespace(py_func=SimpleNamespace(__module__='understudy.x'))\n"
        "compiling._announce(SimpleNamespace(data={'dispatcher': kernel}))\n"
    )
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    done = subprocess.run(  # our own code
        [sys.executable, "twice.py"],
        cwd=tmp_path,
        env={**environment, "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator"},
        capture_output=True,
        text=True,
        check=True,
    )
    doubled, kept, folder = done.stdout.split()
    assert (doubled, kept) == ("8", "1")
    assert not Path(folder).exists()
    assert done.stderr.strip() == EACH_TIME


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
