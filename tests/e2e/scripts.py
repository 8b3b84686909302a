#!/usr/bin/python3
"""Tries Stint on ordinary training scripts: each is profiled, planned, run, and run with a loss.

Usage: scripts.py STINT_BINARY smoke|all|table|SCRIPT... [--keep]

The scripts of tests/scripts know nothing of Stint. `smoke` runs one of them to its end, `all` and
the name of a script do everything, and `table` prints what came of all of them in Markdown. Where
namespaces are not allowed or torch is missing, it says so and exits 77.
"""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from local_cloud import EXIT_SKIPPED, SECONDS_MAX, Failure, expect  # noqa: E402
from run import LOOK, PYTHON, ROOT, Runs, expect_bill, said_by, skip_reason  # noqa: E402

FOLDER = ROOT / "tests/scripts"
STEPS_DONE = re.compile(r"\b(\d+) optimizer steps\b")  # What each script prints at its end.
RESUMED = re.compile(r"resumed from step (\d+)")


@dataclass
class Script:
    """What is known of a script by reading it."""

    steps: int             # Optimizer steps by default on as many processes as there are VMs.
    trained: int           # Parameters that its optimizers train.
    batch: int             # Samples of a step on one process.
    training: dict         # What a profile must say of how it trains.
    vms: int = 2
    batches_per_step: int = 1
    held_at: int = 30      # The step at which it waits for the loss of a machine.
    saves_every: int = 0   # Steps between its own checkpoints; 0: it has none.
    asked: int = 0         # Steps that stint is told, where it is told wrongly.


def dense(*sizes):
    """Parameters of linear layers."""
    return sum((a + 1) * b for a, b in zip(sizes, sizes[1:]))


GPT = 17 * 64 + 32 * 64 + 2 * (2 * 2 * 64 + dense(64, 192) + dense(64, 64) + dense(64, 256, 64)) \
    + 2 * 64 + 64 * 17
TRANSFORMER = 50 * 48 + 24 * 48 + dense(48, 50) \
    + 2 * (dense(48, 144) + dense(48, 48) + dense(48, 96, 48) + 4 * 48)
GENERATOR = 16 * (16 * 24 + 24 * 12 + 12) + 2 * (24 + 12)
DISCRIMINATOR = 16 * (12 + 12 * 24 + 24) + 2 * 24

BACKBONE = 28 * 16 + 2 * (2 * 9 * 16 * 16 + 4 * 16)

SCRIPTS = {
    "plain_loop": Script(120, (9 + 1) * 8 + (72 + 1) * 16 + dense(576, 64, 10), 32,
                         {"optimizers": ["SGD"]}, vms=1),
    "ddp": Script(120, dense(64, 128, 128, 10), 16, {"optimizers": ["SGD"]}),
    "accumulation": Script(60, GPT, 4 * 8, {"optimizers": ["AdamW"], "accumulation": 4},
                           batches_per_step=4),
    "amp": Script(120, dense(96, 96, 96, 32), 16,
                  {"optimizers": ["SGD"], "autocast": "bfloat16"}, asked=10),
    "scheduler_clip": Script(80, TRANSFORMER, 8, {"optimizers": ["AdamW"], "clipping": ["norm"]}),
    "gan": Script(60, GENERATOR + DISCRIMINATOR, 16, {"optimizers": ["Adam", "Adam"]}),
    "finetune": Script(80, dense(64, 2), 8,
                       {"optimizers": ["SGD"], "frozen": 4 * BACKBONE}),
    "workers": Script(90, (9 + 1) * 8 + (72 + 1) * 16 + dense(128, 4), 8,
                      {"optimizers": ["Adam"], "loader_workers": 2}),
    "iterable": Script(100, dense(24, 32, 1), 16, {"optimizers": ["Adagrad"], "loader_workers": 2},
                       asked=107),
    "checkpoint": Script(120, dense(20, 64, 64, 1), 16, {"optimizers": ["Adam"]}, held_at=50,
                         saves_every=20),
}
NOTHING_SEEN = {"accumulation": 1, "autocast": None, "clipping": [], "frozen": 0}


class Trials(Runs):
    """A world in which scripts are tried."""

    def __init__(self, binary, folder):
        super().__init__(binary, folder)
        self.environment["OMP_NUM_THREADS"] = "1"
        # Some virtual machines report instructions for bfloat16 and end programs that use them.
        self.environment["ONEDNN_MAX_CPU_ISA"] = "AVX512_CORE"

    def words_of(self, name, held=None):
        """The command of a script, as its author would give it or held at a batch."""
        path = str(FOLDER / f"{name}.py")
        if held is None:
            return [PYTHON, path]
        return [PYTHON, str(ROOT / "tests/e2e/held.py"), self.gate(name), str(held), path]

    def job_of(self, name):
        """Where the profile of a script is."""
        return str(Path(self.folder, f"{name}.json"))

    def finish(self, *words):
        """Runs stint to its end in the folder of this world."""
        self.end(self.begin(*words), 0)

    def begin_run(self, name, run, cluster, command):
        """Starts a run of a script."""
        steps = SCRIPTS[name].asked or SCRIPTS[name].steps
        return self.begin("run", "--cluster", cluster, "--job", self.job_of(name), "--steps",
                          str(steps), "--name", run, "--", *command)

    def status(self, run):
        """What stint says of a run while it goes on, if it is known already."""
        known = self.events(run)
        process = self.start("status", run, "-o", "json")
        said, warned = process.communicate(timeout=SECONDS_MAX)
        expect(process.returncode == 0 or not known,
               f"{warned}\n{run}: status exits {process.returncode}")
        return json.loads(said) if process.returncode == 0 else None

    def output(self, run):
        """What a script printed on all machines: by `stint logs`, where there is one."""
        code, said = self.ask("logs", run)
        if code == 0:
            return said
        return "".join(path.read_text(errors="replace")
                       for path in sorted((self.run_folder(run) / "log").glob("*-worker.log")))


@dataclass
class Row:
    """What came of a script."""

    name: str
    seen: str = ""
    done: str = ""
    counted: str = ""
    restarted: str = ""
    result: str = "ok"

    def cells(self):
        """Its cells in Markdown."""
        cells = (self.name, self.seen, self.done, self.counted, self.restarted, self.result)
        return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


HEAD = """\
| script | seen by profile | steps done | steps counted | after a loss: restarted at step | result |
|---|---|---|---|---|---|"""

def seen_by_profile(job):
    """What a profile says that the script does, in a few words."""
    words = []
    for key, value in job.get("training", {}).items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else json.dumps(value)
        if value not in ([], False, None):
            words.append(f"{key.replace('_', ' ')} {text.strip(chr(34))}")
    words.append(f"batch {job['batch']['reference']}")
    words.append(f"gradients {job['gradient_bytes']}")
    return "; ".join(words)


def bytes_of(text):
    """The bytes of a size in a profile."""
    units = {"B": 1, "kB": 1e3, "KB": 1024, "MB": 1e6, "GB": 1e9, "KiB": 2 ** 10, "MiB": 2 ** 20,
             "GiB": 2 ** 30}
    number, unit = text.split()
    return float(number) * units[unit]


def profile(world, name, row):
    """Profiles a script; what is counted must be what it trains."""
    script = SCRIPTS[name]
    world.finish("profile", "--device", "Local-1x", "--out", world.job_of(name), "--",
                 *world.words_of(name))
    job = json.loads(Path(world.job_of(name)).read_text())
    row.seen = seen_by_profile(job)
    shutil.rmtree(Path(world.folder, "checkpoints"), ignore_errors=True)  # The script's own.
    gradients, batch = bytes_of(job["gradient_bytes"]), job["batch"]["reference"]
    expect(abs(gradients - 4 * script.trained) <= 0.001 * gradients and batch == script.batch,
           f"gradients of {job['gradient_bytes']} and a batch of {batch}, though "
           f"{4 * script.trained} B are trained with {script.batch} samples a step")
    training = job.get("training", {})
    if "frozen" in training:
        training["frozen"] = bytes_of(training["frozen"])
    for key, value in (NOTHING_SEEN | script.training).items():
        told = training.get(key, NOTHING_SEEN.get(key))
        expect(told == value, f"{key} is {told}, though it is {value}")


def plan(world, name):
    """Plans a script on the emulated machines."""
    path = Path(world.job_of(name))
    job = json.loads(path.read_text())
    path.write_text(json.dumps(job | {"goal": {"samples": SCRIPTS[name].batch * 10000}}))
    said = world.run("plan", "--job", str(path), "--providers", "local", "--deadline", "10h",
                     "-n", "3", "-o", "json")
    expect(json.loads(said)["plans"], f"no plan: {said}")


# Says that something was saved; that a script may save something itself does not.
SAVED = re.compile(r"\b(?:and|are|is|was|were) saved\b|\bsaved +(?:step )?[1-9]", re.I)


def expect_nothing_called_saved(run, said, report, events):
    """Fails if somebody says that something was saved of a script that saves nothing."""
    expect(report["saved"] == 0 and not report.get("saves"), f"{run}: saved {report['saved']}")
    expect(not [event for event in events if event["kind"] == "saved"], f"{run}: a save is noted")
    told = [*said.splitlines(), *(event["text"] for event in report["events"]), report["reason"]]
    for line in told:
        expect(not SAVED.search(line), f"{run}: the script saves nothing, but: {line}")


def expect_ended(world, name, run, said):
    """Fails unless a run is trained and its steps are those of the script; its report and steps."""
    report = json.loads(world.run("report", run, "-o", "json"))
    expect(report["state"] == "trained", f"{said}\n{run}: {report['state']}: {report['reason']}")
    printed = world.output(run)
    ends = STEPS_DONE.findall(printed)
    expect(len(ends) == 1, f"{printed}\n{run}: the script came to its end {len(ends)} times")
    steps = int(ends[0])
    counted = world.status(run)["reached"]
    expect(counted == steps == report["reached"],
           f"{run}: {counted} steps are counted, though the script made {steps}")
    training = [part["time_s"] for part in report["parts"] if part["name"] == "training"]
    expect(sum(training) > 0, f"{run}: no time was spent on training: {report['parts']}")
    expect_bill(report)
    if not SCRIPTS[name].saves_every:
        expect_nothing_called_saved(run, said, report, world.events(run))
    return report, steps


def run_to_end(world, name, row):
    """Runs a script on machines that stay."""
    script = SCRIPTS[name]
    run = f"{name}-whole".replace("_", "-")
    process = world.begin_run(name, run, f"{script.vms}x local.large", world.words_of(name))
    said = world.end(process, 0)
    report, steps = expect_ended(world, name, run, said)
    row.done, row.counted = str(steps), str(report["reached"])
    expect(steps == script.steps, f"{run}: the script made {steps} steps, not {script.steps}")
    expect(report["losses"] == 0 and report["redone"] == 0 and len(report["attempts"]) == 1,
           f"{run}: {report['losses']} losses, {len(report['attempts'])} attempts")
    expect_saved_with_run(world, run)


def expect_saved_with_run(world, run):
    """Fails if a script put its checkpoints where it was started, which a machine takes along."""
    here = Path(world.folder, "checkpoints")
    if here.exists():
        shutil.rmtree(here)
        raise Failure(f"{run}: STINT_CHECKPOINT_DIR is not set")


def wait_for_steps(world, process, run, steps):
    """Waits until so many steps are counted; the number that are."""
    end = time.monotonic() + SECONDS_MAX
    while not (report := world.status(run)) or report["reached"] < steps:
        expect(time.monotonic() < end and process.poll() is None,
               f"{world.output(run)}\n{said_by(process)}\n{run}: {steps} steps never counted")
        time.sleep(LOOK)
    return report["reached"]


def run_with_loss(world, name, row):
    """Runs a script on spot machines and takes the last one away in the middle."""
    script = SCRIPTS[name]
    run = f"{name}-loss".replace("_", "-")
    command = world.words_of(name, held=script.held_at * script.batches_per_step)
    process = world.begin_run(name, run, f"{script.vms}x local.large:spot", command)
    # What is validated takes batches too, and the last steps may be told of later.
    before = wait_for_steps(world, process, run,
                            script.saves_every * 2 if script.saves_every else script.held_at // 2)
    world.run("local", "preempt", f"vm{script.vms}", "--notice", "0s", "--name", f"run-{run}")
    world.wait_for(process, run, "vm-lost")
    world.release(name)
    said = world.end(process, 0)
    report, steps = expect_ended(world, name, run, said)
    last = report["attempts"][-1]
    row.done, row.counted = f"{row.done}, {steps}", f"{row.counted}, {report['reached']}"
    row.restarted = str(last["from_step"])
    expect(report["losses"] == 1 and len(report["attempts"]) > 1,
           f"{run}: {report['losses']} losses, {len(report['attempts'])} attempts")
    resumed = [int(step) for step in RESUMED.findall(world.output(run))]
    if script.saves_every:
        row.restarted += f" (the script: {', '.join(map(str, resumed))})"
        expect(resumed and resumed[-1] >= before - before % script.saves_every,
               f"{run}: {before} steps were made before the loss; resumed from {resumed}")
        expect(last["from_step"] == resumed[-1] and steps == script.steps,
               f"{run}: counted on from {last['from_step']}, resumed from {resumed}")
    else:
        expect(last["from_step"] == 0 and not resumed, f"{run}: goes on at {last['from_step']}")
        expect(report["redone"] > 0, f"{run}: {before} steps were lost, none is made again")


PARTS = {"profiled": profile, "planned": lambda world, name, row: plan(world, name),
         "run": run_to_end, "run with a loss": run_with_loss}


def try_script(world, name, parts):
    """Tries a script; what failed is in its row, and does not keep the rest from being tried."""
    row = Row(name)
    failures = []
    for part in parts:
        begin = time.monotonic()
        try:
            PARTS[part](world, name, row)
            print(f"{name}: {part} ({time.monotonic() - begin:.0f} s)", file=sys.stderr, flush=True)
        except Failure as failure:
            print(f"FAILED: {name}, {part}: {failure}", file=sys.stderr, flush=True)
            failures.append(f"{part}: {str(failure).strip().splitlines()[-1]}")
            end_runs(world)
            if part == "profiled" and not Path(world.job_of(name)).exists():
                break
    row.result = "; ".join(failures) or "ok"
    return row


def end_runs(world):
    """Ends the runs that a failure left, so that they do not disturb the next ones."""
    for process in world.started:
        if process.poll() is None:
            process.kill()
            process.wait()
    world.clean()


def try_all(world, what):
    """Tries what is asked for; the rows of all scripts."""
    if what == ["smoke"]:
        return [try_script(world, "ddp", ["profiled", "run"])]
    names = list(SCRIPTS) if what[0] in ("all", "table") else what
    rows = []
    if what == ["table"]:
        print(HEAD, flush=True)
    for name in names:
        rows.append(try_script(world, name, PARTS))
        if what == ["table"]:
            print(rows[-1].cells(), flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("what", nargs="+", help="smoke, all, table or names of scripts")
    parser.add_argument("--keep", action="store_true", help="copy what a failed one left to kept/")
    options = parser.parse_args()
    what = [one.removesuffix(".py") for one in options.what]
    if len(what) > 1 or what[0] not in ("smoke", "all", "table"):
        unknown = [one for one in what if one not in SCRIPTS]
        if unknown:
            parser.error(f"no script {unknown[0]}; there are {', '.join(SCRIPTS)}")
    with tempfile.TemporaryDirectory(prefix="stint-e2e-") as folder:
        world = Trials(os.path.abspath(options.binary), folder)
        if reason := skip_reason(world):
            print(f"SKIP: {reason}")
            sys.exit(EXIT_SKIPPED)
        begin = time.monotonic()
        try:
            rows = try_all(world, what)
            world.expect_nothing_left("at the end")
        except BaseException as failure:
            world.clean()
            if not isinstance(failure, Failure):
                raise
            print(f"FAILED: {failure}")
            sys.exit(1)
        failed = [row.name for row in rows if row.result != "ok"]
        if failed and options.keep:
            shutil.copytree(folder, "kept", dirs_exist_ok=True)
        print(f"{len(rows) - len(failed)} of {len(rows)} scripts, {time.monotonic() - begin:.0f} s",
              file=sys.stderr)
        sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
