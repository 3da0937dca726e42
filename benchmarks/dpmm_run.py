"""AIM of dpmm on codes, in an environment of its own: see `private.py`, which runs it.

Arguments: a CSV file of codes, where to write the release, the number of codes of each column as
JSON, epsilon and delta. Prints CPU seconds, without those of its imports, and memory as JSON.
Neighbours are add-remove.
"""

from __future__ import annotations

import json
import resource
import sys

import pandas as pd
from dpmm.pipelines import AIMPipeline

if __name__ == "__main__":
    path, out, sizes, epsilon, delta = sys.argv[1:]
    started = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    frame = pd.read_csv(path)
    pipeline = AIMPipeline(
        epsilon=float(epsilon), delta=float(delta), disable_processing=True, n_jobs=1
    )
    domain = dict(zip(frame.columns, json.loads(sizes), strict=True))
    pipeline.fit(frame, domain)
    pipeline.generate(len(frame))[list(frame.columns)].to_csv(out, index=False)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"cpu": used.ru_utime - started, "mb": used.ru_maxrss / 1024}))
