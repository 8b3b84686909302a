#!/usr/bin/python3
"""Measures runs on the emulated cloud: what they were forecast to take and cost, and what they did.

Usage: measure_runs.py STINT [--only PART] [--out FOLDER] [--count N]

runs      Seeded runs on spot machines that come and go, with and without notice: whether they
          finish, how far their parameters are from those of an uninterrupted training, whether the
          80 % interval of the forecast covers the bill, and whether the bill adds up.
deadline  Seeded runs whose spot machines are away most of the time, with a deadline of twice the
          time that machines on demand take: whether it is kept, and what it costs beside those.
mixed     Fast and slow machines with Stint's shares of the batch, and with equal ones.
saves     How long training stands still for a save, against a save that blocks it; and how long the
          transfer takes against the prediction, by place.
replan    A machine's network is slowed to a third in mid-run: what is noticed, and what follows.

Each part writes a line of JSON for each case to FOLDER/PART.jsonl, and prints a table. Cases that
are in the file already are not run again. `tools/make_runs_doc.py` makes the page of them.

Compute is paced-real: gradients are computed, and take the time of the job's profile. Nothing else
may run on the computer meanwhile. Needs root, for namespaces.
"""

import argparse
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from run_bench import PYTHON, SECONDS_MAX, Bench, covers, furthest, outcome, width  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "data/measurements/runs"

# Neither has BatchNorm or dropout, so that any cluster does the same training; where that is to be
# shown they train in double precision (tools/in_double.py). By job: the samples of a step for each
# machine, and steps that take about 50 s on three of them.
TRAININGS = {"transformer": (16, 100), "mlp": (64, 45)}
SEEDS = 20
SEEDS_BEFORE = 80  # Seeds with which the forecast was developed.
LIFE = "spells:40s/12s"
NOTICES = ("3s", "0s")
PLACES = ("folder", "anchor", "folder", "tier")

DEADLINE_SEEDS = 10
DEADLINE_LIFE = "spells:20s/120s"
DEADLINE_CLUSTER = "3x local.large"
DEADLINE_FACTOR = 2.0  # Relative to the time of on-demand machines.

MIXED = ("2x local.fast + 2x local.large", "2x local.fast + 2x local.small")
MIXED_STEPS = 60
MIXED_BATCH = 96

SAVE_WIDTH = 3400  # Width of the perceptron: 97 MB of parameters, and as much of momentum.
SAVE_PLACES = (("folder", 0), ("anchor", 1), ("tier", 1), ("tier", 2), ("tier", 4))
SAVE_WORKERS = 4
SAVE_SENDERS = f"{SAVE_WORKERS}x local.xlarge"
SAVE_VMS = ",".join(f"vm{one}" for one in range(1, SAVE_WORKERS + 1))
SAVE_STEPS = 36
SAVE_MEGABYTES = 200  # Size of the state in the test of stalls.
PORT = 29400
SECRET = "5a" * 32

REPLAN_CLUSTER = "3x local.large"
REPLAN_STEPS = 60
REPLAN_AFTER = 12  # Steps.
REPLAN_RATE = "167Mbit/s"  # A third of a local.large's.


# The parts: each lists its cases by name, and measures one of them.

def runs_cases(count):
    """Some runs without a loss, which show the effect of the order of sums alone on parameters."""
    cases = {f"calm {job}": (job, 3, None, "3s", "folder") for job in TRAININGS}
    for seed in range(SEEDS_BEFORE + 1, SEEDS_BEFORE + min(count, SEEDS) + 1):
        job = list(TRAININGS)[seed % 2]
        cases[f"seed {seed}"] = (job, 3 + seed // 2 % 2, seed, NOTICES[seed // 4 % 2],
                                 PLACES[seed % len(PLACES)])
    return cases


def measure_run(bench, _name, case):
    job, machines, seed, notice, place = case
    if not bench.double:
        bench.use_double()
    share, steps = TRAININGS[job]
    batch = 3 * share  # The same on three and on four machines.
    name = f"run-{seed}" if seed else f"calm-{job}"
    market = ["--life", LIFE, "--seed", str(seed), "--notice", notice] if seed else []
    kind = ":spot" if seed else ""
    places = ["--checkpoints", place] + (["--receivers", "2"] if place == "tier" else [])
    report, _ = bench.run(name, f"{machines}x local.large{kind}", job, steps, batch, *market,
                          *places)
    facts = {"job": job, "machines": machines, "notice": notice, "place": place, **outcome(report)}
    trained = bench.folder / f"{name}.pt"
    if trained.exists():
        facts["parameters"] = furthest(trained, bench.reference(job, steps, batch))
    return facts


def show_runs(lines):
    row("", "state", "time s", "forecast", "cost USD", "80 % interval", "in it", "losses", "redone",
        "parameters")
    for name, one in lines.items():
        cost = one["forecast"]["cost_usd"]
        row(name, one["state"], f"{one['time_s']:.1f}",
            f"{one['forecast']['time_s']['mean']:.1f}", f"{one['cost_usd']:.5f}",
            f"{cost['p10']:.5f}-{cost['p90']:.5f}", "yes" if covers(one) else "no", one["losses"],
            one["redone"], f"{one.get('parameters', float('nan')):.1e}")
    seeded = [one for name, one in lines.items() if name.startswith("seed")]
    if seeded:
        apart = max(abs(one["bill_difference_usd"]) for one in seeded)
        print(f"{sum(map(covers, seeded))} of {len(seeded)} bills are in their interval, whose "
              f"mean width is {statistics.mean(map(width, seeded)):.2f} of the mean; the bill "
              f"differs by at most {apart:.1g} USD")


def deadline_cases(count):
    cases = {"on demand": None}
    return cases | {f"seed {seed}": seed for seed in range(1, min(count, DEADLINE_SEEDS) + 1)}


def measure_deadline(bench, _name, seed, lines):
    share, steps = TRAININGS["transformer"]
    batch = 3 * share
    if seed is None:
        report, _ = bench.run("on-demand", DEADLINE_CLUSTER, "transformer", steps, batch)
        return outcome(report)
    deadline = DEADLINE_FACTOR * lines["on demand"]["time_s"]
    report, _ = bench.run(f"deadline-{seed}", DEADLINE_CLUSTER + ":spot", "transformer", steps,
                          batch, "--life", DEADLINE_LIFE, "--seed", str(seed), "--notice", "3s",
                          "--deadline", f"{deadline:.1f}s")
    bought = [vm["from_s"] for vm in report["vms"] if vm["market"] == "on-demand"]
    return {"deadline_s": deadline, "first_on_demand_s": min(bought, default=None),
            "on_demand": len(bought), "vms": report["vms"], **outcome(report)}


def show_deadline(lines):
    row("", "state", "time s", "deadline", "kept", "cost USD", "of on demand", "bought at s",
        "losses")
    calm = lines.get("on demand")
    for name, one in lines.items():
        deadline = one.get("deadline_s", float("nan"))
        bought = one.get("first_on_demand_s")
        row(name, one["state"], f"{one['time_s']:.1f}", f"{deadline:.1f}",
            "yes" if one["state"] == "trained" and one["time_s"] <= deadline else "no",
            f"{one['cost_usd']:.5f}", f"{one['cost_usd'] / calm['cost_usd']:.2f}" if calm else "",
            "never" if bought is None else f"{bought:.1f}", one["losses"])


def mixed_cases(_count):
    return {f"{cluster}, {shares}": (cluster, shares) for cluster in MIXED
            for shares in ("own", "equal")}


def measure_mixed(bench, _name, case):
    cluster, shares = case
    if not bench.double:
        bench.use_double()
    name = "mixed-" + shares + cluster[-5:].replace(".", "")
    options = ["--equal-shares"] if shares == "equal" else []
    report, _ = bench.run(name, cluster, "transformer", MIXED_STEPS, MIXED_BATCH, *options)
    # With equal shares the slow machines determine the time, as if all were slow.
    alike = cluster if shares == "own" else "4x " + cluster.split("x ")[-1]
    micro = 16 * sum(int(group.split("x")[0]) for group in cluster.split(" + "))
    predicted = json.loads(bench.call(
        "predict", "--job", str(bench.folder / "transformer.json"), "--cluster", alike,
        "--global-batch", str(MIXED_BATCH), "--accumulation", str(-(-MIXED_BATCH // micro)), "-o",
        "json"))["iteration"]["mean_s"]
    return {"cluster": cluster, "shares": shares, **outcome(report), "predicted_s": predicted,
            "loss": bench.losses(name)}


def show_mixed(lines):
    row("", "step s", "predicted", "speedup", "predicted", "loss differs by")
    for cluster in MIXED:
        own, equal = (lines.get(f"{cluster}, {shares}") for shares in ("own", "equal"))
        if not own or not equal:
            continue
        both = own["loss"].keys() & equal["loss"].keys()
        apart = max(abs(own["loss"][step] - equal["loss"][step]) for step in both)
        for one in (own, equal):
            row(f"{cluster}, {one['shares']}", f"{one['step']['measured_s']:.4f}",
                f"{one['predicted_s']:.4f}",
                f"{equal['step']['measured_s'] / one['step']['measured_s']:.3f}",
                f"{equal['predicted_s'] / one['predicted_s']:.3f}", f"{apart:.1e}")


SAVE_COMPUTE = [{
    "device": "Local-1x", "batch_per_worker": 8, "peak_memory": "1 GB",
    "forward": {"median": "90 ms", "spread": "1 ms", "count": 20},
    "backward": {"median": "195 ms", "spread": "1 ms", "count": 20},
    "update": {"median": "15 ms", "spread": "1 ms", "count": 20}}]


def saves_cases(_count):
    found = {f"run {place} {receivers}": ("run", place, receivers)
             for place, receivers in SAVE_PLACES}
    return found | {f"stall {place} {receivers}": ("stall", place, receivers)
                    for place, receivers in SAVE_PLACES if (place, receivers) != ("tier", 1)}


def measure_saves(bench, _name, case):
    kind, place, receivers = case
    if kind == "stall":
        return {"place": place, "receivers": receivers, **measure_stall(bench, receivers)}
    bench.use_width(SAVE_WIDTH, 4, SAVE_COMPUTE)
    options = ["--receivers", str(receivers)] if place == "tier" else []
    report, record = bench.run(f"saves-{place}-{receivers}", SAVE_SENDERS, "mlp", SAVE_STEPS, 16,
                               "--checkpoints", place, "--save-every", "8s", *options)
    saves = report["saves"][1:]  # The first one allocates its buffers.
    return {"place": place, "receivers": receivers, **outcome(report), "saves": saves,
            "predicted_s": record["save_time_s"]}


def measure_stall(bench, receivers):
    """Blocking and asynchronous checkpoints of several workers, on a cluster without a run."""
    name = "stalls"
    cluster = SAVE_SENDERS + (f" + {receivers}x local.cpu" if receivers else "")
    bench.call("local", "up", "-q", "--cluster", cluster, "--name", name)
    keepers = []
    try:
        [status] = json.loads(bench.call("local", "list", "-o", "json"))["clusters"]
        words = ["--folder", str(bench.folder / "stalls")]
        if receivers:
            addresses = [vm["address"] for vm in status["vms"][SAVE_WORKERS:]]
            words = ["--receivers", ",".join(f"{one}:{PORT}" for one in addresses), "--secret",
                     SECRET]
            keepers = [start_receiver(bench, name, vm)
                       for vm in status["vms"][SAVE_WORKERS:]]
        script = (f"exec {PYTHON} {ROOT}/tools/measure_saves.py --shard $RANK --of {SAVE_WORKERS} "
                  f"--megabytes {SAVE_MEGABYTES} --out {bench.folder}/rows-{receivers}.$RANK "
                  + " ".join(words))
        bench.call("local", "exec", "--name", name, "--vms", SAVE_VMS, "--", "sh", "-c", script,
                   limit=SECONDS_MAX)
    finally:
        bench.call("local", "down", "-q", "--name", name)
        for keeper in keepers:
            keeper.wait(20)
    rows = []
    for rank in range(SAVE_WORKERS):
        lines = (bench.folder / f"rows-{receivers}.{rank}").read_text().splitlines()
        rows.append(json.loads(lines[-1]))  # The folder comes first.
    return {"workers": rows, "ratio": max(row["ratio"] for row in rows)}


def start_receiver(bench, cluster, machine):
    """Starts a receiver of checkpoints on a VM, and waits until it listens."""
    vm = machine["name"]
    keeper = subprocess.Popen(
        [bench.stint, "local", "exec", "--name", cluster, "--vms", vm, "--", "sh", "-c",
         f"echo {SECRET} | exec {bench.stint} receive --folder {bench.folder}/keep-{vm} "
         f"--address {machine['address']} --port {PORT}"], env=bench.environment, stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if "listening" not in keeper.stdout.readline():
        sys.exit("measure_runs: a receiver does not listen")
    return keeper


def show_saves(lines):
    row("", "saves", "MB", "stall s", "transfer s", "predicted")
    for name, one in lines.items():
        if "saves" not in one or not one["saves"]:
            continue
        middle = {key: statistics.median(save[key] for save in one["saves"])
                  for key in ("bytes", "stall_s", "transfer_s")}
        row(name, len(one["saves"]), f"{middle['bytes'] / 1e6:.0f}", f"{middle['stall_s']:.4f}",
            f"{middle['transfer_s']:.2f}", f"{one['predicted_s']:.2f}")
    row("", "MB each", "blocking s", "stall s", "ratio")
    for name, one in lines.items():
        if "workers" in one:
            worst = max(one["workers"], key=lambda each: each["ratio"])
            row(name, f"{worst['bytes'] / 1e6:.0f}", f"{worst['blocking_s']:.3f}",
                f"{worst['stall_s']:.4f}", f"{worst['ratio']:.3f}")


def replan_cases(_count):
    return {"spot": ":spot", "on demand": ""}


def measure_replan(bench, name, market):
    name = "replan-" + name.replace(" ", "-")
    share, _ = TRAININGS["mlp"]
    process = bench.begin(name, REPLAN_CLUSTER + market, "mlp", REPLAN_STEPS, 3 * share)
    end = time.monotonic() + 120
    while (sum(one.get("steps", 1) for one in steps_done(bench, name)) < REPLAN_AFTER
           and time.monotonic() < end):
        time.sleep(0.2)
    bench.call("local", "reshape", "vm2", REPLAN_RATE, "--name", f"run-{name}")
    slowed = steps_done(bench, name)[-1]["at_s"]
    report, _ = bench.end(process, name)
    events = [one for one in report["events"] if one["at_s"] >= slowed]
    # Steps are recorded elsewhere; messages about plans and machines are kept.
    told = [one for one in events if "is complete" not in one["text"]]
    noticed = [one["at_s"] for one in events if "replanning" in one["text"]]
    return {"slowed_at_s": slowed, "noticed_after_s": min(noticed) - slowed if noticed else None,
            "events": told, **outcome(report),
            "attempts_measured": [{key: one.get(key) for key in
                                   ("vms", "step_predicted_s", "step_measured_s", "from_step",
                                    "to_step")} for one in report["attempts"]]}


def steps_done(bench, name):
    """The steps of a run so far, as its journal has them."""
    path = bench.run_folder(name) / "journal.jsonl"
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    return [one for one in map(json.loads, lines) if one.get("kind") == "step-done"]


def show_replan(lines):
    for name, one in lines.items():
        after = one["noticed_after_s"]
        print(f"{name}: {one['state']} in {one['time_s']:.0f} s; noticed "
              + ("never" if after is None else f"after {after:.1f} s"))
        for event in one["events"]:
            print(f"   {event['at_s']:7.1f} s  {event['text']}")


PARTS = {
    "runs": (runs_cases, measure_run, show_runs),
    "deadline": (deadline_cases, measure_deadline, show_deadline),
    "mixed": (mixed_cases, measure_mixed, show_mixed),
    "saves": (saves_cases, measure_saves, show_saves),
    "replan": (replan_cases, measure_replan, show_replan),
}


def row(*cells):
    """Prints a line of a table."""
    print("  ".join(f"{cell!s:>13}" if place else f"{cell!s:<36}"
                    for place, cell in enumerate(cells)))


def read_lines(path):
    """Existing measurements, by case."""
    if not path.exists():
        return {}
    lines = map(json.loads, path.read_text().splitlines())
    return {line["case"]: line for line in lines}


def measure_part(stint, part, out, count):
    """Measures the cases of a part that are not in its file."""
    cases_of, measure, show = PARTS[part]
    path = out / f"{part}.jsonl"
    lines = read_lines(path)
    cases = cases_of(count)
    left = [name for name in cases if name not in lines]
    with tempfile.TemporaryDirectory(prefix="stint-runs-") as folder:
        bench = Bench(stint, folder)
        for number, name in enumerate(left, 1):
            print(f"{part} {number}/{len(left)}: {name}", file=sys.stderr, flush=True)
            more = [lines] if measure is measure_deadline else []
            begun = round(time.time())
            try:
                facts = measure(bench, name, cases[name], *more)
            finally:
                bench.stop()
            lines[name] = json.loads(json.dumps({"case": name, "at_s": begun, **facts}))
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps(lines[name]) + "\n")
    print(f"\n{part}")
    show(lines)


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("stint", help="the program to measure")
    parser.add_argument("--only", choices=PARTS, help="this part alone")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--count", type=int, default=SEEDS, help="of seeds, to try it shortly")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # Leaves nothing behind.
    for part in [options.only] if options.only else PARTS:
        measure_part(options.stint, part, options.out, options.count)


if __name__ == "__main__":
    main()
