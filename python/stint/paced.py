"""A DDP job whose compute takes the time that a profile says.

    /usr/bin/python3 -m stint.paced --job job.json --batch 32 --steps 20

The environment says who this worker is, as for any DDP job: RANK, WORLD_SIZE, MASTER_ADDR,
MASTER_PORT, and GLOO_SOCKET_IFNAME. There are three kinds of compute, and every line of output
names which:

paced       Nothing is computed: forward, backward and update are slept through. The gradients have
            the profile's sizes and are ready when it says. DDP's reducer, Gloo and the network are
            real.
paced-real  A script (after --), or a tiny model without one, computes real gradients, and each part
            then waits for its profiled time. Refused when the real computing would not fit.
real        A script (after --) computes as fast as it can; only its iterations are timed. It needs
            no profile.

Rank 0 prints a JSON line for each iteration and one with the summary. With a turnstile (turns.py)
compute takes its time while the turn is held, and iterations include the waiting for turns.
"""

import argparse
import json
import os
import runpy
import sys
import time
import types

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from stint import turns, turns_ddp
from stint.pace import Stream, median, read_pace, ready_pieces, spread
from stint.pacer import Pacer

WARM_UP = 2  # Iterations left out of the summary: DDP builds its buckets in the first.
BUSY_MAX = 0.6  # Share of the profiled time that real computing may take.
BUSY_AFTER = 5  # Iterations after which that is judged.


class Record:
    """Prints iterations as they end, and their summary."""

    def __init__(self, kind, steps, out=sys.stdout):
        self._kind = kind
        self._steps = steps
        self._out = out if rank() == 0 else None
        self.times = []

    def _print(self, line):
        if self._out:
            print(json.dumps({"compute": self._kind, **line}), file=self._out, flush=True)

    def add(self, seconds, waited):
        """An iteration took `seconds`, of which `waited` after backward for gradients."""
        self._print({"iteration": {"number": len(self.times), "time_s": round(seconds, 6),
                                   "synchronisation_s": round(waited, 6)}})
        self.times.append(seconds)

    def done(self):
        """Whether all requested iterations have been recorded."""
        return len(self.times) >= self._steps

    def finish(self, **more):
        """Prints the summary."""
        times = self.times[WARM_UP:] or self.times
        if times:
            self._print({"summary": {"iterations": len(times), "median_s": median(times),
                                     "spread_s": spread(times), **more}})


def rank():
    """The number of this worker."""
    return int(os.environ.get("RANK", "0"))


def world_size():
    """The number of workers, also after a script has left its process group."""
    return int(os.environ.get("WORLD_SIZE", "1"))


class Layer(torch.autograd.Function):
    """One tensor of the paced model: its backward ends when its gradient is ready."""

    @staticmethod
    def forward(ctx, value, parameter, wait):
        ctx.wait = wait
        return value + 0

    @staticmethod
    def backward(ctx, gradient):
        ctx.wait()
        # No gradient is passed on: the one that DDP keeps for the parameter stays and is sent.
        return gradient, None, None


class PacedModel(torch.nn.Module):
    """Tensors of the profile's sizes, without arithmetic."""

    def __init__(self, pace, stream):
        super().__init__()
        self._pace = pace
        self._stream = stream
        self._backward_start = 0.0
        tensors = ready_pieces(pace.buckets)
        # The last one in the model is the first that is ready.
        self._ready = [ready for _, ready in reversed(tensors)]
        self.tensors = torch.nn.ParameterList(
            [torch.nn.Parameter(torch.zeros(size // 4)) for size, _ in reversed(tensors)])
        for tensor in self.tensors:
            tensor.grad = torch.zeros_like(tensor)

    def _wait(self, ready):
        self._stream.wait_until(self._backward_start + ready * self._pace.backward)

    def forward(self, value):
        for tensor, ready in zip(self.tensors, self._ready):
            value = Layer.apply(value, tensor, lambda ready=ready: self._wait(ready))
        self._stream.wait_until(self._stream.at + self._pace.forward)
        self._backward_start = self._stream.at
        return value


def run_paced(pace, steps):
    """Iterates without computing."""
    stream = Stream(*turns.clock())
    model = DistributedDataParallel(PacedModel(pace, stream), gradient_as_bucket_view=True)
    record = Record("paced", steps)
    seed = torch.ones((), requires_grad=True)
    dist.barrier()
    stream.catch_up()
    while not record.done():
        start, wall = stream.at, stream.wall()
        model(seed).backward()
        compute_end = start + pace.forward + pace.backward
        stream.at = compute_end
        stream.catch_up()
        waited = stream.at - compute_end
        stream.wait_until(stream.at + pace.update)
        record.add(stream.wall() - wall, waited)
    sizes = model._get_ddp_logging_data().get("rebuilt_bucket_sizes", "")
    record.finish(buckets=[int(size) for size in sizes.split(",") if size.strip()])


class ScriptPacer(Pacer):
    """Paces a real DDP job, and records its iterations."""

    def __init__(self, pace, steps):
        super().__init__(pace)
        self._record = Record("paced-real", steps)
        self._end = None  # End of the previous iteration.
        self._busy = []  # Seconds of processor time of each iteration.
        self._busy_start = 0.0

    def watch_model(self, model):
        """Paces forward and backward of a DDP model."""
        model.register_forward_pre_hook(self._before_forward)
        model.register_forward_hook(self._after_forward)
        model.register_comm_hook(None, self.hook())

    def watch_optimizer(self, optimizer):
        """Paces the update."""
        step = optimizer.step

        def paced_step(_optimizer, *arguments, **more):
            self.backward_done()
            result = step(*arguments, **more)
            self._after_update()
            return result

        # Schedulers expect a method.
        optimizer.step = types.MethodType(paced_step, optimizer)

    def _before_forward(self, *_):
        if not torch.is_grad_enabled():
            return
        self.begin()
        if self._end is None:
            self._end = self.stream.wall()
        self._busy_start = time.thread_time()

    def _after_forward(self, *_):
        if torch.is_grad_enabled():
            self.forward_done()

    def _after_update(self):
        self._busy.append(time.thread_time() - self._busy_start)
        self.updated()
        if not self._record.done():
            self._record.add(self.stream.wall() - self._end, self.sync_end - self.backward_end)
        self._end = self.stream.wall()
        self._check_busy()

    def _check_busy(self):
        if len(self._busy) != BUSY_AFTER:
            return
        share = self._busy_share()
        if share > BUSY_MAX:
            sys.exit(f"paced-real: the real computing of all workers takes {100 * share:.0f} % of "
                     f"the profiled time on this computer's processors, more than "
                     f"{100 * BUSY_MAX:.0f} %: use fewer workers, a smaller model or paced")

    def finish(self):
        """Prints the summary."""
        if self._busy:
            self._record.finish(busy_share=round(self._busy_share(), 3))

    def _busy_share(self):
        return busy_share(median(self._busy), world_size(), os.cpu_count() or 1,
                          self.pace.compute())


class Watcher:
    """Times the iterations of a script without slowing them down."""

    def __init__(self, steps):
        self._record = Record("real", steps)
        self._end = None  # End of the previous iteration.

    def watch_model(self, model):
        """The model is not changed."""

    def watch_optimizer(self, optimizer):
        """An iteration ends with the update."""
        step = optimizer.step

        def timed_step(_optimizer, *arguments, **more):
            result = step(*arguments, **more)
            now = time.monotonic()
            if self._end is not None and not self._record.done():
                self._record.add(now - self._end, 0.0)
            self._end = now
            return result

        optimizer.step = types.MethodType(timed_step, optimizer)

    def finish(self):
        """Prints the summary."""
        self._record.finish()


def busy_share(processor_time, workers, cores, profiled):
    """The share of the profiled time in which real computing keeps the processors busy."""
    return processor_time * workers / cores / profiled


def run_tiny(pacer, steps):
    """Trains a small perceptron on noise."""
    torch.manual_seed(rank())
    net = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8))
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    pacer.watch_model(model)
    pacer.watch_optimizer(optimizer)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(torch.randn(16, 64)),
                                                 torch.randint(8, (16,)))
        loss.backward()
        optimizer.step()


def run_script(pacer, words):
    """Runs a script whose DDP model and optimizer are paced from their creation on."""
    ddp_init = DistributedDataParallel.__init__
    optimizer_init = torch.optim.Optimizer.__init__

    def paced_ddp(self, *arguments, **more):
        ddp_init(self, *arguments, **more)
        pacer.watch_model(self)

    def paced_optimizer(self, *arguments, **more):
        optimizer_init(self, *arguments, **more)
        pacer.watch_optimizer(self)

    DistributedDataParallel.__init__ = paced_ddp
    torch.optim.Optimizer.__init__ = paced_optimizer
    sys.argv = words
    sys.path.insert(0, os.path.dirname(os.path.abspath(words[0])))
    runpy.run_path(words[0], run_name="__main__")


def parse(arguments):
    """The options, and the script after --."""
    parser = argparse.ArgumentParser(prog="stint.paced", description=__doc__.split("\n")[0])
    parser.add_argument("--job", help="a job profile (stint.job/1)")
    parser.add_argument("--batch", type=int, help="samples per worker")
    parser.add_argument("--steps", type=int, default=20, help="iterations (default: 20)")
    parser.add_argument("--device", help="whose times of the profile (default: the only one)")
    parser.add_argument("--mode", choices=["paced", "paced-real", "real"], default="paced")
    parser.add_argument("script", nargs="*", help="with paced-real or real: the training script")
    options = parser.parse_args(arguments)
    if options.mode == "real" and not options.script:
        parser.error("real needs the training script after --")
    if options.mode != "real" and not (options.job and options.batch):
        parser.error(f"{options.mode} needs --job and --batch")
    return options


def main(arguments=None):
    """Runs one worker."""
    options = parse(arguments)
    torch.set_num_threads(1)
    turns_ddp.install()
    if options.mode == "real":
        watcher = Watcher(options.steps)
        run_script(watcher, options.script)
        return watcher.finish()
    try:
        pace = read_pace(options.job, options.batch, options.device)
    except (OSError, ValueError, KeyError) as problem:
        sys.exit(f"stint.paced: {problem}")
    if options.mode == "paced-real" and options.script:
        pacer = ScriptPacer(pace, options.steps)
        run_script(pacer, options.script)
        return pacer.finish()
    dist.init_process_group("gloo")
    if options.mode == "paced":
        run_paced(pace, options.steps)
    else:
        pacer = ScriptPacer(pace, options.steps)
        run_tiny(pacer, options.steps)
        pacer.finish()
    dist.barrier()
    dist.destroy_process_group()
    return None


if __name__ == "__main__":
    main()
