#!/usr/bin/python3
"""Tests `stint run --interleave`: turns, figures, kills, a loss, bad pairs.

Usage: interleave.py STINT_BINARY smoke|pair|kills

Where namespaces are not allowed or torch is missing, it says so and exits 77.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from local_cloud import SECONDS_MAX, expect, wait_until  # noqa: E402
from run import (BATCH, LOOK, Runs, expect_bill, expect_nothing_lost, expect_same,  # noqa: E402
                 main, read)

CLUSTER = "2x local.large"
PACE = 24  # Milliseconds for eight samples.


class Pairs(Runs):
    """A world with two jobs that share machines."""

    def write_member(self, name, steps, brake):
        """Writes the profile of a job with its command, and returns the file."""
        path = Path(self.write_job(name, PACE, f"{name}.json"))
        job = json.loads(path.read_text())
        job["command"] = self.trainer(name, steps, brake)
        path.write_text(json.dumps(job))
        return str(path)

    def together(self, name, steps, *more, brake=None):
        """The arguments of stint: both jobs train the same."""
        jobs = [self.write_member(f"{name}-{letter}", steps, brake) for letter in "ab"]
        return ["run", "--cluster", CLUSTER, "--interleave", *jobs, "--name", name, "--steps",
                str(steps), "--batch", str(BATCH), "--yes", *more]

    def alone(self, steps):
        """The parameters of the same job alone on the same machines."""
        self.job = self.write_job("alone", PACE)
        self.end(self.begin(*self.words("alone", CLUSTER, steps)), 0)
        return self.parameters_of("alone")

    def turnstile_workers(self, name, vm):
        """The processes that train for a run on a machine."""
        return [pid for pid in self.workers(name)
                if f"/{vm}.turnstile".encode() in read(f"/proc/{pid}/environ")]

    def turns(self, name, vm):
        """Start and end of the turns of a run on a machine."""
        path = self.run_folder(name) / "log" / f"{vm}-turns.jsonl"
        lines = path.read_text().split("\n") if path.exists() else []
        return [(turn["begin_s"], turn["end_s"])
                for turn in (json.loads(line)["turn"] for line in lines[:-1])]

    def holds(self, name, vm):
        """Whether a run holds the turn on a machine."""
        report = json.loads(self.run("status", name, "-o", "json"))
        return any(member["run"] == name and member["state"] == "holding"
                   for one in report["sharing"]["turnstiles"] if one["vm"] == vm
                   for member in one["members"])

    def expect_same_bits(self, name, reference):
        """Fails unless parameters are the same, bit for bit."""
        import torch  # The import takes a second, which earlier failures do not need.
        ours, theirs = torch.load(self.parameters_of(name)), torch.load(reference)
        for key, one in theirs.items():
            expect(torch.equal(one, ours[key]), f"{name}: {key} is not that of the job alone")

    def expect_done(self, name, steps, reference):
        """Fails unless a run is trained as if it had been alone."""
        report = self.report(name)
        expect(report["state"] == "trained" and report["saved"] == steps == report["reached"],
               f"{name}: {report['state']} ({report['reason']}) after {report['reached']}")
        expect_nothing_lost(name, self.events(name))
        expect_bill(report)
        self.expect_same_bits(name, reference)
        return report


def overlap(ours, theirs):
    """Seconds in which two runs held the turn at once."""
    return sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in ours for b in theirs)


def expect_turns(world, name, steps):
    """Fails unless both jobs had a turn for each step on each machine, and none at once."""
    for vm in ("vm1", "vm2"):
        ours, theirs = world.turns(f"{name}-a", vm), world.turns(f"{name}-b", vm)
        expect(len(ours) == steps == len(theirs), f"{len(ours)} and {len(theirs)} turns")
        both = overlap(ours, theirs)
        expect(both < 0.001, f"{both} s of turns of both at once on {vm}")


def smoke(world, _options):
    """Two jobs take turns on two machines, with the same result."""
    steps = 15
    world.end(world.begin(*world.together("smoke", steps, "--mode", "whole")), 0)
    for name in ("smoke-a", "smoke-b"):
        world.expect_done(name, steps, world.parameters_of("smoke-a"))
    expect_turns(world, "smoke", steps)


def pair(world, _options):
    """Two jobs take turns: each is trained to the bits of the job alone, and pays its part."""
    steps = 200
    alone = world.alone(steps)
    picture = Path(world.folder, "turns.json")
    run = world.begin(*world.together("pair", steps, "--mode", "whole", "--timeline",
                                      str(picture), brake=50))
    world.wait_for(run, "pair-b", "saved")
    said = world.run("status", "pair-a")
    expect("shares    with pair-b, whole" in said and "pair-b" in said, said)
    for name in ("pair-a", "pair-b"):
        world.release(name)
    world.end(run, 0)
    reports = [world.expect_done(name, steps, alone) for name in ("pair-a", "pair-b")]
    expect(all(len(report["vms"]) == 2 for report in reports), "two machines for both")
    expect_turns(world, "pair", steps)
    events = json.loads(picture.read_text())
    expect(sum(event.get("name") == "turn" for event in events) == 4 * steps, "all turns are drawn")
    told = [report["forecast"]["time_s"]["mean"] for report in reports]
    print(f"{[round(report['time_s'], 1) for report in reports]} s, expected {told}")


def kill_holder(world, name, other, vm):
    """Kills the worker of a run that holds the turn on a machine; returns the seconds until the
    other run held it."""
    end = time.monotonic() + SECONDS_MAX
    while time.monotonic() < end:
        for pid in world.turnstile_workers(name, vm):
            os.kill(pid, signal.SIGSTOP)  # The worker cannot give up the turn before it is killed.
            if world.holds(name, vm):
                killed = time.monotonic()
                os.kill(pid, signal.SIGKILL)
                while time.monotonic() < end:
                    later = [begin for begin, _ in world.turns(other, vm) if begin > killed]
                    if later:
                        return later[0] - killed
                    time.sleep(LOOK)
            os.kill(pid, signal.SIGCONT)
        time.sleep(0.01)
    expect(False, f"{name} never held the turn on {vm}")
    return 0.0


def kills(world, _options):
    """The holder of a turn, a whole run, the parent and a machine are lost; nothing else is."""
    steps = 300
    run = world.begin(*world.together("kills", steps, "--mode", "bucket", "--save-every", "1s",
                                      brake=30))
    at = world.wait_for(run, "kills-a", "saved")
    world.wait_for(run, "kills-b", "saved")
    world.reference(steps)
    took = kill_holder(world, "kills-a", "kills-b", "vm1")
    at = world.wait_for(run, "kills-a", "worker-lost", at)
    at = world.wait_for(run, "kills-a", "workers-up", at)
    saved = max(event["step"] for event in world.events("kills-a")[:at]
                if event["kind"] == "saved")
    expect(world.events("kills-a")[at - 1]["step"] >= saved, "from its checkpoint")

    # The process that conducts one of them; the other continues.
    pid = int(read(world.run_folder("kills-b") / "lock"))
    os.kill(pid, signal.SIGKILL)
    reached = len(world.events("kills-a"))
    world.wait_for(run, "kills-a", "saved", reached)
    # The parent: the rest stops in order, and releases the machines.
    pid = read(world.run_folder("kills-a") / "lock").decode().strip()
    run.kill()
    run.wait()
    wait_until(lambda: not read(f"/proc/{pid}/cmdline"), "what is left stops")
    wait_until(lambda: not json.loads(world.run("local", "list", "-o", "json"))["clusters"],
               "all is given back")
    expect(world.report("kills-a")["state"] == "stopped", "the first run stops in good order")

    # Both continue from there; then one of their machines is interrupted.
    run = world.begin("run", "--resume", "kills-a")
    at = world.wait_for(run, "kills-b", "resumed")
    at = world.wait_for(run, "kills-b", "saved", at)
    [cluster] = json.loads(world.run("local", "list", "-o", "json"))["clusters"]
    vm = [vm["name"] for vm in cluster["vms"] if vm["phase"] == "running"][-1]
    world.run("local", "preempt", vm, "--notice", "0s", "--name", cluster["name"])
    world.wait_for(run, "kills-b", "vm-lost", at)
    for name in ("kills-a", "kills-b"):
        world.release(name)
    world.end(run, 0)
    reports = [world.expect_trained("kills-a", steps), world.report("kills-b")]
    # Costs that were not billed before its machines were lost are known to the second only by its
    # own count.
    expect(reports[1]["state"] == "trained" and reports[1]["saved"] == steps, reports[1]["reason"])
    expect_nothing_lost("kills-b", world.events("kills-b"))
    expect_same("kills-b", world.parameters_of("kills-b"), world.reference(steps))
    print(f"the other went on after {1000 * took:.1f} ms; "
          f"{[report['redone'] for report in reports]} steps redone")


MODES = {"smoke": smoke, "pair": pair, "kills": kills}

if __name__ == "__main__":
    main(__doc__, MODES, Pairs)
