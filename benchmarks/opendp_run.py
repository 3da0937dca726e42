"""AIM of OpenDP on codes, in an environment with `opendp[mbi]`: see `private.py`, which runs it.

Arguments: a CSV file of codes, where to write the release, the number of codes of each column as
JSON, and rho of zero-concentrated differential privacy. Prints CPU seconds, without those of its
imports, and memory as JSON. Neighbours are add-remove.
"""

from __future__ import annotations

import json
import resource
import sys

import opendp.prelude as dp
import polars as pl
from opendp.extras.mbi import AIM

if __name__ == "__main__":
    path, out, sizes, rho = sys.argv[1:]
    dp.enable_features("contrib")
    started = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    rows = pl.read_csv(path).height
    names = pl.read_csv(path, n_rows=0).columns
    keys = {name: list(range(size)) for name, size in zip(names, json.loads(sizes), strict=True)}
    context = dp.Context.compositor(
        data=pl.scan_csv(path),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=float(rho)),
        split_evenly_over=1,
    )
    table = context.query().contingency_table(keys=keys, algorithm=AIM(queries=3)).release()
    release = table.synthesize()
    # OpenDP has a level for missing values in every column.
    filled = release.select(pl.col(name).fill_null(0).cast(pl.Int64) for name in names)
    filled.sample(rows, with_replacement=len(filled) < rows, seed=0).write_csv(out)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"cpu": used.ru_utime - started, "mb": used.ru_maxrss / 1024}))
