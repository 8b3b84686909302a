"""Runs on the emulated cloud for tools/measure_runs.py: their start and their results."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
JOBS = ROOT / "data/measurements/local/examples-paced-real-jobs.json"
PYTHON = "/usr/bin/python3"
SECONDS_MAX = 600  # For one run.
DOUBLE_WIDTH = 1024  # Of the perceptron in double precision.


class Bench:
    """A separate folder for the runs, and the program that executes them."""

    def __init__(self, stint, folder):
        self.stint = os.path.abspath(stint)
        self.folder = Path(folder)
        self.environment = dict(os.environ, XDG_STATE_HOME=folder, OMP_NUM_THREADS="1",
                                PYTHONDONTWRITEBYTECODE="1")
        for job in json.loads(JOBS.read_text()):
            (self.folder / f"{job['name'].split('-')[0]}.json").write_text(json.dumps(job))
        self.process = None  # Process of the present run.
        self.double = False
        self.width = None  # Width of the perceptron, if not the default.

    def use_double(self):
        """Trains in double precision from now on: all numbers have twice the bytes."""
        self.double = True
        self.use_width(DOUBLE_WIDTH, 8)
        path = self.folder / "transformer.json"
        job = json.loads(path.read_text())
        for key in ("gradient_bytes", "parameter_bytes", "optimizer_bytes"):
            job[key] = twice(job[key])
        job["checkpoint"]["bytes"] = twice(job["checkpoint"]["bytes"])
        for bucket in job["buckets"]:
            bucket["bytes"] = twice(bucket["bytes"])
        path.write_text(json.dumps(job))

    def use_width(self, width, number, compute=None):
        """Changes the perceptron to numbers of this many bytes."""
        self.width = width
        layers = [number * size for size in ((256 + 1) * width, (width + 1) * width,
                                             (width + 1) * width, (width + 1) * 20)]
        path = self.folder / "mlp.json"
        job = json.loads(path.read_text()) | {
            "name": f"mlp-{width}", "checkpoint": {"bytes": f"{2 * sum(layers)} B"},
            "buckets": [{"bytes": f"{layers[3] + layers[2]} B", "ready": 0.5},
                        {"bytes": f"{layers[1] + layers[0]} B", "ready": 1.0}]}
        for key in ("gradient_bytes", "parameter_bytes", "optimizer_bytes"):
            job[key] = f"{sum(layers)} B"
        if compute:
            job["compute"] = compute
        path.write_text(json.dumps(job))

    def call(self, *words, limit=60):
        """Runs stint; returns its output."""
        return subprocess.run([self.stint, *words], check=True, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              timeout=limit).stdout

    def train(self, job, steps, batch, out):
        """The training command, with or without stint."""
        script = [str(ROOT / f"python/examples/{job}.py")]
        if self.double:
            script.insert(0, str(ROOT / "tools/in_double.py"))
        return [PYTHON, *script, "--steps", str(steps), "--batch", str(batch), "--out", str(out),
                *(["--width", str(self.width)] if job == "mlp" and self.width else [])]

    def begin(self, name, cluster, job, steps, batch, *options):
        """Starts a run."""
        log = open(self.folder / f"{name}.log", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [self.stint, "run", "--cluster", cluster, "--job", str(self.folder / f"{job}.json"),
             "--steps", str(steps), "--batch", str(batch), "--name", name, "--compute",
             "paced-real", *options, "--",
             *self.train(job, steps, batch, self.folder / f"{name}.pt")],
            env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self.process

    def stop(self):
        """Ends the present run, if any."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(60)

    def end(self, process, name):
        """Waits for a run; returns its report, and the record of its start."""
        try:
            process.wait(SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            process.wait(60)
        record = json.loads((self.run_folder(name) / "run.json").read_text())
        record.pop("secret")
        shutil.rmtree(self.run_folder(name) / "checkpoints")
        return json.loads(self.call("report", name, "-o", "json")), record

    def run(self, name, *words):
        """A run from beginning to end."""
        return self.end(self.begin(name, *words), name)

    def run_folder(self, name):
        """The folder of a run."""
        return self.folder / "stint/runs" / name

    def losses(self, name):
        """The loss of each step of a run."""
        found = {}
        for line in (self.run_folder(name) / "measurements.jsonl").read_text().splitlines():
            fact = json.loads(line).get("iteration")
            if fact:
                found[fact["number"]] = fact["loss"]
        return found

    def reference(self, job, steps, batch):
        """The parameters of an uninterrupted training by one worker."""
        path = self.folder / f"reference-{job}-{steps}-{batch}.pt"
        if not path.exists():
            subprocess.run(self.train(job, steps, batch, path), check=True, env=self.environment,
                           stdout=subprocess.DEVNULL)
        return path


def twice(size):
    """A size as profiles have it, doubled."""
    number, unit = size.split()
    return f"{2 * float(number):.0f} {unit}"


def furthest(path, reference):
    """The largest difference of two sets of parameters, relative to the largest of its tensor."""
    import torch
    ours, theirs = torch.load(path), torch.load(reference)
    return max(((ours[key] - theirs[key]).abs().max() / theirs[key].abs().max()).item()
               for key in theirs)


def prices():
    """USD per second of the emulated machines, by type and market."""
    found = {}
    for kind in json.loads((ROOT / "data/catalog/local.json").read_text())["types"]:
        for market, key in (("on-demand", "on_demand"), ("spot", "spot")):
            price = kind["offers"][0][key]["price"]
            found[kind["name"], market] = float(price.split()[0]) / 3600
    return found


def bill_difference(report):
    """The bill minus the sum of VM-seconds x price."""
    price = prices()
    return report["cost_usd"] - sum(vm["billed_s"] * price[vm["type"], vm["market"]]
                                    for vm in report["vms"])


def outcome(report):
    """The figures of a run that every part reports."""
    facts = {key: report[key] for key in ("state", "reason", "steps", "saved", "time_s", "cost_usd",
                                          "losses", "redone")}
    facts["forecast"] = report["forecast"]
    if "hindsight" in report:
        facts["hindsight"] = report["hindsight"]
    facts["attempts"] = len(report["attempts"])
    facts["bill_difference_usd"] = bill_difference(report)
    longest = max((one for one in report["attempts"] if "step_measured_s" in one),
                  key=lambda one: one["to_step"] - one["from_step"], default=None)
    if longest:
        facts["step"] = {"machines": len(longest["vms"]), "measured_s": longest["step_measured_s"],
                         "predicted_s": longest["step_predicted_s"]}
    return facts


def covers(facts):
    """Whether the 80 % interval of the forecast covers the bill."""
    cost = facts["forecast"]["cost_usd"]
    return cost["p10"] <= facts["cost_usd"] <= cost["p90"]


def width(facts):
    """The width of the interval of the bill, relative to its mean."""
    cost = facts["forecast"]["cost_usd"]
    return (cost["p90"] - cost["p10"]) / cost["mean"]
