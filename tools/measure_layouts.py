#!/usr/bin/python3
"""Measures iterations of a split transformer on the emulated cloud: tensor, pipeline, sharded.

Usage: measure_layouts.py STINT [--out FILE] [--only TEXT] [--steps N] [--dry-run]

Each setup is a layout on two to four VMs with shaped NICs. Compute is paced (python/stint/
paced_layout.py): layers take the time that the line says, what is sent is real. A line of the file
has all that a prediction needs, and what was measured:

    layout, cluster, link_bits_per_s   what ran where; a VM has one worker, by rank
    model, compute, batch              sizes (bytes per number: 4) and paced times
    iteration_s                        median and spread of the iterations after the first two
    sent_bytes, operations             of rank 0 and one iteration, by axis, as Gloo's rings send
    nic_sent_bytes                     of rank 0's NIC, with headers
    load                               of the computer before the setup; others spoil the times

About six minutes. Nothing else may run on the computer meanwhile. Needs root, for namespaces. What
has been measured is kept: started again, it goes on where it stopped.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from local_vms import run_by_stint  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "data/measurements/layouts/paced.jsonl"
RATES = {"local.medium": 250e6, "local.large": 500e6, "local.xlarge": 1e9}
MODEL = {"layers": 4, "width": 512, "length": 512, "letters": 256}
COMPUTE = {"forward_ms": 40, "backward_ms": 80, "update_ms": 20}
STEPS = 7
WARM_UP = 2
LIMIT = 300  # Seconds of a setup, for what hangs.

# (layout, VMs, their type, samples of a step).
SETUPS = [
    ("tp2", 2, "local.large", 4),
    ("tp2 sp", 2, "local.large", 4),
    ("tp4", 4, "local.xlarge", 4),
    ("pp2 mb1", 2, "local.large", 4),
    ("pp4 mb1", 4, "local.medium", 8),
    ("tp2 pp2 mb1", 4, "local.large", 4),
    ("dp2 tp2", 4, "local.xlarge", 4),
    ("dp2 pp2 mb1", 4, "local.large", 8),
    ("dp2", 2, "local.large", 4),
    ("dp2 zero1", 2, "local.large", 4),
    ("dp2 zero2 mb1", 2, "local.xlarge", 4),
    ("dp2 zero3", 2, "local.large", 4),
    ("dp2 zero3 mb1 recompute:full", 2, "local.xlarge", 4),
    ("dp3 zero3", 3, "local.large", 6),
    ("dp4 zero1", 4, "local.xlarge", 8),
    ("dp4 zero3", 4, "local.xlarge", 8),
]


def setups():
    """The setups by name."""
    found = []
    for layout, vms, kind, batch in SETUPS:
        cluster = f"{vms}x {kind}"
        found.append({"name": f"{layout} on {cluster}", "layout": layout, "cluster": cluster,
                      "link_bits_per_s": RATES[kind], "batch": batch})
    return found


def measure(setup, stint, steps):
    """Runs one setup; the line about it."""
    options = {**MODEL, **COMPUTE, "batch": setup["batch"], "steps": steps}
    command = ["/usr/bin/python3", "-m", "stint.paced_layout"]
    for name, value in options.items():
        command += ["--" + name.replace("_", "-"), str(value)]
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": "/tmp",
                   "PYTHONPATH": str(ROOT / "python"), "OMP_NUM_THREADS": "1",
                   "PYTHONDONTWRITEBYTECODE": "1", "STINT_LAYOUT": setup["layout"]}
    load = os.getloadavg()[0]
    said = [json.loads(line) for line in
            run_by_stint(stint, setup["cluster"], command, environment, LIMIT)
            if line.startswith("{")]
    times = [line["iteration"]["time_s"] for line in said if "iteration" in line]
    summary = said[-1]["summary"]
    middle = statistics.median(times[WARM_UP:])
    return {"schema": "stint.layout-step/1", **setup, "model": MODEL, "compute": COMPUTE, "compute_kind": "paced",
            "micro_batches": summary["micro_batches"],
            "iteration_s": {"median": round(middle, 6), "min": min(times[WARM_UP:]),
                            "max": max(times[WARM_UP:]), "all": times},
            "sent_bytes": summary["sent_bytes"], "operations": summary["operations"],
            "nic_sent_bytes": summary["nic_sent_bytes"], "load": load,
            "at_s": round(time.time()), "kernel": platform.release()}


def measured(path):
    """The names of the setups that are in the file."""
    if not path.exists():
        return set()
    return {json.loads(line)["name"] for line in path.read_text().splitlines()}


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("stint", help="the program whose VMs are used")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--only", help="run just the setups whose name holds this text")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"of a setup, above {WARM_UP}")
    parser.add_argument("--dry-run", action="store_true", help="list the setups and stop")
    options = parser.parse_args()
    if options.steps <= WARM_UP:
        parser.error(f"--steps must be above {WARM_UP}")
    chosen = [one for one in setups() if not options.only or options.only in one["name"]]
    if options.dry_run:
        print("\n".join(one["name"] for one in chosen))
        return
    options.out.parent.mkdir(parents=True, exist_ok=True)
    have = measured(options.out)
    for setup in chosen:
        if setup["name"] in have:
            continue
        line = measure(setup, options.stint, options.steps)
        with open(options.out, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        times = line["iteration_s"]
        print(f"{setup['name']:<48} {times['median']:.3f} s, from {times['min']:.3f} to "
              f"{times['max']:.3f}", flush=True)


if __name__ == "__main__":
    main()
