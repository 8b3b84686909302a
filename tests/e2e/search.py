#!/usr/bin/python3
"""Tests `stint search`: moves, a second search, a kill, mixed clusters, several workers on a VM, too
little memory, bad scripts.

Usage: search.py STINT_BINARY smoke|moves|machines|troubles

Where namespaces are not allowed or torch is missing, it says so and exits 77.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from local_cloud import SECONDS_MAX, expect  # noqa: E402
from run import BATCH, PYTHON, ROOT, Runs, expect_bill, expect_nothing_lost, main  # noqa: E402

# Trains a line of 64 numbers with at most MOST samples at once, unlike the examples.
SCRIPT = """
import sys
sys.path.insert(0, {root!r})
import torch, stint
torch.manual_seed(1)
data = torch.utils.data.TensorDataset(torch.randn(480, 64), torch.randint(4, (480,)))
model = torch.nn.Linear(64, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
job = stint.job(model, optimizer, batch=stint.global_batch({batch}), steps=1000)
for step in job.steps(data):
    with step:
        for inputs, labels in step.micro_batches():
            if len(inputs) > {most}:
                raise RuntimeError("out of memory: more than {most} samples")
            inputs, labels = inputs[:{takes}], labels[:{takes}]
            step.backward(torch.nn.functional.cross_entropy(job.model(inputs), labels))
        optimizer.step()
"""


class Searches(Runs):
    """A world to search in."""

    def __init__(self, binary, folder):
        super().__init__(binary, folder)
        self.prices = {}  # Of added machines, as in prices().

    def script(self, name, most=10 ** 6, takes=10 ** 6):
        """Writes a script; returns the words that run it."""
        path = Path(self.folder, f"{name}.py")
        path.write_text(SCRIPT.format(root=str(ROOT / "python"), batch=BATCH, most=most,
                                      takes=takes))
        return [PYTHON, str(path)]

    def search(self, name, command, *more):
        """The arguments of stint."""
        return ["search", "--job", self.job, "--batch", str(BATCH), "--name", name, "--objective",
                "time", "--types", "local.large,local.fast", "--vms", "1,2", "--max-kinds", "1",
                "--batches", f"{BATCH},{2 * BATCH}", "--probe-steps", "5", *more, "--", *command]

    def search_machines(self, name, objective, types, *more):
        """The arguments of a search for machines only, with mixed clusters."""
        return ["search", "--job", self.job, "--batch", str(BATCH), "--name", name, "--objective",
                objective, "--types", types, "--batches", str(BATCH), "--probe-steps", "5", *more,
                "--", *self.script("line")]

    def add_type(self, name, price, accelerators):
        """A machine of the emulated cloud with several accelerators like that of local.large."""
        self.prices[name, "on-demand"] = price / 3600
        gpu = {"name": "Local-1x", "count": accelerators, "memory": "16 GB", "gpu": "Local-1x"}
        offer = {"region": "local", "on_demand": {"price": f"{price} USD/h", "date": "2026-11-01",
                                                  "source": "test"}}
        machine = {"provider": "local", "name": name, "accelerator": gpu, "vcpus": accelerators,
                   "memory": "4 GiB", "source": "test", "offers": [offer],
                   "network": {"baseline": "1 Gbit/s", "transport": "tcp", "source": "test"}}
        sources = [{"id": "test", "name": "made up for a test", "date": "2026-11-01"}]
        folder = Path(self.folder, "data/stint/catalogs")
        folder.mkdir(parents=True, exist_ok=True)
        Path(folder, f"{name}.json").write_text(json.dumps(
            {"schema": "stint.catalog/1", "sources": sources, "types": [machine]}))

    def record(self, name):
        """The results of a search."""
        return json.loads((self.run_folder(name) / "search.json").read_text())

    def expect_searched(self, name):
        """Fails unless a search ended without losing anything."""
        report = self.report(name)
        expect(report["state"] == "trained" and report["saved"] == report["reached"],
               f"{name}: {report['state']} ({report['reason']}) after {report['reached']}")
        expect(report["redone"] == 0, f"{name}: {report['redone']} steps were trained twice")
        expect_nothing_lost(name, self.events(name))
        expect_bill(report, self.prices)
        return report


# Share of its goal. A plan that leads to less than 0.99 of it is corrected; the last attempt may
# begin with steps that are worth less.
REACHED = 0.98


def smoke(world, _options):
    """A search trains to its goal and keeps its results."""
    world.write_job("tiny", 40)
    world.end(world.begin(*world.search("smoke", world.script("line"), "--target", "steps=30")), 0)
    world.expect_searched("smoke")
    record = world.record("smoke")
    expect(record["progress"] >= REACHED * 30, f"only {record['progress']} of 30 steps")
    expect(len(record["surface"]) == 8 and record["probes"], "a surface with something measured")


def moves(world, _options):
    """A search moves to other machines and batches; the next one starts where it ended."""
    command = world.script("line")
    said = world.end(world.begin(*world.search("first", command, "--target", "steps=160")), 0)
    report = world.expect_searched("first")
    record = world.record("first")
    made = [move for move in record["moves"] if "measured_s" in move]
    expect(len(made) >= 1, f"it made no move: {said}")
    expect(record["choice"]["cluster"] != "1x local.large", f"it stayed: {record['choice']}")
    expect(record["progress"] >= REACHED * 160, f"only {record['progress']} of 160 steps")
    expect(len(record["surface"]) == 8, "every cluster with every batch")
    page = Path(world.folder, "page.html")
    world.run("report", "first", "--html", str(page))
    expect("Batch size and cluster" in page.read_text(), "the map is on the page")

    process = world.start(*world.search("again", command, "--target", "steps=60", "--mode", "none",
                                        "-o", "json"))
    out, err = process.communicate(timeout=SECONDS_MAX)
    expect(process.returncode == 0, err)
    again = json.loads(out)
    expect(again["choice"] == record["choice"] and again["moves"] == [],
           f"it began elsewhere than {record['choice']}: {again['moves']} {again['choice']}")
    print(f"{len(made)} moves, {report['time_s']:.1f} s, {report['cost_usd']:.5f} USD, "
          f"to {record['choice']}")

    run = world.begin(*world.search("killed", command, "--target", "steps=160", "--mode", "full"))
    world.wait_for(run, "killed", "terms")
    run.kill()
    run.wait()
    world.end(world.begin("search", "--resume", "killed"), 0)
    report = world.report("killed")
    expect(report["state"] == "trained", report["reason"])
    expect_nothing_lost("killed", world.events("killed"))
    progress = world.record("killed")["progress"]
    expect(progress >= REACHED * 160, f"only {progress} of 160 steps")


def machines(world, _options):
    """A search moves to a mixed cluster, and to a machine with two workers."""
    # 150 steps take 36 s on two local.cheap (0.2 USD/h), 24 s on local.cheap + local.fast (0.6 USD/h)
    # and 18 s on two local.fast (1 USD/h). Starts take up to 10 s, so that two local.cheap are too
    # slow for the limit until there is some progress.
    world.write_job("tiny", 160, batches=(2, 8, 24))
    world.add_type("local.cheap", 0.1, 1)
    # The search may use the limit up, and a busy computer breach it.
    process = world.begin(*world.search_machines(
        "mixed", "cost", "local.cheap,local.fast", "--vms", "1,2", "--start", "1x local.cheap",
        "--target", "steps=150", "--search-budget", "100%", "--max-time", "41s"))
    process.wait(SECONDS_MAX)
    said = world.end(process, 6 if process.returncode == 6 else 0)
    report = world.expect_searched("mixed")
    made = [move["to"]["cluster"] for move in world.record("mixed")["moves"]
            if "measured_s" in move]
    expect("1x local.cheap + 1x local.fast" in made, f"it moved to {made}")
    expect("does not take its batch" not in said, said)
    print(f"mixed: {report['time_s']:.1f} s, {report['cost_usd']:.5f} USD, by {made}")

    world.add_type("local.dual", 0.35, 2)
    said = world.end(world.begin(*world.search_machines(
        "workers", "time", "local.large,local.dual", "--vms", "1", "--start", "1x local.large",
        "--target", "steps=60")), 0)
    world.expect_searched("workers")
    choice = world.record("workers")["choice"]
    expect((choice["cluster"], choice.get("workers_per_vm")) == ("1x local.dual", 2),
           f"it chose {choice}")
    expect("does not take its batch" not in said, said)
    ranks = world.run("logs", "workers", "--rank", "1")
    expect("rank 1 of 2" in ranks, ranks)


def troubles(world, _options):
    """Too little memory, a script that ignores its batch, a loss that is never reached."""
    said = world.end(world.begin(*world.search(
        "memory", world.script("memory", most=4), "--target", "steps=60")), 0)
    expect("too many for the memory" in said, said)
    world.expect_searched("memory")
    warnings = world.record("memory")["warnings"]
    expect(any("too many for the memory" in one for one in warnings), warnings)

    said = world.end(world.begin(*world.search(
        "ignores", world.script("ignores", takes=3), "--target", "steps=30")), 0)
    expect("does not take its batch" in said, said)

    said = world.end(world.begin(*world.search(
        "never", world.script("never"), "--target", "loss=0.000001", "--steps", "30")), 1)
    expect("was not reached" in said, said)


MODES = {"smoke": smoke, "moves": moves, "machines": machines, "troubles": troubles}

if __name__ == "__main__":
    main(__doc__, MODES, Searches)
