"""What a study of cells does when it is run: the cells that are missing, kept one by one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

Cell = dict


def run_missing(
    script: str,
    keys: Sequence[str],
    cells: Sequence[Cell],
    repetitions: Callable[[Cell], int],
    run_cell: Callable[[Cell, int], Cell],
    share: float,
) -> None:
    """Run every cell whose record, told by `keys`, is not beside `script` with `share` of its repetitions."""
    path = Path(script).with_suffix(".json")
    known = json.loads(path.read_text()) if path.exists() else []
    done = {json.dumps([record[key] for key in keys]): record for record in known}
    # JSON has no nan: a parameter that a cell does not have is None in its record.
    order = [json.dumps([None if cell[key] != cell[key] else cell[key] for key in keys]) for cell in cells]
    for cell, key in zip(cells, order, strict=True):
        count = max(10, round(share * repetitions(cell)))
        if key in done and done[key]["repetitions"] >= count:
            continue
        done[key] = run_cell(cell, count)
        print(done[key], flush=True)
        records = [done[name] for name in order if name in done]
        # Whole or not at all: a study may be interrupted at any time.
        part = path.with_suffix(".part")
        part.write_text(json.dumps(records, indent=1, allow_nan=False) + "\n")
        part.replace(path)
