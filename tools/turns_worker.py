#!/usr/bin/python3
"""One worker of tools/measure_turns.py, which starts it: plays a paced job in many arrangements.

Usage: turns_worker.py FOLDER JOB

FOLDER/plan.json lists the segments. Each begins at a moment on which the workers of both jobs agree
and has its own turnstiles; a worker without work in it waits for the next. The end of each
iteration is written to FOLDER/end.SEGMENT.JOB.RANK.
"""

import json
import os
import sys
import time
from pathlib import Path

LOOK_AGAIN = 0.02  # Seconds.
AHEAD = 0.15  # Seconds from the arrival of the last worker to the start.
BATCH = 32


def write(path, value):
    """Writes JSON atomically."""
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(value), encoding="utf-8")
    part.rename(path)


def common_start(folder, number, name, names):
    """Waits for all workers; the moment at which all of them start."""
    write(folder / f"here.{number}.{name}", time.monotonic())
    paths = [folder / f"here.{number}.{one}" for one in names]
    while not all(path.exists() for path in paths):
        time.sleep(LOOK_AGAIN)
    return max(json.loads(path.read_text(encoding="utf-8")) for path in paths) + AHEAD


class Player:
    """A paced job's worker, for as many segments as there are."""

    def __init__(self, folder, job, rank, pace):
        from torch.nn.parallel import DistributedDataParallel
        import torch
        from stint import turns
        from stint.paced import PacedModel
        from stint.pace import Stream
        self._folder, self._job, self._rank, self._pace = folder, job, rank, pace
        self._turns = turns.current()
        self._stream = Stream(*turns.clock())
        self._model = DistributedDataParallel(PacedModel(pace, self._stream),
                                              gradient_as_bucket_view=True)
        self._seed = torch.ones((), requires_grad=True)

    def join(self, number, segment):
        """Joins the segment's turnstile."""
        from stint.turnstile import Turnstile
        place = list(segment["jobs"]).index(self._job)
        self._turns.move(
            Turnstile(self._folder / f"turnstile.{number}.{self._rank}", self._job, place,
                      segment["shares"][place], segment["patience_s"]), segment["mode"])

    def play(self, start, iterations):
        """The moments at which iterations ended."""
        time.sleep(max(0.0, start - time.monotonic()))
        self._stream.catch_up()
        ends = []
        for _ in range(iterations):
            begin = self._stream.at
            self._model(self._seed).backward()
            self._stream.at = begin + self._pace.forward + self._pace.backward
            self._stream.catch_up()
            self._stream.wait_until(self._stream.at + self._pace.update)
            ends.append(time.monotonic())
        self._turns.leave()
        return ends


def main():
    """The command."""
    folder, job = Path(sys.argv[1]), sys.argv[2]
    rank = int(os.environ["RANK"])
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    os.environ.update(STINT_TURNSTILE=str(folder / f"turnstile.{job}.{rank}"), STINT_TURNS_JOB=job,
                      STINT_TURNS_LIMIT="60 s", MASTER_PORT=str(plan["ports"][job]))
    import torch
    import torch.distributed as dist
    from stint import turns_ddp
    from stint.pace import read_pace
    torch.set_num_threads(1)
    turns_ddp.install()
    dist.init_process_group("gloo")
    player = Player(folder, job, rank, read_pace(folder / f"{job}.json", BATCH))
    names = [f"{one}.{number}" for one in plan["ports"] for number in range(dist.get_world_size())]
    for number, segment in enumerate(plan["segments"]):
        if job in segment["jobs"]:
            player.join(number, segment)
        start = common_start(folder, number, f"{job}.{rank}", names)
        if job in segment["jobs"]:
            ends = player.play(start, segment["jobs"][job])
            write(folder / f"end.{number}.{job}.{rank}", {"start": start, "ends": ends})
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
