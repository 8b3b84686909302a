#!/usr/bin/python3
"""Tests `stint run --layout`: a machine is lost, and the training goes on in a smaller layout.

Usage: layouts.py STINT_BINARY smoke|split|grows|refused

Where namespaces are not allowed or torch is missing, it says so and exits 77.

The example is trained in double precision, so that its parameters are those of one worker but for
the last digits; see run.py.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from local_cloud import Failure, expect  # noqa: E402
from run import BATCH, PYTHON, ROOT, Runs, expect_bill, expect_same, main  # noqa: E402

TRAINER = [str(ROOT / "tools/in_double.py"), str(ROOT / "python/examples/parallel_transformer.py"),
           "--batch", str(BATCH), "--layers", "2", "--width", "16", "--length", "8",
           "--save-every", "5"]
STEPS = 200
BRAKE = 8  # Steps before the training is slowed until it may end.
SECONDS = (25, 60, 150)  # Until the machine is lost; the next one where that was too early.


MARK = re.compile(r"^\[stint\] attempt (\d+), rank \d+ of (\d+), layout ([^,]+),", re.MULTILINE)


class Layouts(Runs):
    """A world with a training that is split over machines."""

    def trainer(self, name, steps, brake=None):
        command = [*TRAINER, "--steps", str(steps), "--out", self.parameters_of(name)]
        if brake is None:
            return [PYTHON, *command]
        return [PYTHON, str(ROOT / "tests/e2e/braked_shards.py"), self.gate(name), str(brake),
                *command]

    def reference(self, steps):
        path = self.parameters_of(f"reference-{steps}")
        if not Path(path).exists():
            subprocess.run([*self.trainer(f"reference-{steps}", steps), "--checkpoints",
                            f"{self.folder}/reference-{steps}"], check=True,
                           stdout=subprocess.DEVNULL, env=self.environment | {
                               "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"})
        return path

    def layouts(self, name):
        """The layout of each attempt, and its workers."""
        found = {}
        for path in self.run_folder(name).glob("log/vm*-worker.log"):
            for match in MARK.finditer(path.read_text()):
                found[int(match[1])] = (match[3], int(match[2]))
        return [found[attempt] for attempt in sorted(found)]


def begin(world, name, layout, counts):
    """Starts a training on spot machines of which so many can be had, one count for each second;
    it does not end before it is released."""
    trace = Path(world.folder, f"{name}.json")
    trace.write_text(json.dumps({"metadata": {"gap_seconds": 1}, "data": counts}))
    return world.begin(*world.words(name, f"{counts[0]}x local.large:spot", STEPS, "--compute",
                                    "real", "--layout", layout, "--life", f"trace:{trace}",
                                    "--notice", "0s", brake=BRAKE))


def end(world, run, name):
    """Releases a training, and compares it with one worker."""
    world.release(name)
    said = world.end(run, 0)
    report = world.report(name)
    expect(report["state"] == "trained" and report["reached"] == STEPS,
           f"{said}\n{report['state']} after step {report['reached']}")
    expect_bill(report)
    expect_same(name, world.parameters_of(name), world.reference(STEPS))


def lose_one(world, name, layout, machines, seconds):
    """Trains on machines of which one is lost after some time and not replaced. Returns whether
    the training had begun and saved by then."""
    run = begin(world, name, layout, [machines] * seconds + [machines - 1] * 600)
    at = world.wait_for(run, name, "vm-lost")
    before = [event["kind"] for event in world.events(name)[:at]]
    world.wait_for(run, name, "workers-up", at)
    end(world, run, name)
    return "saved" in before


def lose(world, name, layout, machines):
    """The same as often as it takes to have a checkpoint before the loss."""
    for seconds in SECONDS:
        run = f"{name}-{seconds}"
        if lose_one(world, run, layout, machines, seconds):
            resumed = [event for event in world.events(run) if event["kind"] == "workers-up"]
            expect(resumed[-1]["step"] >= 5, f"it began again: {resumed}")
            return world.layouts(run)
    raise Failure(f"no checkpoint in {SECONDS[-1]} s")


def try_smoke(world):
    found = lose(world, "sharded", "dp3 zero3", 3)
    expect(found[0] == ("dp3 zero3", 3) and found[-1] == ("dp2 zero3", 2), f"layouts: {found}")


def try_split(world):
    found = lose(world, "split", "dp2 tp2 zero1 mb4", 4)
    # Three machines are left, of which a replica of the model takes two.
    expect(found[0] == ("dp2 tp2 zero1 mb4", 4) and found[-1] == ("tp2 zero1 mb4", 2),
           f"layouts: {found}")


def try_grows(world):
    run = begin(world, "grows", "dp3 zero3", [3] * 25 + [2] * 30 + [3] * 600)
    at = world.wait_for(run, "grows", "vm-lost")
    at = world.wait_for(run, "grows", "workers-up", at)
    world.wait_for(run, "grows", "workers-up", world.wait_for(run, "grows", "vm-up", at))
    end(world, run, "grows")
    found = world.layouts("grows")
    expect(("dp2 zero3", 2) in found and found[-1] == ("dp3 zero3", 3), f"layouts: {found}")


def try_refused(world):
    for layout, why in (("dp2 tp2", "is for 4 workers"), ("dp3 xp2", "is no word of a layout")):
        code, said = world.ask(*world.words("refused", "3x local.large", 10, "--layout", layout))
        expect(code == 2 and why in said, f"exit {code}: {said}")
    # A replica takes two machines; one is left, so the run waits for another.
    trace = Path(world.folder, "one.json")
    trace.write_text(json.dumps({"metadata": {"gap_seconds": 1}, "data": [1] * 12 + [2] * 600}))
    run = world.begin(*world.words("waits", "2x local.large:spot", 20, "--compute", "real",
                                   "--layout", "pp2 mb4", "--life", f"trace:{trace}"))
    said = world.end(run, 0)
    expect(world.layouts("waits") == [("pp2 mb4", 2)], f"{said}\n{world.layouts('waits')}")
    expect_same("waits", world.parameters_of("waits"), world.reference(20))


MODES = {"smoke": lambda world, _: try_smoke(world),
         "split": lambda world, _: try_split(world),
         "grows": lambda world, _: try_grows(world),
         "refused": lambda world, _: try_refused(world)}


if __name__ == "__main__":
    main(__doc__, MODES, Layouts)
