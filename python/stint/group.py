"""The workers that train together, until the next change of machines.

Three properties of Gloo matter when machines are launched and lost. Gloo cannot cancel an
all-reduce, and a lost machine does not reset its connections. A message that is cut off during
reception wakes no thread. And the end of a process group waits for its threads. So this module
watches the group's connections, shuts them down when one is lost or when another thread asks for
it, makes long waits only in ways that this wakes, and ends the remains of the group in a separate
thread.
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

# For a worker that hangs. A lost worker is detected by its connections, or reported by the runner.
PEER_TIMEOUT = float(os.environ.get("STINT_PEER_TIMEOUT", 120))  # Seconds.
CONNECT_AGAIN = 0.02  # Seconds.
LOOK_AGAIN = 0.002
WATCH_AGAIN = 0.5
LAST_WAIT = 0.5  # For the threads of a group to end.
LOST = select.POLLRDHUP | select.POLLHUP | select.POLLERR



class _End:
    """Ends this process while threads of a broken group still run: without destroying objects that
    they use, which would crash, and without waiting for them, since the machine is paid for. The
    exit code is the script's. Registered when this file is imported, so that handlers of scripts
    run first."""

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
    """A Gloo process group that can be aborted."""

    def __init__(self):
        self._lock = threading.Lock()
        self._attempt = None  # None: there is no group.
        self._before = set()  # Sockets that existed before, by inode.
        self._connections = None  # The group's; None: it is still being joined.
        self._sums = {}  # Futures of all-reduces in progress, with their tensors.
        self._ending = []  # Threads in which groups end.
        self.lost = None  # Reason why the group was aborted.

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
            # Connections of the store may open and close.
            watched = [one for one in self._connections if not sockets.uses_port(one, port)]
        threading.Thread(target=self._watch, args=(attempt, watched), daemon=True).start()
        self.check()

    def leave(self, forever=False):
        """Leaves the group; all-reduces in progress fail. `forever`: the process is about to end.
        The remains of a broken group may need time; see _End."""
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
        # A group that was never complete keeps its number, and the number of the next one must be
        # the same on all workers.
        counter = getattr(dist.distributed_c10d, "_world", None)
        if counter is not None:
            counter.group_count = 0

    def break_off(self, reason, before=math.inf):
        """Wakes all threads that wait for the group of an attempt before this one. May be called by
        any thread, at any time."""
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
        """Raises NoGroup if the group is aborted: the results of all-reduces are then undefined."""
        if self.lost:
            raise NoGroup(self.lost)

    def finish(self, work):
        """Waits for an operation of the group."""
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
            # The group may have been aborted before the all-reduce was registered.
            self.break_off(self.lost)
        return promise

    def _summed(self, promise, done, attempt):
        try:
            done.value()
        except RuntimeError as problem:
            self.break_off(str(problem), attempt + 1)  # This may run long after the group's end.
        with self._lock:
            tensor = self._sums.pop(promise, None)
        if tensor is not None:
            promise.set_result(tensor)

    def _watch(self, attempt, connections):
        """Aborts the group when a connection is lost."""
        poll = select.poll()
        for one in connections:
            poll.register(one, LOST)
        while self._attempt == attempt and not self.lost:
            if poll.poll(1000 * WATCH_AGAIN):
                self.break_off("connection closed by another worker", attempt + 1)

    def _await_master(self, master, port):
        """Waits until the first worker listens. PyTorch would try once a second, and could not be
        stopped."""
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
