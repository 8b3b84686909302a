"""The model as scripts call it, whatever cluster it is trained on."""

import contextlib
import inspect

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.nn.parallel import distributed as parallel

from stint import turns
from stint.pacer import Pacer
from stint.recorder import leading_size

OWN = ("module", "process_group", "delay_all_reduce_named_params")  # Not for scripts to choose.


def check_arguments(arguments):
    """Refuses what DistributedDataParallel does not take, before any machine waits for it."""
    known = inspect.signature(DistributedDataParallel.__init__).parameters
    open_ended = any(one.kind is one.VAR_KEYWORD for one in known.values())
    for name in arguments:
        if name in OWN or name == "self" or (name not in known and not open_ended):
            names = ", ".join(one for one in known if one not in OWN and one != "self")
            raise TypeError(f"stint.Job: ddp has no argument '{name}'; known: {names}")


class Pacing:
    """The profiled times that all models of a job take together."""

    def __init__(self, paces, several):
        self._paces = paces
        self._several = several
        self._begun = False  # In this micro-batch.
        self.pacer = Pacer() if paces else None

    def begin(self):
        """A micro-batch begins."""
        self._begun = False

    def timed(self, samples, run):
        """Runs a forward pass. Of several models the first that is called takes the time of all."""
        if not self.pacer or (self._several and self._begun):
            return run()
        self._begun = True
        self.pacer.pace = self._paces.at(samples)
        self.pacer.begin()
        result = run()
        self.pacer.forward_done()
        return result


class MayDoNothing(torch.nn.Module):
    """A network that can also be called for gradients of zero, without a sample."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, *arguments, nothing=False, **more):
        if not nothing:
            return self.network(*arguments, **more)
        return sum((0 * one.reshape(-1)[:1]).sum() for one in self.network.parameters()
                   if one.requires_grad)


class Model(torch.nn.Module):
    """What scripts call: the same object whatever the cluster is. It counts the samples it sees."""

    def __init__(self, network, pacing, norms, arguments):
        super().__init__()
        self.inner = network  # Or DistributedDataParallel around it.
        self.samples = 0
        self._network = [network]  # Not as a module: it would be found twice.
        self._pacing = pacing
        self._norms = norms
        self._arguments = arguments  # For DistributedDataParallel,
        self._reduce = None  # with this hook, while these parameters are trained.
        self._trained = []

    def wrap(self, reduce=None):
        """Shares gradients from now on; with `reduce`, a communication hook, in its own way, and
        then all workers have the same parameters already."""
        network = MayDoNothing(self._network[0])
        self._reduce, self._trained = reduce, self._flags()
        if reduce:
            with _without_first_broadcast():
                self.inner = DistributedDataParallel(network, **self._arguments)
            pacer = self._pacing.pacer
            hook = pacer.hook(reduce) if pacer else reduce
            self.inner.register_comm_hook(None, self._norms.hook(hook))
        else:
            self.inner = DistributedDataParallel(network, **self._arguments)

    def _flags(self):
        return [one.requires_grad for one in self._network[0].parameters()]

    def follow(self):
        """Shares the gradients of the parameters that are trained by now: scripts may freeze some,
        and not any more. Every worker calls it in the same steps."""
        if self.inner is not self._network[0] and self._flags() != self._trained:
            self.unwrap()
            self.wrap(self._reduce)

    def unwrap(self):
        """Makes an end of that. Whoever still holds the old object, such as a loss, must not keep
        its reducer alive, which listens to gradients, nor the process group."""
        if isinstance(self.inner, DistributedDataParallel):
            for name in ("reducer", "logger", "process_group"):
                self.inner.__dict__.pop(name, None)
        self.inner = self._network[0]
        turns.abandon()  # Nobody holds a turn who waits for orders.

    def share_next(self, whether):
        """Whether gradients are shared after the next forward pass. It is forward, not backward,
        that decides: a worker with more micro-batches than others would wait for sums that they
        know nothing of."""
        if isinstance(self.inner, DistributedDataParallel):
            self.inner.require_backward_grad_sync = whether

    def forward(self, *arguments, **more):
        if not torch.is_grad_enabled():
            with turns.computing():  # Evaluation is each worker's own business.
                return self._network[0](*arguments, **more)
        samples = leading_size([arguments, more]) or 0
        self.samples += samples
        self._begin_alone()
        return self._pacing.timed(samples, lambda: self.inner(*arguments, **more))

    def nothing(self):
        """A loss whose gradients are zero."""
        return self._pacing.timed(0, lambda: self.inner(nothing=True))

    # With DistributedDataParallel turns are its hooks' business.

    def _begin_alone(self):
        if self.inner is self._network[0]:
            turns.take()

    def backward_done(self):
        """Backward of a micro-batch is over, and so is what it waited for."""
        if self.inner is self._network[0]:
            turns.give()


@contextlib.contextmanager
def _without_first_broadcast():
    """DistributedDataParallel sends all parameters when it is made, in a way that nothing wakes if
    a worker is lost then. Ours are the same on all workers already."""
    original = getattr(parallel, "_sync_module_states", None)
    try:
        if original:
            parallel._sync_module_states = lambda *_, **__: None
        yield
    finally:
        if original:
            parallel._sync_module_states = original
