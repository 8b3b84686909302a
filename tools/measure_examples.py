#!/usr/bin/python3
"""Measures the examples from profile to run: predictions first, on clusters of the emulated cloud.

Usage: measure_examples.py STINT [--out FOLDER] [--kinds paced-real,real] [--repeats N]

Each example is profiled on one VM with a fraction of a processor, as a slow accelerator. Then what
it takes on clusters of several such VMs is predicted from that profile and the shipped calibration
of the emulated network, and only then it runs there:

paced-real  The script computes its gradients as fast as it can, and then waits for the profiled
            time. The VMs have no quota: what is tested is the way from profile to cluster, with
            real gradients, buckets and network.
real        The script computes under the same quota as in its profile; compute is no longer right
            by construction. Each setup runs several times; the median of all iterations counts.

Nothing else may run on the computer meanwhile. Needs root, for namespaces, and cgroups.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from local_vms import run_by_stint  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "data/measurements/local"
EXAMPLES = {"cnn": 32, "transformer": 16, "mlp": 64}  # With their batches per worker.
STEPS = 24
WARM_UP = 4
# By kind of compute: the quota of the profile, and what the examples run on. The workers' computing
# must fit into the processors: quota x VMs stays below 60 % of two of them for paced-real, and below
# all of them for real.
KINDS = {
    "paced-real": (0.15, ["2x local.large", "4x local.medium", "1x local.medium + 3x local.large",
                         "6x local.small"]),
    "real": (0.4, ["2x local.medium", "3x local.large", "4x local.large"]),
}


def environment():
    """The environment of every program on a VM."""
    return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": "/tmp",
            "PYTHONPATH": str(ROOT / "python"), "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1"}


def script(name):
    """The training command."""
    return [str(ROOT / f"python/examples/{name}.py"), "--steps", str(STEPS + WARM_UP + 3)]


def profile(stint, name, kind, path):
    """Profiles an example on one VM under the quota of its kind."""
    quota = KINDS[kind][0]
    command = [os.path.abspath(stint), "profile", "-q", "--device", "Local-1x", "--name",
               f"{name}-{kind}", "--steps", str(STEPS), "--batches", "own", "--out", str(path),
               "--", "/usr/bin/python3", *script(name)]
    run_by_stint(stint, "1x local.large", command, environment(), 600, quota)
    job = json.loads(path.read_text())
    job["command"] = ["/usr/bin/python3", f"python/examples/{name}.py"]
    for maker in ("made_on", "made_by"):  # Who profiled it is no fact of the job.
        job.get("environment", {}).pop(maker, None)
    return job


def start_line(run, job, batch, cluster, kind):
    """The line of a measurement that says what runs."""
    groups = [{"workers_per_vm": 1, "batch_per_worker": batch} for _ in cluster.split(" + ")]
    layout = {"cluster": cluster, "groups": groups, "collective": "ring", "accumulation": 1}
    return {"schema": "stint.measurement/1", "run": run, "at_s": round(time.time(), 3),
            "start": {"job": job, "layout": layout, "compute": kind}}


def run_once(stint, name, kind, cluster, path):
    """Seconds of each iteration of an example on a cluster."""
    words = ["/usr/bin/python3", "-m", "stint.paced", "--mode", kind, "--steps", str(STEPS + WARM_UP)]
    if kind != "real":
        words += ["--job", str(path), "--batch", str(EXAMPLES[name])]
    quota = KINDS[kind][0] if kind == "real" else None
    said = run_by_stint(stint, cluster, [*words, "--", *script(name)], environment(), 900, quota)
    times = []
    for line in said:
        if line.startswith("{") and "iteration" in (told := json.loads(line)):
            times.append(told["iteration"]["time_s"])
    return times[WARM_UP:]


def call(*words):
    """Runs stint and prints its output."""
    print("$", *words, file=sys.stderr, flush=True)
    subprocess.run(words, check=True)


def measure(stint, kind, out, repeats, folder):
    """Profiles, predicts, runs and scores the examples with one kind of compute."""
    jobs, profiles = {}, {}
    for name in EXAMPLES:
        profiles[name] = folder / f"{name}-{kind}.json"
        jobs[name] = profile(stint, name, kind, profiles[name])
        print(f"profiled {name}", file=sys.stderr, flush=True)
    listed = out / f"examples-{kind}-jobs.json"
    listed.write_text(json.dumps(list(jobs.values()), indent=1) + "\n")
    setups = [(name, cluster) for name in EXAMPLES for cluster in KINDS[kind][1]]
    starts = [start_line(f"{name} on {cluster}", f"{name}-{kind}", EXAMPLES[name], cluster, kind)
              for name, cluster in setups]
    asked, runs = out / f"examples-{kind}-setups.jsonl", out / f"examples-{kind}.jsonl"
    asked.write_text("".join(json.dumps(line) + "\n" for line in starts))
    score = [stint, "validate", "runs", "--calibration", "local", "--jobs", str(listed)]
    call(*score, "--test", str(asked), "--predictions", str(out / f"examples-{kind}.csv"))
    with open(runs, "w", encoding="utf-8") as file:
        for (name, cluster), start in zip(setups, starts):
            again = repeats if kind == "real" else 1
            all_times = [run_once(stint, name, kind, cluster, profiles[name])
                         for _ in range(again)]
            middle = statistics.median(value for times in all_times for value in times)
            lines = [start] + [
                {"schema": "stint.measurement/1", "run": start["run"], "at_s": round(time.time(), 3),
                 "iteration": {"number": number, "time_s": value}}
                for number, value in enumerate(v for times in all_times for v in times)]
            file.write("".join(json.dumps(line) + "\n" for line in lines))
            file.flush()
            print(f"{start['run']}: {middle:.4f} s, {again} runs", file=sys.stderr, flush=True)
    call(*score, "--test", str(runs))


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("stint", help="the program to measure and predict with")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--kinds", default="paced-real,real")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each real setup")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="stint-examples-") as folder:
        for kind in options.kinds.split(","):
            measure(options.stint, kind, options.out, options.repeats, Path(folder))


if __name__ == "__main__":
    main()
