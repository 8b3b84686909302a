"""One iteration of training: its marks, and the record that they make."""

import math

from stint import facts


class Pass:
    """One forward and backward."""

    def __init__(self, forward, fetches):
        self.fetches = fetches  # The batches it was given.
        self.forward = forward  # Marks.
        self.backward = None
        self.end = None
        self.forwarded = True  # False: a further backward through the same forward.
        self.inside = []       # Updates between forward and backward, as pairs of marks.
        self.square = None     # Of the gradients gathered so far.


class Sent:
    """A bucket of gradients that DistributedDataParallel sends."""

    def __init__(self, key, size, ready, number):
        self.key = key        # The same in each backward pass.
        self.size = size
        self.ready = ready    # A mark.
        self.reduced = None   # Another.
        self.number = number  # Of the pass.
        self.local = None     # Squared norms of a sampled iteration, before and after.
        self.mean = None


class Iteration:
    """What happened between two marks; the marks may lie in the future of a GPU."""

    def __init__(self, number, start):
        self.number = number
        self.start = start
        self.end = None
        self.passes = []
        self.updates = []  # (begin, end, passes of a closure).
        self.gaps = []     # Passes before each step of an optimizer, since the one before.
        self.leading = None  # The first dimension of what the last pass was given.
        self.evaluated = False  # Before it began.
        self.doubtful = None    # Mark, module and batch of a forward pass in evaluation mode.
        self.closures = False
        self.skipped = False
        self.sampled = False
        self.buckets = []
        self.readiness = None
        self.batch = None
        self.parts = 1  # Of the batch: micro-steps.
        self.turns = 1  # The steps of the optimizer that stepped most often.
        self.alone = True  # One optimizer.
        self.peak = 0
        self.scale = 1.0  # Of the gradients, by a gradient scaler.

    def forwarded(self):
        """Returns how many passes had a forward of their own."""
        return sum(one.forwarded for one in self.passes)

    def divided(self, batch, loaded):
        """Returns the samples of one micro-step, and how many micro-steps there are.

        Each batch of a DataLoader is one, however many losses go backward for it. A script that
        cuts the batch of its DataLoader up has as many as there are pieces, and one without a
        DataLoader has the passes for one step of an optimizer. What a closure repeats is one.
        """
        passes = len(self.passes)
        if self.closures:
            return batch, 1
        fetched = self.fetched()
        if fetched and loaded and self.cuts(passes, fetched * loaded):
            return self.leading, passes
        if fetched:
            return batch, min(fetched, passes)
        return batch, max(1, self.turns * min((gap for gap in self.gaps if gap), default=1))

    def fetched(self):
        """Returns how many batches came from the DataLoader that gave most."""
        counts = {}
        for one in self.passes:
            for fetch in one.fetches:
                counts[fetch.feed] = counts.get(fetch.feed, 0) + 1
        return max(counts.values(), default=0)

    def cuts(self, passes, samples):
        """Tells whether the passes are pieces of so many samples."""
        return (self.turns == 1 and passes > 1 and self.leading is not None
                and self.leading * passes == samples)

    def record(self, seconds, warmup):
        """Returns the record of an iteration whose marks have passed."""
        forward = sum(seconds(one.forward, one.backward)
                      - sum(seconds(*pair) for pair in one.inside) for one in self.passes)
        record = {
            "number": self.number, "warmup": self.number < warmup, "sampled": self.sampled,
            "batch": self.batch, "passes": self.parts, "updates": self.turns,
            "skipped": self.skipped or None, "forward_s": forward,
            "input_s": sum(fetch.seconds for one in self.passes for fetch in one.fetches),
            "backward_s": sum(seconds(one.backward, one.end) for one in self.passes),
            "update_s": sum(seconds(begin, end) - sum(seconds(*pair) for pair in inner)
                            for begin, end, inner in self.updates),
            "peak_bytes": self.peak,
        }
        if self.start is not None:
            record["time_s"] = seconds(self.start, self.end)
        record["buckets"] = self._buckets(seconds)
        record.update(self._noise())
        return record

    def ready_after(self, seconds, number, mark):
        """Returns the backward time until a mark in the pass `number`: of this pass alone where
        the passes are the parts of a batch, and of all before where there are several losses."""
        before = 0 if self.parts == len(self.passes) else number
        return (sum(seconds(one.backward, one.end) for one in self.passes[:before])
                + seconds(self.passes[number].backward, mark))

    def _last_sent(self):
        """Returns each bucket as it was sent last, which is when its gradients are complete."""
        last = {one.key: one for one in self.buckets if one.reduced is not None}
        return [one for one in last.values() if one.number < len(self.passes)]

    def _buckets(self, seconds):
        sent = [{"bytes": one.size, "ready_s": self.ready_after(seconds, one.number, one.ready),
                 "reduce_s": seconds(one.ready, one.reduced)} for one in self._last_sent()]
        if sent:
            return sorted(sent, key=lambda one: one["ready_s"])
        return self.readiness.buckets(seconds) if self.readiness else None

    def _noise(self):
        """Returns squared norms of gradients: one worker's, or one part's, and the mean's. Those
        that overflowed are left out, and so are those of several optimizers."""
        if not self.alone or not self.sampled:
            return {}
        sent = self._last_sent()
        if sent:
            local = [one.local for one in sent]
            mean = [one.mean for one in sent]
            if None in local or None in mean:
                return {}
            return finite(sum(local), sum(mean), self.scale)
        passes = self.passes
        if len(passes) > 1 and self.parts == len(passes) and passes[0].square is not None:
            return finite(passes[0].square, passes[-1].square / len(passes) ** 2, self.scale)
        return {}


def finite(local, mean, scale):
    """Returns both squared norms without the factor of a gradient scaler, or nothing."""
    local, mean = local / scale ** 2, mean / scale ** 2
    if not math.isfinite(local) or not math.isfinite(mean):
        return {}
    return {"local_square": local, "mean_square": mean}


class Readiness:
    """Times each parameter's gradient in the backward passes of one iteration."""

    def __init__(self, parameters, clock, iteration):
        self.clock = clock
        self.iteration = iteration
        self.ready = {}  # Parameter, pass and mark by id, in order.
        self.handles = [one.register_hook(self._hook(one)) for one in parameters]

    def _hook(self, parameter):
        def ready(_gradient):
            self.ready.pop(id(parameter), None)
            self.ready[id(parameter)] = (parameter, len(self.iteration.passes), self.clock.mark())
        return ready

    def remove(self):
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def buckets(self, seconds):
        """Returns the buckets that DistributedDataParallel would send, and when each is ready."""
        after = {key: self.iteration.ready_after(seconds, number, mark)
                 for key, (_, number, mark) in self.ready.items()}
        latest, result = 0.0, []
        for bucket in facts.buckets_of([parameter for parameter, _, _ in self.ready.values()]):
            latest = max(latest, *(after[id(one)] for one in bucket))
            result.append({"bytes": facts.bytes_of(bucket), "ready_s": latest})
        return result
