#!/usr/bin/python3
"""Measures how long training stands still for a save, against a blocking save of the same bytes.

Usage: measure_saves.py [--folder F] [--receivers A:P,A:P --secret HEX] [--shard K --of N]
                        [--megabytes 100] [--saves 10] [--out FILE]

A perceptron with Adam, whose state has the given size, is trained on noise and saved as under
`stint run`. `stall` is what the saver tells, `slower` what the steps during a save took longer than
others, `blocking` the time to copy, sum up and keep the same bytes with training stopped. With
--shard the worker saves only its part, so that one can be started on each of N machines. Prints a
table, and JSON lines to --out (default: standard output).
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
from stint import places  # noqa: E402
from stint import state as states  # noqa: E402
from stint.pace import median  # noqa: E402
from stint.saver import Save, Saver  # noqa: E402

WARM_UP = 3
COLUMNS = ("place", "bytes", "blocking_s", "stall_s", "ratio", "slower_s", "copy_s", "transfer_s",
           "step_s")


class Training:
    """A model that is saved while it trains."""

    def __init__(self, megabytes, batch):
        layers, width = 4, 1
        while 12 * layers * width * width < megabytes * 1e6:  # Parameters and Adam's two moments.
            width += 1
        self.network = torch.nn.Sequential(*[torch.nn.Linear(width, width) for _ in range(layers)])
        self.optimizer = torch.optim.Adam(self.network.parameters())
        self.inputs = torch.randn(batch, width)

    def step(self, before_update):
        """Trains once; returns the seconds it took."""
        begin = time.monotonic()
        self.optimizer.zero_grad()
        self.network(self.inputs).square().mean().backward()
        before_update()
        self.optimizer.step()
        return time.monotonic() - begin

    def state(self):
        """The state in the form of a job."""
        return states.gather(self.network, self.optimizer, None, 0)


def blocking_save(training, place, step, shard):
    """Seconds of a blocking checkpoint."""
    layout = states.Layout(training.state())
    begin, end = states.shard_range(layout.size, *shard)
    data = torch.zeros(end - begin, dtype=torch.uint8)  # Its pages are there, as a saver's are.
    start = time.monotonic()
    layout.copy(begin, end, data)
    place.put(step, *shard, data, states.checksum(data))
    return time.monotonic() - start


def asynchronous_saves(training, place, count, shard):
    """The saver's reports; seconds of steps with and without a checkpoint in progress."""
    told = []
    saver = Saver(lambda kind, **facts: told.append(facts))
    during, calm = [], []
    for number in range(count + 1):  # The first one allocates the buffer.
        saver.begin(training.state(), Save(place, *shard, {"attempt": 1, "step": number}))
        while len(told) <= number:
            during.append(training.step(saver.before_update))
        if "reason" in told[-1]:
            sys.exit(f"measure_saves: {told[-1]['reason']}")
        for _ in range(WARM_UP):
            calm.append(training.step(saver.before_update))
        if number == 0:
            during, calm = [], []
    return told[1:], during, calm


def measure(name, place, options):
    """The row of a place."""
    training = Training(options.megabytes, options.batch)
    for _ in range(WARM_UP):
        training.step(lambda: None)
    shard = (options.shard, options.of)
    blocking_save(training, place, 1000, shard)
    blocking = [blocking_save(training, place, 1000, shard) for _ in range(options.saves)]
    told, during, calm = asynchronous_saves(training, place, options.saves, shard)
    row = {"place": name, "bytes": told[0]["bytes"], "blocking_s": median(blocking),
           "step_s": median(calm)}
    for part in ("stall_s", "copy_s", "transfer_s"):
        row[part] = median([one[part] for one in told])
    # Extra time of all steps during a checkpoint, per checkpoint.
    row["slower_s"] = (sum(during) - len(during) * row["step_s"]) / len(told)
    row["ratio"] = row["stall_s"] / row["blocking_s"]
    return row


def show(rows):
    """Prints a table."""
    print("  ".join(f"{name:>11}" for name in COLUMNS))
    for row in rows:
        print("  ".join(f"{row[name]:11.4f}" if isinstance(row[name], float) else
                        f"{row[name]:>11}" for name in COLUMNS))


def main():
    """Measures each place that is given."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", help="default: a temporary one")
    parser.add_argument("--receivers", default="", help="ADDRESS:PORT, …")
    parser.add_argument("--secret", default="", help="of the receivers, in hexadecimal digits")
    parser.add_argument("--shard", type=int, default=0)
    parser.add_argument("--of", type=int, default=1)
    parser.add_argument("--megabytes", type=float, default=100, help="of the whole state")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--saves", type=int, default=10)
    parser.add_argument("--out", help="append JSON lines to this file")
    options = parser.parse_args()
    torch.set_num_threads(1)
    addresses = [one.rsplit(":", 1) for one in options.receivers.split(",") if one]
    with tempfile.TemporaryDirectory(prefix="stint-saves-") as folder:
        found = [("folder", places.Folder(options.folder or folder))]
        if addresses:
            found.append((f"{len(addresses)} receiver" + "s" * (len(addresses) > 1),
                          places.Receivers([(a, int(p)) for a, p in addresses], options.secret)))
        rows = [measure(name, place, options) for name, place in found]
    show(rows)
    with open(options.out, "a", encoding="utf-8") if options.out else sys.stdout as file:
        for row in rows:
            print(json.dumps(row), file=file)


if __name__ == "__main__":
    main()
