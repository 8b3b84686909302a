"""Pipeline parallelism over Gloo: one forward, one backward (1F1B).

A stage holds some layers of the model. With P stages, stage p runs P - p - 1 micro-batches forward,
then one forward and one backward in turn, then the remaining backward passes, so that at most P - p
micro-batches are in its memory. Activations go to the next stage and their gradients to the one
before, each to the worker with the same data and tensor rank. Sends and receives are under way
while a stage computes: a receive is begun one micro-batch ahead.
"""

import torch


class Pipeline:
    """Runs micro-batches through the stage of this worker."""

    def __init__(self, layout, traffic, stage, dtype=torch.float32):
        """`stage` has `module(inputs)` and `activations(samples)`, the shape of what is passed on.
        The first stage gets the script's micro-batches, any other the activations."""
        if layout.virtual > 1:
            raise ValueError(f"the layout '{layout}' has virtual stages, which this pipeline does "
                             "not have; leave out vp")
        self._layout = layout
        self._traffic = traffic
        self._stage = stage
        self._dtype = dtype
        self._first = layout.pipeline_rank == 0
        self._last = layout.pipeline_rank == layout.pipeline - 1
        self._before = None if self._first else layout.at(pipeline=layout.pipeline_rank - 1)
        self._after = None if self._last else layout.at(pipeline=layout.pipeline_rank + 1)

    def run(self, micro_batches, loss_of, begin):
        """One forward and one backward pass of each micro-batch, of which each is the pair of the
        first stage's inputs and what `loss_of(outputs, labels)` needs in the last stage. `begin`
        is told before each backward whether it is the last. Returns the sum of the losses, 0
        unless this is the last stage."""
        self._micro_batches, self._loss_of, self._begin = micro_batches, loss_of, begin
        self._inputs, self._outputs, self._gradients = {}, {}, {}
        self._arriving, self._sending = {}, []
        self._loss = 0.0
        count = len(micro_batches)
        ahead = min(count, self._layout.pipeline - self._layout.pipeline_rank - 1)
        self._expect(0)
        for number in range(ahead):
            self._forward(number)
        for number in range(ahead, count):
            self._forward(number)
            self._backward(number - ahead)
        for number in range(count - ahead, count):
            self._backward(number)
        for pending, _ in self._sending:
            pending.wait()
        return self._loss

    def _expect(self, number):
        """Begins to receive the activations of a micro-batch."""
        if self._first or number >= len(self._micro_batches):
            return
        shape = self._stage.activations(len(self._micro_batches[number][0]))
        buffer = torch.empty(shape, dtype=self._dtype)
        self._arriving[number] = (buffer, self._traffic.receive(buffer, self._before, 2 * number))

    def _send(self, tensor, rank, tag):
        tensor = tensor.detach().contiguous()
        self._sending.append((self._traffic.send(tensor, rank, tag), tensor))

    def _forward(self, number):
        inputs, labels = self._micro_batches[number]
        self._expect(number + 1)
        if not self._first:
            inputs, pending = self._arriving.pop(number)
            pending.wait()
            inputs.requires_grad_()
        outputs = self._stage.module(inputs)
        if self._last:
            outputs = self._loss_of(outputs, labels)
            self._loss += outputs.item()
        else:
            self._send(outputs, self._after, 2 * number)
            gradient = torch.empty(outputs.shape, dtype=self._dtype)
            pending = self._traffic.receive(gradient, self._after, 2 * number + 1)
            self._gradients[number] = (gradient, pending)
        self._inputs[number], self._outputs[number] = inputs, outputs

    def _backward(self, number):
        inputs, outputs = self._inputs.pop(number), self._outputs.pop(number)
        gradient = None
        if not self._last:
            gradient, pending = self._gradients.pop(number)
            pending.wait()
        self._begin(number == len(self._micro_batches) - 1)
        outputs.backward(gradient)
        if not self._first:
            self._send(inputs.grad, self._before, 2 * number + 1)
