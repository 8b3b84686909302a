"""Sharded data parallelism (ZeRO stages 0 to 3) over Gloo, which PyTorch 1.13's FSDP cannot use.

    sharded = Sharded(model.units, layout, lambda flat: torch.optim.AdamW(flat, lr=1e-3))
    for micro_batch in micro_batches:
        sharded.begin(last=micro_batch is micro_batches[-1])
        loss_of(model, micro_batch).backward()
    sharded.step()

A unit is a module that is called once in a forward pass, such as a layer; its parameters are one
flat tensor. Over the data-parallel workers gradients are *summed*: divide the loss by the samples
of all of them.

stage  what a worker keeps of a unit            what is sent
0      everything                               all-reduce of gradients, behind the last backward
1      its shard of the optimizer's state       the same as a reduce-scatter; all-gather of
                                                parameters after the update
2      and its shard of the gradients           reduce-scatter behind the backward of each
                                                micro-batch; all-gather after the update
3      and its shard of the parameters          reduce-scatter as 2; all-gather before each forward
                                                and each backward, one unit ahead

All stages sum the same flat tensors, so that they agree bit for bit where they sum in the same
order: with one micro-batch a step. Every parameter of a unit has to get a gradient in each
backward.
"""

import torch

from stint.traffic import Traffic


class Piece:
    """The place of one parameter in the flat tensor of its unit."""

    def __init__(self, name, parameter, first):
        self.name = name
        self.first = first
        self.count = parameter.numel()
        self.shape = tuple(parameter.shape)
        # How tensor parallelism cut the parameter: (dimension, part, parts); None: not at all.
        self.cut = getattr(parameter, "cut", None)

    def whole_shape(self):
        """The shape of the parameter before it was cut."""
        if self.cut is None:
            return self.shape
        dimension, _, parts = self.cut
        return tuple(size * parts if place == dimension else size
                     for place, size in enumerate(self.shape))


class Before(torch.autograd.Function):
    """Marks the end of a unit's forward, which is where its backward begins."""

    @staticmethod
    def forward(ctx, value, unit):
        ctx.unit = unit
        return value.view_as(value)

    @staticmethod
    def backward(ctx, gradient):
        ctx.unit.before_backward()
        return gradient, None


class Unit:
    """The flat parameters of a module, of which this worker owns a shard."""

    def __init__(self, module, name, layout, traffic):
        self.module = module
        self.layout = layout
        self.traffic = traffic
        self.neighbours = (None, None)  # The units before and after.
        self.last = True  # Whether this backward is the last of the step.
        self._gathering = self._reducing = None
        self._missing = 0  # Parameters whose gradients this backward has not made.
        named = list(module.named_parameters())
        self._lay_out(name, [(key, one) for key, one in named if one.requires_grad])
        self._listen()

    def _lay_out(self, name, named):
        zero, shards = self.layout.zero, self.layout.shard
        self._parameters = [one for _, one in named]
        if len({one.dtype for one in self._parameters}) != 1:
            raise ValueError(f"the parameters of {name} have several types, or there are none: a "
                             "unit is one flat tensor")
        self.pieces = []
        count = 0
        for key, one in named:
            self.pieces.append(Piece(f"{name}.{key}", one, count))
            count += one.numel()
        # Of the same length in each stage, because Gloo's order of sums depends on it.
        padded = -(-count // self.layout.data) * self.layout.data
        kind = self._parameters[0].dtype
        self.whole = torch.zeros(padded, dtype=kind)
        self._gradient = torch.zeros(padded, dtype=kind)
        size = padded // shards
        self.first = size * self.layout.shard_rank  # Of the shard in the flat tensor.
        for piece, one in zip(self.pieces, self._parameters):
            self._of(self.whole, piece).copy_(one.data)
            one.data = self._of(self.whole, piece)
            one.grad = self._of(self._gradient, piece)
        shard = self.whole[self.first:self.first + size]
        self.shard = torch.nn.Parameter(shard.clone() if zero == 3 else shard.data)
        self.shard.grad = (torch.zeros_like(shard) if zero >= 2
                           else self._gradient[self.first:self.first + size])
        self._present = zero < 3

    @staticmethod
    def _of(flat, piece):
        return flat.data[piece.first:piece.first + piece.count].view(piece.shape)

    def _listen(self):
        """Hears of forward and backward passes, and then has no more than its stage keeps."""
        self.module.register_forward_pre_hook(lambda *_: self.before_forward())
        self.module.register_forward_hook(lambda _, __, output: self.after_forward(output))
        # The node that adds to a parameter's gradient; nothing else keeps it.
        self._nodes = [one.expand_as(one).grad_fn.next_functions[0][0]
                       for one in self._parameters]
        for node in self._nodes:
            node.register_hook(lambda *_: self._got_gradient())
        if self.layout.zero >= 2:
            free(self._gradient)
        if self.layout.zero == 3:
            free(self.whole)

    # Parameters.

    def gather(self):
        """Begins to fetch the parameters of the others."""
        if self._present or self._gathering:
            return
        restore(self.whole)
        self._gathering = self.traffic.all_gather(self.whole, self.shard.data,
                                                  self.layout.gather_group, "data")

    def _have(self):
        self.gather()
        if self._gathering:
            self._gathering.wait()
            self._gathering = None
        self._present = True

    def _release(self):
        if self.layout.zero == 3:
            free(self.whole)
            self._present = False

    def before_forward(self):
        """The module is about to be called."""
        self._have()
        if self.neighbours[1]:
            self.neighbours[1].gather()

    def after_forward(self, output):
        """The module was called."""
        self._release()
        return Before.apply(output, self) if output.requires_grad else output

    # Gradients.

    def before_backward(self):
        """The gradient of the module's output is there."""
        self._have()
        if self.neighbours[0]:
            self.neighbours[0].gather()
        if self._reducing:  # Of the micro-batch before.
            self.reduced()
        if self.layout.zero >= 2:
            restore(self._gradient)
            self._gradient.zero_()
        self._missing = len(self._parameters)

    def _got_gradient(self):
        self._missing -= 1
        if self._missing:
            return
        if self.last or self.layout.zero >= 2:
            self._sum_over_tensor()
            self._reduce()
        self._release()

    def _sum_over_tensor(self):
        """With sequence parallelism some parameters see a part of the sequence only."""
        partial = [one.grad for one in self._parameters if getattr(one, "partial", False)]
        if partial and self.layout.tensor > 1:
            flat = torch.cat([one.reshape(-1) for one in partial])
            self.traffic.all_reduce(flat, self.layout.tensor_group, "tensor").wait()
            for one, part in zip(partial, flat.split([one.numel() for one in partial])):
                one.copy_(part.view_as(one))

    def _reduce(self):
        if self.layout.zero == 0:
            self._reducing = self.traffic.all_reduce(self._gradient, self.layout.data_group, "data")
        else:
            self._reducing = self.traffic.reduce_scatter(self._gradient, self.layout.shard_group,
                                                         "data")

    def reduced(self):
        """Waits until the gradients of a backward are summed."""
        if not self._reducing:
            return
        self._reducing.wait()
        self._reducing = None
        if self.layout.zero >= 2:
            size = len(self.shard)
            self.shard.grad += self._gradient[self.first:self.first + size]
            free(self._gradient)

    def sum_over_replicas(self):
        """With shards within VMs: sums over the VMs."""
        if self.layout.zero and self.layout.shard < self.layout.data:
            return self.traffic.all_reduce(self.shard.grad, self.layout.replica_group, "data")
        return None

    def updated(self):
        """The shard has new values. Returns what to wait for."""
        (self.shard.grad if self.layout.zero >= 2 else self._gradient).zero_()
        if self.layout.zero in (1, 2):
            return self.traffic.all_gather(self.whole, self.shard.data, self.layout.shard_group,
                                           "data")
        return None


class Sharded:
    """The units of a model, or of a stage of one, with the optimizer of their shards."""

    def __init__(self, modules, layout, make_optimizer, traffic=None):
        """`modules` are pairs of a name and a module, in the order of the forward pass."""
        layout.make_groups()  # Together: stages of a pipeline need theirs at different times.
        self.layout = layout
        self.traffic = traffic or Traffic()
        self.units = [Unit(module, name, layout, self.traffic) for name, module in modules]
        for before, after in zip(self.units, self.units[1:]):
            before.neighbours = (before.neighbours[0], after)
            after.neighbours = (before, None)
        self.optimizer = make_optimizer([unit.shard for unit in self.units])

    def begin(self, last=True):
        """A backward follows; `last`: of the step."""
        for unit in self.units:
            unit.last = last

    def step(self):
        """Updates the parameters with the summed gradients."""
        for unit in reversed(self.units):
            unit.reduced()
        finish([unit.sum_over_replicas() for unit in self.units])
        self.optimizer.step()
        finish([unit.updated() for unit in self.units])

    def parameters(self):
        """All parameters of the units, whole over the data-parallel workers, by name."""
        found = {}
        for unit in self.units:
            whole = torch.empty(len(unit.whole), dtype=unit.shard.dtype)
            self.traffic.all_gather(whole, unit.shard.data, self.layout.shard_group, "data").wait()
            for piece in unit.pieces:
                found[piece.name] = whole[piece.first:piece.first + piece.count].view(piece.shape)
        return found


def finish(pending):
    """Waits for all that is pending."""
    for one in pending:
        if one:
            one.wait()


def free(flat):
    """Gives the memory of a flat tensor back; views of it stay valid for restore()."""
    _resize(flat, 0)


def restore(flat):
    """Gives a flat tensor memory again, with any content."""
    _resize(flat, flat.numel())


def _resize(flat, count):
    if hasattr(flat, "untyped_storage"):  # PyTorch 2.
        flat.untyped_storage().resize_(count * flat.element_size())
    else:
        flat.storage().resize_(count)
