"""Tensor parallelism, as in Megatron-LM: what happens before and after layers that are split.

Two layers form a pair: the first is split by columns, the second by rows. Without sequence
parallelism the pair costs an all-reduce of the activations forward and one backward. With it the
activations outside of pairs are cut along the sequence, which is their second dimension, and the
pair costs an all-gather and a reduce-scatter in each direction; the latter is an all-reduce on Gloo.
"""

import torch
import torch.distributed as dist


class CopyToTensor(torch.autograd.Function):
    """Before a layer that is split by columns: nothing forward, an all-reduce backward."""

    @staticmethod
    def forward(ctx, value, traffic, group):
        ctx.traffic, ctx.group = traffic, group
        return value.view_as(value)

    @staticmethod
    def backward(ctx, gradient):
        gradient = gradient.contiguous().clone()
        ctx.traffic.all_reduce(gradient, ctx.group, "tensor").wait()
        return gradient, None, None


class ReduceFromTensor(torch.autograd.Function):
    """After a layer that is split by rows: an all-reduce forward, nothing backward."""

    @staticmethod
    def forward(ctx, value, traffic, group):
        value = value.contiguous().clone()
        traffic.all_reduce(value, group, "tensor").wait()
        return value

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None, None


def _own(value, group):
    """The part of this worker of a sequence, which is the second dimension."""
    return value.chunk(dist.get_world_size(group), 1)[dist.get_rank(group)].contiguous()


def _together(value, traffic, group):
    """The whole sequence of parts."""
    workers = dist.get_world_size(group)
    flat = value.new_empty(workers * value.numel())
    traffic.all_gather(flat, value.contiguous().view(-1), group, "tensor").wait()
    return torch.cat([part.view_as(value) for part in flat.chunk(workers)], 1)


class GatherSequence(torch.autograd.Function):
    """Before a layer that is split by columns, with sequence parallelism: an all-gather forward, a
    reduce-scatter backward."""

    @staticmethod
    def forward(ctx, value, traffic, group):
        ctx.traffic, ctx.group = traffic, group
        return _together(value, traffic, group)

    @staticmethod
    def backward(ctx, gradient):
        whole = gradient.contiguous().clone()
        ctx.traffic.reduce_scatter(whole, ctx.group, "tensor").wait()
        return _own(whole, ctx.group), None, None


class ScatterSequence(torch.autograd.Function):
    """After a layer that is split by rows, with sequence parallelism: a reduce-scatter forward, an
    all-gather backward."""

    @staticmethod
    def forward(ctx, value, traffic, group):
        ctx.traffic, ctx.group = traffic, group
        whole = value.contiguous().clone()
        traffic.reduce_scatter(whole, group, "tensor").wait()
        return _own(whole, group)

    @staticmethod
    def backward(ctx, gradient):
        return _together(gradient, ctx.traffic, ctx.group), None, None


class CutSequence(torch.autograd.Function):
    """Keeps this worker's part of a sequence that all have; backward gathers it."""

    @staticmethod
    def forward(ctx, value, traffic, group):
        ctx.traffic, ctx.group = traffic, group
        return _own(value, group)

    @staticmethod
    def backward(ctx, gradient):
        return _together(gradient, ctx.traffic, ctx.group), None, None


class JoinSequence(torch.autograd.Function):
    """Gathers a sequence for a part of the model that all workers compute alike."""

    @staticmethod
    def forward(ctx, value, traffic, group):
        ctx.group = group
        return _together(value, traffic, group)

    @staticmethod
    def backward(ctx, gradient):
        return _own(gradient, ctx.group), None, None


class Split:
    """How layers are split: the layout, and what carries their sums."""

    def __init__(self, layout, traffic):
        self.layout = layout
        self._traffic = traffic

    def _apply(self, operation, value):
        if self.layout.tensor == 1:
            return value
        return operation.apply(value, self._traffic, self.layout.tensor_group)

    def enter(self, value):
        """Before a layer that is split by columns."""
        return self._apply(GatherSequence if self.layout.sequence else CopyToTensor, value)

    def leave(self, value):
        """After a layer that is split by rows."""
        return self._apply(ScatterSequence if self.layout.sequence else ReduceFromTensor, value)

    def cut_sequence(self, value):
        """After the embedding, with sequence parallelism."""
        return self._apply(CutSequence, value) if self.layout.sequence else value

    def join_sequence(self, value):
        """Before the output layer, with sequence parallelism."""
        return self._apply(JoinSequence, value) if self.layout.sequence else value
