"""A worker of test_parallel.py: trains case after case, each in its own layout, in one process.

    layout_worker.py CASES

CASES is a JSON list of {"layout", "folder", "steps", "from"}: `folder` gets the checkpoints, and
`from` is the folder of a checkpoint to begin with. Double precision, so that the order of sums
shows in the last digits only.
"""

import json
import os
import shutil
import sys

import torch
import torch.distributed as dist

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, ROOT)
sys.path.insert(0, os.path.join(ROOT, "examples"))
import parallel_transformer  # noqa: E402
import sharded  # noqa: E402
import stint  # noqa: E402
from stint import shards  # noqa: E402


def run(case, words):
    """Trains one case, or only restores and saves again."""
    os.environ["STINT_LAYOUT"] = case["layout"]
    layout = stint.layout()
    example = sharded if case.get("example") == "sharded" else parallel_transformer
    sys.argv = ["example", *words, "--steps", str(case["steps"]), "--checkpoints", case["folder"],
                "--save-every", "1000", "--say-every", "1000", *case.get("words", [])]
    if case.get("from") and layout.rank == 0:
        place = shards.newest(case["from"])
        shutil.copytree(place, os.path.join(case["folder"], os.path.basename(place)))
    if dist.is_initialized():
        dist.barrier()
    done = example.train(example.options(), layout)
    if case.get("again"):
        shards.save(case["again"], case["steps"], done)
    if layout.rank == 0 and case.get("traffic"):
        with open(case["traffic"], "w", encoding="utf-8") as file:
            json.dump(done.traffic.sent, file)


def main():
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    cases, words = json.loads(sys.argv[1]), sys.argv[2:]
    if int(os.environ["WORLD_SIZE"]) > 1:
        dist.init_process_group("gloo")
    for case in cases:
        run(case, words)
    if dist.is_initialized():
        dist.barrier()


if __name__ == "__main__":
    main()
