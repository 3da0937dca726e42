"""Kernels: functions that are compiled when they are first called, or come compiled with a wheel.

A wheel made by ``make wheel`` has kernels that were compiled for most processors of its kind. They
are used if they belong to the very sources, the version of Python and that of Numba; all others
are compiled where they run, once, and kept where Numba keeps them. No result depends on it.
"""

from __future__ import annotations

import functools
import logging
import os
import platform
import threading
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, cast

from understudy.errors import UnderstudyError

if TYPE_CHECKING:
    from numba.core.event import Event

P = ParamSpec("P")
R = TypeVar("R")

MESSAGE = (
    "understudy: preparing its counting kernels for this machine, once; "
    "this takes some seconds, and later runs start at once."
)

EACH_TIME = (
    "understudy: preparing its counting kernels; this takes some seconds in each run, since "
    "neither its own folder nor that of the user can be written to. Set NUMBA_CACHE_DIR to a "
    "folder that can, and later runs start at once."
)

SOURCES = Path(__file__).parents[1]

READY = SOURCES / "compiled"
"""The folder of the kernels that came with the wheel: one folder for each folder of sources."""

COMMON_PROCESSOR = "x86-64-v3" if platform.machine() in {"x86_64", "AMD64"} else "generic"
"""The processor that those are compiled for: x86-64-v3 is any of Intel since 2013, AMD since 2015.

Without its wider instructions, the search for the nearest records would take half as long again.
"""

_NEEDED = {"x86-64-v3": ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"), "generic": ()}

_said = threading.Event()
_asking = threading.Lock()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function when it is first called, once for each type of its arguments.

    What was compiled is kept for later runs. A kernel lets go of Python's lock, so that threads run
    side by side. Coverage cannot see into compiled code: tests compare kernels with NumPy.
    """
    return _compiled(function, inline="never")


def inlined_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function into each kernel that calls it, where a call would take too long."""
    return _compiled(function, inline="always")


def _compiled(function: Callable[P, R], inline: Literal["never", "always"]) -> Callable[P, R]:
    from numba import njit

    _announce_compilation()
    compile_ = njit(cache=True, nogil=True, inline=inline)
    try:
        compiled: Any = compile_(function)
    except RuntimeError:  # there is no place to keep it
        _folder_of_this_run()
        compiled = compile_(function)
    if READY.is_dir() and _is_common():
        compiled._cache = _ready_or_own()(function)  # noqa: SLF001  # there is no other way in
    return cast("Callable[P, R]", compiled)


@functools.cache
def _folder_of_this_run() -> TemporaryDirectory[str]:
    """Keep what is compiled in a folder of this run, which its own processes use too."""
    from numba import config

    try:
        folder = TemporaryDirectory(prefix="understudy-", ignore_cleanup_errors=True)
    except OSError as error:
        raise UnderstudyError(
            "No folder for temporary files can be written to. Set TMPDIR to one that can."
        ) from error
    os.environ["NUMBA_CACHE_DIR"] = folder.name
    vars(config)["CACHE_DIR"] = folder.name  # read from the environment when Numba was loaded
    return folder


@functools.cache
def _is_common() -> bool:
    """Return whether kernels that were compiled for the common processor run on this one."""
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    return all(features.get(name, False) for name in _NEEDED[COMMON_PROCESSOR])


def folder_of(source: Path) -> str:
    """Return the name of the folder in `READY` for the kernels of a module."""
    return "-".join(source.parent.relative_to(SOURCES).parts)


@functools.cache
def _ready_or_own() -> Any:  # noqa: ANN401  # a class of Numba's
    """Return a store of compiled functions that looks into `READY` first."""
    from numba.core.caching import FunctionCache, IndexDataCacheFile

    class ReadyOrOwn(FunctionCache):
        def __init__(self, function: Callable[..., Any]) -> None:
            super().__init__(function)  # type: ignore[no-untyped-call]
            source = Path(function.__code__.co_filename)
            self._ready = IndexDataCacheFile(
                cache_path=str(READY / folder_of(source)),
                filename_base=self._impl.filename_base,
                source_stamp=self._impl.locator.get_source_stamp(),
            )

        def _load_overload(self, sig: Any, target_context: Any) -> Any:  # noqa: ANN401
            types, processor, code = self._index_key(  # type: ignore[no-untyped-call]
                sig, target_context.codegen()
            )
            data = self._ready.load((types, (processor[0], COMMON_PROCESSOR, ""), code))
            if data is None:
                return super()._load_overload(  # type: ignore[no-untyped-call]
                    sig, target_context
                )
            return self._impl.rebuild(target_context, data)

    return ReadyOrOwn


def _announce(event: Event) -> None:
    """Say once per process that a kernel of this package is being compiled."""
    details: dict[str, Any] = event.data
    if not details["dispatcher"].py_func.__module__.startswith("understudy."):
        return
    with _asking:
        if _said.is_set():
            return
        _said.set()
    kept = not _folder_of_this_run.cache_info().currsize
    logging.getLogger("understudy").warning(MESSAGE if kept else EACH_TIME)


@functools.cache
def _announce_compilation() -> None:
    """Tell the user when a kernel is compiled rather than loaded.

    Compiling takes seconds, loading milliseconds. Numba broadcasts the event "numba:compile" only
    for the former, so a second run on the same machine is silent.
    """
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Event) -> None:
            _announce(event)

        def on_end(self, event: Event) -> None:
            """Nothing to say: the work that waited goes on."""

    event.register("numba:compile", Listener())
