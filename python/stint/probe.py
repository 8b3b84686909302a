"""Times sums over some workers of a network, as DDP's Gloo makes them.

    /usr/bin/python3 -m stint.probe --run mine --plan '[{"vms": [0, 1], "bytes": 1000000}]'

The environment says who this worker is, as for any DDP job: RANK, WORLD_SIZE, MASTER_ADDR,
MASTER_PORT, and GLOO_SOCKET_IFNAME. Every worker runs the same plan in the same order; only those
that a sum names take part in it, and the first of them prints each time as a line of
stint.measurement/1.
"""

import argparse
import json
import sys
import time

import torch
import torch.distributed as dist


def make_groups(plan):
    """One process group for each set of workers."""
    groups = {}
    for step in plan:
        ranks = tuple(step["vms"])
        if ranks not in groups:
            groups[ranks] = dist.new_group(list(ranks))
    return groups


def times_of(tensor, group, repeats):
    """Seconds of each all-reduce after the first, which warms up and synchronises the workers."""
    times = []
    for _ in range(repeats + 1):
        begin = time.monotonic()
        dist.all_reduce(tensor, group=group)
        times.append(time.monotonic() - begin)
    return times[1:]


def report(name, step, times, out):
    """Prints the times of one all-reduce."""
    for one in times:
        reduction = {"vms": step["vms"], "bytes": step["bytes"], "time_s": round(one, 7)}
        print(json.dumps({"schema": "stint.measurement/1", "run": name,
                          "at_s": round(time.time(), 3), "reduction": reduction}), file=out)
    out.flush()


def run(name, plan, rounds, repeats, every, out=sys.stdout):
    """Runs the plan several times, each `every` seconds after the previous one or later; `name` is
    the name of the run."""
    rank = dist.get_rank()
    groups = make_groups(plan)
    tensor = torch.zeros(max(step["bytes"] for step in plan) // 4)
    begin = time.monotonic()
    for number in range(rounds):
        time.sleep(max(0.0, begin + number * every - time.monotonic()))
        for step in plan:
            dist.barrier()  # No other worker sends meanwhile.
            ranks = tuple(step["vms"])
            if rank not in ranks:
                continue
            times = times_of(tensor[:step["bytes"] // 4], groups[ranks], repeats)
            if rank == ranks[0]:
                report(name, step, times, out)
    dist.barrier()


def main(arguments=None):
    """Runs one worker."""
    parser = argparse.ArgumentParser(prog="stint.probe", description=__doc__.split("\n")[0])
    parser.add_argument("--run", required=True, help="what to call it")
    parser.add_argument("--plan", required=True, type=json.loads, help="the sums, as JSON")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=3, help="of each sum in a round")
    parser.add_argument("--every", type=float, default=0, help="seconds from round to round")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    run(options.run, options.plan, options.rounds, options.repeats, options.every)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
