"""The workers that train together, until the next change of machines.

Three things stand between Gloo and workers that come and go. Gloo cannot give up a sum, and a
machine that vanishes does not reset its connections. A message that is cut off while it comes in
wakes nobody. And the end of a process group waits for its threads. So the group's connections are
watched here, shut down when one is lost or when another thread asks for it, nothing large is waited
for but in ways that this wakes, and what is left of the group ends in a thread of its own.
"""

import atexit
import datetime
import math
import os
import select
import socket
import sys
import threading
import time

import torch
import torch.distributed as dist

from stint import sockets

# For a worker that hangs. One that is gone is noticed by its connections, or the runner says so.
PEER_TIMEOUT = float(os.environ.get("STINT_PEER_TIMEOUT", 120))  # Seconds.
CONNECT_AGAIN = 0.02  # Seconds.
LOOK_AGAIN = 0.002
WATCH_AGAIN = 0.5
LAST_WAIT = 0.5  # For the threads of a group to end.
LOST = select.POLLRDHUP | select.POLLHUP | select.POLLERR



class _End:
    """How this process ends while threads of a broken group are still at work: without taking down
    under them what they use, which would crash, and without waiting for them, since the machine is
    paid for. The exit code is the script's. Registered when this file is imported, so that what
    scripts register comes first."""

    def __init__(self):
        self.remains = []  # Threads.
        self._code = 0
        self._report, self._leave = sys.excepthook, sys.exit
        sys.excepthook, sys.exit = self._failed, self._exit
        atexit.register(self._end)

    def _failed(self, *problem):
        self._code = 1
        self._report(*problem)

    def _exit(self, status=None):
        self._code = status if isinstance(status, int) else int(status is not None)
        self._leave(status)

    def _end(self):
        if not any(one.is_alive() for one in self.remains):
            return
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                pass
        os._exit(self._code)


_end = _End()


class NoGroup(RuntimeError):
    """The others were not reached, are lost, or the runner had other orders."""


class Group:
    """A Gloo process group that can be broken off."""

    def __init__(self):
        self._lock = threading.Lock()
        self._attempt = None  # None: there is no group.
        self._before = set()  # Sockets that were there before, by inode.
        self._connections = None  # The group's; None: it is still being joined.
        self._sums = {}  # Futures of sums that are under way, with their tensors.
        self._ending = []  # Threads in which groups end.
        self.lost = None  # Why the group was broken off.

    def join(self, rank, world, master, port, attempt):
        """Waits for all others. Raises NoGroup if that fails."""
        with self._lock:
            self._attempt, self._before, self._connections = attempt, set(sockets.sockets()), None
            self.lost = None
        try:
            if rank > 0:
                self._await_master(master, port)
            timeout = datetime.timedelta(seconds=PEER_TIMEOUT)
            store = dist.TCPStore(master, port, world, rank == 0, timeout=timeout,
                                  wait_for_workers=False)
            dist.init_process_group("gloo", store=store, rank=rank, world_size=world,
                                    timeout=timeout, group_name=f"attempt-{attempt}")
        except RuntimeError as problem:
            raise NoGroup(self.lost or str(problem)) from problem
        with self._lock:
            self._connections = sockets.connections_since(self._before)
            for one in self._connections:
                sockets.keep_alive(one)
            # Those of the store may come and go.
            watched = [one for one in self._connections if not sockets.uses_port(one, port)]
        threading.Thread(target=self._watch, args=(attempt, watched), daemon=True).start()
        self.check()

    def leave(self, forever=False):
        """After this there is no group; sums that are under way come to nothing. `forever`: the
        process is about to end. What is left of a broken group may take its time; see _End."""
        healthy = not self.lost
        self.break_off("the group was left")
        with self._lock:
            self._attempt = self.lost = None
            connections, self._connections = self._connections or [], None
        for one in connections:
            one.close()
        if dist.is_initialized():
            remains = [dist.group.WORLD]
            dist.destroy_process_group()
            thread = threading.Thread(target=remains.clear, daemon=True)
            thread.start()
            self._ending = [one for one in self._ending if one.is_alive()] + [thread]
            if healthy:
                thread.join(LAST_WAIT)
        deadline = time.monotonic() + LAST_WAIT
        for thread in self._ending if forever else []:
            thread.join(max(0, deadline - time.monotonic()))
        _end.remains = [one for one in self._ending if one.is_alive()] if forever else []
        # A group that was never complete leaves its number behind, and the next one's must be
        # the same on all workers.
        counter = getattr(dist.distributed_c10d, "_world", None)
        if counter is not None:
            counter.group_count = 0

    def break_off(self, reason, before=math.inf):
        """Wakes all that waits for the group of an attempt before this one. May be called by any
        thread, at any time."""
        with self._lock:
            if self._attempt is None or self._attempt >= before:
                return
            self.lost = self.lost or reason
            joined = self._connections is not None
            mine = self._connections if joined else sockets.connections_since(self._before)
            for one in mine:
                sockets.shut_down(one)
                if not joined:
                    one.close()
            sums, self._sums = self._sums, {}
        for promise, tensor in sums.items():
            promise.set_result(tensor)

    def check(self):
        """Raises NoGroup if the group is broken off: what came of sums then means nothing."""
        if self.lost:
            raise NoGroup(self.lost)

    def finish(self, work):
        """Waits for what the group does."""
        while not work.is_completed():
            self.check()
            time.sleep(LOOK_AGAIN)
        self.check()
        work.wait()

    def mean(self, _state, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        """Averages a bucket of gradients over all workers as DistributedDataParallel does without
        a hook. The caller has to check the group afterwards."""
        tensor = bucket.buffer().div_(dist.get_world_size())
        promise = torch.futures.Future()
        with self._lock:
            self._sums[promise] = tensor
            attempt = self._attempt
        dist.all_reduce(tensor, async_op=True).get_future().then(
            lambda done: self._summed(promise, done, attempt))
        if self.lost:
            self.break_off(self.lost)  # It may have been before the sum was known.
        return promise

    def _summed(self, promise, done, attempt):
        try:
            done.value()
        except RuntimeError as problem:
            self.break_off(str(problem), attempt + 1)  # This may come long after the group's end.
        with self._lock:
            tensor = self._sums.pop(promise, None)
        if tensor is not None:
            promise.set_result(tensor)

    def _watch(self, attempt, connections):
        """Breaks the group off when a connection is lost."""
        poll = select.poll()
        for one in connections:
            poll.register(one, LOST)
        while self._attempt == attempt and not self.lost:
            if poll.poll(1000 * WATCH_AGAIN):
                self.break_off("connection closed by another worker", attempt + 1)

    def _await_master(self, master, port):
        """Waits until the first worker listens. PyTorch would look once a second, and not stop."""
        deadline = time.monotonic() + PEER_TIMEOUT
        while True:
            self.check()
            try:
                socket.create_connection((master, port), timeout=1).close()
                return
            except OSError as problem:
                if time.monotonic() > deadline:
                    raise NoGroup(f"{master}:{port} is unreachable: {problem}")
            time.sleep(CONNECT_AGAIN)
