"""Lets jobs that share accelerators take turns: one computes while another synchronises.

A plain DistributedDataParallel script needs no change when it is started with these variables (and
with stint_site in PYTHONPATH, as `stint` does):

STINT_TURNSTILE       The file of the accelerator's turnstile; {local_rank} in it is replaced, and so is
                      {vm}, on the emulated cloud, whose VMs see the same files. Without it nothing
                      here does anything.
STINT_TURNS           How turns are taken:
                        whole   From before forward until the last gradient is ready. Gradients are
                                reduced after that, all together, while the other job computes.
                        bucket  The same turn, but buckets of gradients are reduced during backward,
                                as DistributedDataParallel does.
                        free    No coordination: a job that computes offers the turn every 2 ms,
                                as shared devices do. For comparison.
STINT_TURNS_JOB       The job's name at the turnstile.
STINT_TURNS_ORDER     The job's place in the plan, the same on all accelerators (0).
STINT_TURNS_SHARE     The job's turns in each round (1).
STINT_TURNS_PATIENCE  How long others wait for the job when the plan has it before them ("3 ms").
STINT_TURNS_LIMIT     Longest wait of the job for a turn before it fails ("10 min").
STINT_TURNS_UPDATE    "held": the turn is taken as soon as gradients are reduced, and kept for the
                      update and all that follows. Else the update needs no turn.
STINT_TURNS_LOG       A file to which a JSON line is added for each turn.

A job that shares gradients in another way, such as one of Horovod's, takes turns itself:

    from stint import turns
    for inputs, labels in loader:
        turns.take()
        criterion(model(inputs), labels).backward()
        turns.give()         # Gradients are sent while another job computes.
        optimizer.step()     # Waits for them.

Not one number that a job computes depends on any of this. A turn is never held while a job waits for
other machines: two jobs that hold it on one machine each would wait for each other for ever.
On CUDA the turn is given when the stream has done its work; that was not yet run on a GPU.
"""

import atexit
import contextlib
import json
import os
import sys
import time
import weakref

from stint.pace import quantity
from stint.turnstile import TurnError, Turnstile

QUANTUM = 0.002  # Seconds after which the turn is offered when jobs share freely.
MODES = ("whole", "bucket", "free")


class Turns:
    """The turns of this process. `now` is a clock that is stopped while the job waits to compute:
    work that is paced by it takes its time while the turn is held."""

    def __init__(self, turnstile, mode="whole", limit=600.0, update_held=False, log=None):
        self.mode = mode
        self.update_held = update_held
        self.held = False
        self.away = 0.0  # Seconds that the job has waited for turns.
        self.models = weakref.WeakSet()  # The networks that take turns,
        self.pending = set()  # and those of them, by id, whose gradients are not ready yet.
        self._turnstile = turnstile
        self._limit = limit
        self._log = log
        self._begin = 0.0

    def take(self):
        """Waits for the turn, unless it is held."""
        if not self.held:
            begin = time.monotonic()
            self._turnstile.take(self._limit)
            self.held = True
            self._begin = time.monotonic()
            self.away += self._begin - begin

    def give(self):
        """Gives up the turn, if it is held."""
        if self.held:
            self.held = False
            end = time.monotonic()  # Before the start of another one's.
            self._turnstile.give()
            self._write(end)

    def offer(self):
        """Offers the turn if jobs share freely and the quantum is over."""
        if self.held and self.mode == "free":
            begin = time.monotonic()
            self._turnstile.offer(QUANTUM, self._limit)
            end = time.monotonic()
            self.away += end - begin
            # It is a new turn if another job had one in between.
            if end - begin > QUANTUM / 2:
                self._write(begin)
                self._begin = end

    def now(self):
        """The clock of computing."""
        return time.monotonic() - self.away

    def sleep(self, seconds):
        """Sleeps for this long by that clock, in place of computing."""
        end = self.now() + seconds
        while self.held and self.mode == "free" and end - self.now() > QUANTUM:
            time.sleep(QUANTUM)
            self.offer()
        time.sleep(max(0.0, end - self.now()))

    def move(self, turnstile, mode):
        """Moves to another turnstile, without the turn."""
        self.leave()
        self._turnstile = turnstile
        self.mode = mode

    def leave(self):
        """Ends the use of turns."""
        if self.held:
            self._write(time.monotonic())
        self.held = False
        self._turnstile.leave()

    def _write(self, end):
        if self._log:
            line = {"turn": {"begin_s": round(self._begin, 6), "end_s": round(end, 6)}}
            print(json.dumps(line), file=self._log, flush=True)


_current = None  # The turns of this process, once the variables were read; False: there are none.


def from_environment(environment):
    """The turns that the variables request; None where they request none."""
    path = environment.get("STINT_TURNSTILE")
    if not path:
        return None
    mode = environment.get("STINT_TURNS", "whole")
    if mode not in MODES:
        raise TurnError(f"STINT_TURNS must be one of {', '.join(MODES)}, not '{mode}'")
    # In free sharing no job waits for another.
    usual = "0 ms" if mode == "free" else "3 ms"
    path = path.replace("{local_rank}", environment.get("LOCAL_RANK", "0"))
    turnstile = Turnstile(path.replace("{vm}", environment.get("STINT_VM", "vm")),
                          environment.get("STINT_TURNS_JOB", "job"),
                          int(environment.get("STINT_TURNS_ORDER", 0)),
                          int(environment.get("STINT_TURNS_SHARE", 1)),
                          quantity(environment.get("STINT_TURNS_PATIENCE", usual)), environment)
    log = environment.get("STINT_TURNS_LOG")
    return Turns(turnstile, mode, quantity(environment.get("STINT_TURNS_LIMIT", "10 min")),
                 environment.get("STINT_TURNS_UPDATE") == "held",
                 open(log, "a", encoding="utf-8") if log else None)


def current():
    """The turns of this process; None where it takes none."""
    global _current
    if _current is None:
        _current = from_environment(os.environ) or False
        if _current:
            atexit.register(_current.leave)
    return _current or None


def take():
    """Waits until this process may compute."""
    turns = current()
    if turns:
        turns.take()


def give():
    """Gives up the turn: this process no longer computes."""
    turns = current()
    if turns and turns.held:
        settle()
        turns.give()


def abandon():
    """Discards unfinished work, such as a step that a lost machine interrupted."""
    turns = current()
    if turns:
        turns.pending.clear()
        give()


@contextlib.contextmanager
def computing():
    """A turn for work without other machines, unless one is held already."""
    turns = current()
    within = not turns or turns.held
    take()
    try:
        yield
    finally:
        if not within:
            give()


def clock():
    """The functions of paced computing: a clock, a sleep, and the time spent waiting for turns."""
    turns = current()
    if turns:
        return turns.now, turns.sleep, lambda: turns.away
    return time.monotonic, time.sleep, lambda: 0.0


def settle():
    """Waits until the device has finished its queued work. Not yet run on a GPU."""
    torch = sys.modules.get("torch")
    if torch and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.current_stream().synchronize()
