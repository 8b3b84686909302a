#!/usr/bin/python3
"""Tests runs whose computer has its clock set, or is suspended, at random moments.

Usage: clocks.py STINT_BINARY smoke|table [--jumps N] [--seed N]

The clock of the computer stays as it is: clock_shim.c, built beside the binary, shifts what the
processes of a run read. A suspend stops all processes of the run and shifts wall time and boot time,
but not the monotonic clock, before they continue.

`table` makes runs with five jumps each, of which some are killed and resumed, and prints a row for
each. Training is the same as on a single machine, acknowledged steps are never lost, and time, bill
and deadline are what the true time and the suspends make them.
"""

import os
import random
import signal
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from local_cloud import expect, wait_until  # noqa: E402
from run import Runs, main, read  # noqa: E402

HOUR, DAY = 3600.0, 86400.0
# What is done to the clocks: the shift of wall time, and the time of a suspend.
JUMPS = {"+1 h": (HOUR, 0), "-1 h": (-HOUR, 0), "+1 day": (DAY, 0), "-1 day": (-DAY, 0),
         "suspend 10 min": (0, 600.0), "suspend 1 day": (0, DAY)}
STEPS = 60
DEADLINE = 5 * HOUR  # Which only a suspend of a day breaks.
PER_RUN = 5
# Seconds by which time and bill may differ from ours, on a busy computer.
TOLERANCE = 30
SPOT = "2x local.large:spot"


class Clocks(Runs):
    """A world whose clocks can be set."""

    def __init__(self, binary, folder):
        super().__init__(binary, folder)
        self.wall, self.boot = 0.0, 0.0
        shim = Path(binary).resolve().parent / "libstint_clock_shim.so"
        expect(shim.exists(), f"there is no {shim}: build the target stint_clock_shim")
        self.file = Path(folder, "clocks")
        self.file.write_bytes(bytes(16))
        self.environment |= {"LD_PRELOAD": str(shim), "STINT_CLOCK_FILE": str(self.file)}
        self.job = self.write_job("tiny", 20)

    def family(self):
        """All processes of this world: those with its environment, and their descendants."""
        parents = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            fields = read(path).rpartition(b")")[2].split()
            if fields:
                parents[int(path.parent.name)] = int(fields[1])
        found = set(self.processes())
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return found

    def shift(self, wall, boot):
        """Moves the clocks of all processes of this world."""
        self.wall += wall
        self.boot += boot
        self.file.open("r+b").write(struct.pack("=qq", round(self.wall * 1e9),
                                                round(self.boot * 1e9)))

    def jump(self, kind):
        """Sets the clock, or suspends."""
        wall, asleep = JUMPS[kind]
        if not asleep:
            return self.shift(wall, 0)
        stopped = set()
        while more := self.family() - stopped:  # Which may have started others.
            for pid in more:
                signal_to(pid, signal.SIGSTOP)
            stopped |= more
        self.shift(asleep, asleep)
        for pid in stopped:
            signal_to(pid, signal.SIGCONT)


def signal_to(pid, number):
    """Signals a process that may have ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


class Story:
    """A run, what was done to its clocks, and the time that passed meanwhile."""

    def __init__(self, world, name, chance):
        self.world, self.name, self.chance = world, name, chance
        self.jumps, self.asleep = [], 0.0
        self.early = 0.0  # Of that, before training began.
        self.words = world.words(name, SPOT, STEPS, "--save-every", "1s", "--tick", "10min",
                                 "--deadline", "5h", brake=10)
        self.begun = time.monotonic()
        self.process = world.begin(*self.words)
        wait_until(lambda: (world.run_folder(name) / "run.json").exists(), "the run begins")

    def jump(self, kind):
        """Makes a jump at a random moment from now on."""
        time.sleep(self.chance.uniform(0.2, 2))
        if self.process.poll() is None:
            self.world.jump(kind)
            self.jumps.append(kind)
            self.asleep += JUMPS[kind][1]

    def wait_for(self, kind, after=0, **facts):
        return self.world.wait_for(self.process, self.name, kind, after, **facts)

    def kill(self):
        """Kills the process of the run; another one continues, by a clock that was set meanwhile."""
        self.process.kill()
        self.process.wait()
        self.jumps.append("kill, -1 day, resume")
        self.world.shift(-DAY, 0)
        events = len(self.world.events(self.name))
        self.process = self.world.begin("run", "--resume", self.name)
        self.wait_for("resumed", events)

    def lose(self):
        """Interrupts a machine with a notice, which must be heard."""
        status = self.world.report(self.name)
        up = [vm["name"] for vm in status["vms"] if "until_s" not in vm or vm["until_s"] is None]
        events = len(self.world.events(self.name))
        self.world.run("local", "preempt", up[-1], "--notice", "4s", "--name", f"run-{self.name}")
        self.wait_for("notice", events)
        self.jumps.append("notice")

    def end(self):
        """Lets the training end, and checks all of it; returns a row of the table."""
        self.world.release(self.name)
        self.world.end(self.process, 0)
        passed = time.monotonic() - self.begun + self.asleep
        report = self.world.expect_trained(self.name, STEPS)
        expect(abs(report["time_s"] - passed) < TOLERANCE,
               f"{self.name}: {report['time_s']:.0f} s, not {passed:.0f} s: {self.jumps}")
        late = any("deadline has passed" in line["text"] for line in report["events"])
        expect(late == (passed > DEADLINE), f"{self.name}: late is {late} after {passed:.0f} s")
        # A machine is requested some seconds after the beginning, and may be missing for a while. A
        # suspend in its launch may come before or after the machine is there.
        for vm in report["vms"]:
            up = vm["until_s"] - vm["from_s"]
            expect(-TOLERANCE < vm["billed_s"] - up < self.early + TOLERANCE,
                   f"{self.name}: {vm['name']} was up for {up:.0f} s and is billed "
                   f"{vm['billed_s']:.0f} s: {self.jumps}")
        billed = sum(vm["billed_s"] for vm in report["vms"])
        least, most = 2 * (passed - self.early) - 4 * TOLERANCE, 2 * passed + 4 * TOLERANCE
        expect(least < billed < most, f"{self.name}: {billed:.0f} s are billed, not from "
               f"{least:.0f} s to {most:.0f} s: {self.jumps}")
        return [self.name, ", ".join(self.jumps), f"{passed:.0f}", f"{report['time_s']:.0f}",
                f"{billed:.0f}", f"{report['cost_usd']:.4f}", "late" if late else "met",
                str(report["losses"]), str(report["redone"])]


HEAD = ["run", "jumps", "true s", "run's s", "billed s", "USD", "deadline 5 h", "losses", "redone"]


def smoke(world, _options):
    """One run with its clock set back, a notice, its clock set forward, and a suspend."""
    story = Story(world, "clocks", random.Random(1))
    world.reference(STEPS)
    at = story.wait_for("saved")
    story.jump("-1 h")
    at = story.wait_for("saved", at)
    story.lose()
    story.jump("+1 day")
    at = story.wait_for("saved", len(world.events(story.name)))
    story.jump("suspend 1 day")
    story.wait_for("saved", len(world.events(story.name)))
    story.jump("-1 day")
    print(" | ".join(story.end()))


def table(world, options):
    """Many jumps at random moments of runs, as a table."""
    chance = random.Random(options.seed)
    world.reference(STEPS)
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD), flush=True)
    done = 0
    while done < options.jumps:
        story = Story(world, f"clocks{done}", chance)
        for number in range(min(PER_RUN, options.jumps - done)):
            if number == 1:  # The first jump may come while machines are launched.
                story.early = story.asleep
                story.wait_for("workers-up")
            story.jump(chance.choice(list(JUMPS)))
            done += 1
        if chance.random() < 0.3:
            story.lose()
        if chance.random() < 0.3:
            story.kill()
        print("| " + " | ".join(story.end()) + " |", flush=True)
    print(f"\n{done} jumps, seed {options.seed}")


def add_options(parser):
    """Options of this test."""
    parser.add_argument("--jumps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)


if __name__ == "__main__":
    main(__doc__, {"smoke": smoke, "table": table}, Clocks, add_options)
