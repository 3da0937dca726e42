"""Run a command, and write what it took of time and memory to a file as JSON.

``python measured_process.py FILE SECONDS COMMAND...`` waits for the command. The study begins its
commands through this small process: Linux counts the memory of the parent, as it was when the child
began, as the child's own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time


def measure(command: list[str], limit: float) -> dict[str, float]:
    """Run a command, end it after some seconds, and return its exit code and what it took."""
    begun = time.monotonic()
    process = subprocess.Popen(command)  # noqa: S603  # our own command
    alarm = threading.Timer(limit, process.kill)
    alarm.start()
    # Only wait4 tells the memory of this one child.
    _, status, used = os.wait4(process.pid, 0)
    alarm.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return {
        "exit_code": process.returncode,
        "seconds": time.monotonic() - begun,
        "cpu": used.ru_utime + used.ru_stime,
        # Linux counts in kibibytes, macOS in bytes.
        "megabytes": used.ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024),
    }


if __name__ == "__main__":
    file, limit, *command = sys.argv[1:]
    measured = measure(command, float(limit))
    with open(file, "w", encoding="utf-8") as written:  # noqa: PTH123  # few modules: little memory
        json.dump(measured, written)
