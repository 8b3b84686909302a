"""Saves the state while training continues.

As in DeepCheck: a thread copies the state to a buffer and then sends it. Parameters do not change
between two steps of the optimizer, so that training waits only when the copy is not done before the
next one. Values that a forward pass changes, such as the averages of BatchNorm, are copied at once.
A worker copies no more than the shard it saves.
"""

import threading
import time

import torch

from stint import state as states
from stint.crash import crash_at

AT_ONCE = 2  # Checkpoints, and so buffers: one may still be sent while the next is copied.
COPY_PART = 16 << 20  # Bytes copied at once.


class Save:
    """One shard in transfer."""

    def __init__(self, place, number, count, facts):
        self.place = place
        self.number = number
        self.count = count
        self.facts = facts  # The attempt and the step.
        self.copied = threading.Event()
        self.stalled = 0.0  # Seconds that training waited.


class Saver:
    """Up to two checkpoints at a time; `tell` is called with the result of each."""

    def __init__(self, tell):
        self._tell = tell
        self._lock = threading.Lock()
        self._buffers = [torch.empty(0, dtype=torch.uint8) for _ in range(AT_ONCE)]
        self._saves = []
        self._threads = []

    def begin(self, state, save):
        """Starts to save a shard of `state`. It never waits for another checkpoint."""
        start = time.monotonic()
        with self._lock:
            buffer = self._buffers.pop() if self._buffers else None
        if buffer is None:
            self._tell("save_failed", **save.facts, reason="the saves before are still being sent")
            return
        layout = states.Layout(state)
        begin, end = states.shard_range(layout.size, save.number, save.count)
        if len(buffer) < end - begin:
            buffer = torch.empty(end - begin, dtype=torch.uint8)
        if begin < layout.volatile:
            layout.copy(begin, min(end, layout.volatile), buffer)
        self._saves.append(save)
        thread = threading.Thread(target=self._work, args=(save, layout, buffer), daemon=True)
        self._threads = [one for one in self._threads if one.is_alive()] + [thread]
        thread.start()
        save.stalled += time.monotonic() - start

    def before_update(self):
        """Waits until nothing is being copied: the parameters are about to change."""
        for save in self._saves:
            start = time.monotonic()
            save.copied.wait()
            save.stalled += time.monotonic() - start
        self._saves = []

    def wait(self, seconds):
        """Waits until nothing is being saved, but no longer than this."""
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self, save, layout, buffer):
        start = time.monotonic()
        begin, end = states.shard_range(layout.size, save.number, save.count)
        shard = buffer[:end - begin]
        try:
            self._copy(layout, begin, end, shard)
            copied = time.monotonic()
            save.copied.set()
            checksum = states.checksum(shard)
            save.place.put(save.facts["step"], save.number, save.count, shard, checksum)
            crash_at("kept")
        except Exception as problem:  # Any error: training continues, and the runner is told.
            save.copied.set()
            self._tell("save_failed", **save.facts, reason=str(problem) or repr(problem))
        else:
            self._tell("saved", **save.facts, shard=save.number, of=save.count, bytes=len(shard),
                       whole=layout.size, checksum=checksum, layout=layout.checksum,
                       stall_s=save.stalled, copy_s=copied - start,
                       transfer_s=time.monotonic() - copied)
        finally:
            with self._lock:
                self._buffers.append(buffer)

    @staticmethod
    def _copy(layout, begin, end, shard):
        at = max(begin, layout.volatile)
        while at < end:
            until = min(end, at + COPY_PART)
            layout.copy(at, until, shard[at - begin:])
            at = until
            crash_at("copy")
