"""A transformer that is split by a layout and whose compute is slept through; what is sent is real.

    /usr/bin/python3 -m stint.paced_layout --layers 4 --width 512 --forward-ms 40 --steps 10

The environment says who this worker is, and STINT_LAYOUT how the model is split. Parameters,
gradients and activations have the sizes of a real transformer in single precision, and go over
Gloo by the very code of python/examples/parallel_transformer.py: collectives, pipeline, shards.

Forward and backward of a layer take the given time for each sample, divided by the tensor degree.
The update takes the share of the given time that this worker updates of the whole model. Embedding
and output layer take none.

Rank 0 prints a JSON line for each iteration and one with the summary.
"""

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.checkpoint import checkpoint

import stint
from stint.pace import Stream
from stint.paced import Record
from stint.pipeline import Pipeline
from stint.sharded import Sharded
from stint.split import Split
from stint.traffic import Traffic

NIC = "eth0"


class Work(torch.autograd.Function):
    """Takes time forward and backward, and makes the gradients of some parameters."""

    @staticmethod
    def forward(ctx, value, wait, forward, backward, *parameters):
        ctx.wait, ctx.seconds, ctx.parameters = wait, backward, len(parameters)
        wait(forward)
        return value.view_as(value)

    @staticmethod
    def backward(ctx, gradient):
        ctx.wait(ctx.seconds)
        # No gradients are passed on: those that the parameters have stay and are sent.
        return (gradient, None, None, None) + (None,) * ctx.parameters


class Model:
    """The times and sizes of the model, and its clock."""

    def __init__(self, args, layout, traffic, stream):
        self.args, self.layout = args, layout
        self.split = Split(layout, traffic)
        self._stream = stream

    def wait(self, seconds):
        """Work of so many seconds."""
        self._stream.wait_until(self._stream.at + seconds)

    def half(self, value, parameters):
        """One of the two pairs of layers of a block."""
        args = self.args
        samples = len(value) / self.layout.tensor
        value = Work.apply(self.split.enter(value), self.wait, samples * args.forward_ms / 2e3,
                           samples * args.backward_ms / 2e3, *parameters)
        return self.split.leave(value)


class Block(nn.Module):
    """A layer: attention with 4 width^2 weights and a feed-forward part with 8 width^2."""

    def __init__(self, model):
        super().__init__()
        self._model = model
        width, parts = model.args.width, model.layout.tensor
        self.attention = nn.Parameter(torch.zeros((4 * width * width + 3 * width) // parts))
        self.feed_forward = nn.Parameter(torch.zeros((8 * width * width + 4 * width) // parts))
        self.others = nn.Parameter(torch.zeros(6 * width))  # Norms, and biases after the sums.

    def forward(self, value):
        if self._model.layout.recompute == "full":
            return checkpoint(self._layer, value)
        return self._layer(value)

    def _layer(self, value):
        value = self._model.half(value, [self.attention])
        return self._model.half(value, [self.feed_forward, self.others])


class End(nn.Module):
    """The embedding or the output layer: parameters, and no time."""

    def __init__(self, model, count, first):
        super().__init__()
        self._model, self._first = model, first
        self.weight = nn.Parameter(torch.zeros(count))

    def forward(self, value):
        args, split = self._model.args, self._model.split
        if self._first:
            value = torch.zeros(len(value), args.length, args.width)
        else:
            value = split.join_sequence(value)
        value = Work.apply(value, self._model.wait, 0.0, 0.0, self.weight)
        return split.cut_sequence(value) if self._first else value


class Stage:
    """The layers of this worker."""

    def __init__(self, model):
        args, layout = model.args, model.layout
        self._args, self._layout = args, layout
        own = args.layers // layout.pipeline
        self.units = [(f"blocks.{number}", Block(model)) for number in range(own)]
        if layout.pipeline_rank == 0:
            count = (args.letters + args.length) * args.width
            self.units.insert(0, ("embedding", End(model, count, True)))
        if layout.pipeline_rank == layout.pipeline - 1:
            self.units.append(("head", End(model, (args.letters + 2) * args.width, False)))
        self.module = nn.Sequential(*[module for _, module in self.units])

    def activations(self, samples):
        """The shape of what is passed to the next stage."""
        cut = self._layout.tensor if self._layout.sequence else 1
        return (samples, self._args.length // cut, self._args.width)


class PacedOptimizer(torch.optim.Optimizer):
    """An update that takes its time and changes nothing."""

    def __init__(self, flat, model):
        super().__init__(flat, {})
        args = model.args
        whole = args.layers * (12 * args.width ** 2 + 13 * args.width)
        whole += (2 * args.letters + args.length + 2) * args.width
        self._model = model
        self._seconds = args.update_ms / 1e3 * sum(map(len, flat)) / whole

    def step(self, closure=None):
        self._model.wait(self._seconds)


def nic_bytes():
    """The bytes that this machine's NIC has sent; None where it has none."""
    with open("/proc/self/net/dev", encoding="utf-8") as lines:
        for line in lines:
            name, _, rest = line.partition(":")
            if name.strip() == NIC:
                return int(rest.split()[8])
    return None


def run(args, layout):
    """Iterates."""
    if args.layers % layout.pipeline:
        raise SystemExit(f"pipeline degree {layout.pipeline} does not divide {args.layers} layers")
    stream = Stream()
    traffic = Traffic(waited=stream.catch_up)
    model = Model(args, layout, traffic, stream)
    stage = Stage(model)
    sharded = Sharded(stage.units, layout, lambda flat: PacedOptimizer(flat, model), traffic)
    pipeline = Pipeline(layout, traffic, stage)
    micro_batches = [(torch.zeros(end - first, 1), None)
                     for first, end in layout.micro_batches(args.batch)]
    record = Record("paced", args.steps)
    if layout.workers > 1:
        dist.barrier()
    stream.catch_up()
    before, counted = nic_bytes(), {}
    while not record.done():
        start = stream.at
        pipeline.run(micro_batches, lambda outputs, _: outputs.mean(), sharded.begin)
        sharded.step()
        record.add(stream.at - start, 0.0)
        counted = counted or dict(traffic.sent)
    after = nic_bytes()
    nic = (after - before) / args.steps if before is not None else None
    record.finish(layout=str(layout), micro_batches=len(micro_batches),
                  sent_bytes=counted, operations={axis: count // args.steps for axis, count
                                                  in traffic.calls.items()}, nic_sent_bytes=nic)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--length", type=int, default=512, help="tokens of a sample")
    parser.add_argument("--letters", type=int, default=256, help="size of the vocabulary")
    parser.add_argument("--batch", type=int, default=4, help="samples of a step, of all workers")
    parser.add_argument("--forward-ms", type=float, default=40, help="of a layer and sample")
    parser.add_argument("--backward-ms", type=float, default=80, help="of a layer and sample")
    parser.add_argument("--update-ms", type=float, default=20, help="of the whole model")
    parser.add_argument("--steps", type=int, default=10)
    args = parser.parse_args()
    torch.set_num_threads(1)
    layout = stint.layout()
    if layout.workers > 1:
        dist.init_process_group("gloo")
    run(args, layout)
    if layout.workers > 1:
        dist.barrier()


if __name__ == "__main__":
    main()
