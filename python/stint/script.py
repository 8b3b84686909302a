"""Supervises an ordinary training script under `stint run`; the script needs no change.

The hook counts optimizer steps and reports them to the runner, notes the checkpoints that the script
writes with torch.save and the files that it opens for writing, and reports the exception that ends
it. A script that uses stint.Job speaks for itself: the hook then only notes files and exceptions.

Steps go on counting where a restarted script goes on training: the step of each checkpoint is kept
in a file of the run, and a script that loads the checkpoint before its first step continues from it.
"""

import atexit
import json
import os
import socket
import stat
import sys
import threading
import time
import traceback

REPORT_EVERY = 0.2  # Seconds between two reports of steps.
FLUSH_EVERY = 1.0  # And until steps are reported that no other follows.
TRACEBACK_LINES = 12
FILES_MAX = 200  # Files that are noted of a script.
PENDING_MAX = 1 << 16  # Bytes of reports that wait for a runner that does not read.


def channel_from(variables):
    """The socket to the runner; None where there is none, or its number means another file."""
    try:
        number = int(variables.get("STINT_CONTROL", ""))
        if not stat.S_ISSOCK(os.fstat(number).st_mode):
            return None
        # A duplicate, so that stint.Job can take the other one.
        return socket.fromfd(number, socket.AF_UNIX, socket.SOCK_STREAM)
    except (ValueError, OSError):
        return None


class Channel:
    """Sends lines to the runner without ever waiting for it."""

    def __init__(self, connection):
        self._connection = connection
        self._pending = b""
        self._process = os.getpid()
        self._lock = threading.Lock()

    def tell(self, kind, **facts):
        if os.getpid() != self._process:
            return  # A child of the script, which trains nothing.
        line = (json.dumps({kind: facts}) + "\n").encode()
        with self._lock:
            if len(self._pending) + len(line) <= PENDING_MAX:
                self._pending += line
            try:
                sent = self._connection.send(self._pending, socket.MSG_DONTWAIT)
            except OSError:
                return  # It does not read now, or is gone; whoever started the script ends it.
            self._pending = self._pending[sent:]


class Notes:
    """What outlives a script: its checkpoints with their steps, and the files that it wrote.

    One JSON line each, in a file of the run that all workers append to.
    """

    def __init__(self, path):
        self._path = path
        self._files = set()
        self._process = os.getpid()

    def _append(self, note):
        if not self._path or os.getpid() != self._process:
            return
        try:
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, (json.dumps(note) + "\n").encode())
            finally:
                os.close(file)
        except OSError:
            pass  # What is not noted is not continued; training goes on.

    def checkpoint(self, path, step):
        """A checkpoint of this step was written. Its inode is the same when it is renamed."""
        found = os.stat(path)
        self._append({"checkpoint": {"path": os.path.abspath(path), "device": found.st_dev,
                                     "inode": found.st_ino, "step": step}})

    def step_of(self, path):
        """The step of a checkpoint that this run wrote; None of any other file."""
        try:
            found = os.stat(path)
            with open(self._path, encoding="utf-8") as lines:
                notes = [json.loads(line).get("checkpoint") for line in lines]
        except (OSError, ValueError, TypeError):
            return None
        steps = [one["step"] for one in notes
                 if one and (one["device"], one["inode"]) == (found.st_dev, found.st_ino)]
        return steps[-1] if steps else None

    def wrote(self, path):
        """The script opened a file for writing."""
        path = os.path.abspath(path)
        if path in self._files or len(self._files) >= FILES_MAX or not is_result(path):
            return
        self._files.add(path)
        self._append({"wrote": path})

    def renamed(self, before, after):
        if os.path.abspath(before) in self._files:
            self.wrote(after)


def is_result(path):
    """Whether a path may hold what a script is run for."""
    parts = path.split(os.sep)
    if path.startswith(("/dev/", "/proc/", "/sys/")) or "__pycache__" in parts:
        return False
    return not any(one in (".cache", ".config", "site-packages", "dist-packages") for one in parts)


class Script:
    """One process of the script."""

    def __init__(self, variables, channel):
        self.attempt = int(variables.get("STINT_ATTEMPT", 0))
        self.channel = channel
        self.notes = Notes(variables.get("STINT_SCRIPT_NOTES", ""))
        self.counter = None
        self.base = 0  # Steps of the checkpoint that was loaded.
        self.reported = 0
        self.last = None  # When the latest step was done,
        self.told_at = 0.0  # and reported.
        self.pace = None  # Seconds that a step takes at least.
        self.lock = threading.Lock()  # Of reports, which two threads make.
        self.plain = None  # Whether stint.Job is not in use; unknown before the first step.

    # Events of optimizers; see steps.py.

    def created(self, optimizer):
        self.counter.created(optimizer)

    def inner(self, optimizer):
        self.counter.inner(optimizer)

    def step_begin(self):
        return None

    def step_end(self, optimizer, _begun):
        self.skipped(optimizer)

    def skipped(self, optimizer):
        if self.plain is None:
            self.plain = "STINT_CONTROL" in os.environ  # Which stint.Job takes.
        if not self.plain or not self.counter.stepped(optimizer):
            return
        now = time.monotonic()
        if self.pace and self.last is not None:
            time.sleep(max(0.0, self.last + self.pace - now))
            now = time.monotonic()
        if self.last is None:
            self.last = self.told_at = now
            self.report(now)
            threading.Thread(target=self.flush, daemon=True).start()
        elif now - self.told_at >= REPORT_EVERY:
            self.report(now)
        self.last = now

    def flush(self):
        """Reports the last steps of a script that makes no more for a while."""
        while True:
            time.sleep(FLUSH_EVERY)
            if time.monotonic() - self.told_at >= FLUSH_EVERY:
                self.report(self.last)

    def report(self, now):
        """Tells the steps of this process, and how long one takes."""
        with self.lock:
            steps = self.counter.passes
            if self.plain is not True or steps == self.reported:
                return
            facts = {"attempt": self.attempt, "steps": steps, "base": self.base}
            if self.reported and now > self.told_at:  # The first step has no beginning.
                facts["time_s"] = (now - self.told_at) / (steps - self.reported)
            self.channel.tell("counted", **facts)
            self.reported, self.told_at = steps, now

    # Files.

    def saved(self, target):
        path = path_of(target)
        if path is None:
            return
        self.notes.wrote(path)
        if not self.counter or not self.counter.passes or self.plain is not True:
            return  # Before any step there is nothing to continue from.
        try:
            self.notes.checkpoint(path, self.base + self.counter.passes)
        except OSError:
            return
        self.report(time.monotonic())
        self.channel.tell("wrote_checkpoint", attempt=self.attempt, path=os.path.abspath(path),
                          step=self.base + self.counter.passes)

    def loaded(self, source):
        """A checkpoint that is loaded later, such as the best one, is not trained on from."""
        if self.counter.passes:
            return
        path = path_of(source)
        step = self.notes.step_of(path) if path is not None else None
        self.base = max(self.base, step or 0)

    # The end.

    def failed(self, kind, problem, trace):
        text = "".join(traceback.format_exception(kind, problem, trace)).rstrip()
        lines = text.split("\n")[-TRACEBACK_LINES:]
        # The runner compares the times of workers, all on this computer; nobody sets this clock.
        now = time.clock_gettime(time.CLOCK_BOOTTIME)
        self.channel.tell("failed", attempt=self.attempt, time=now,
                          text="\n".join(line[:300] for line in lines))

    def end(self):
        if self.counter and self.last is not None:
            self.report(self.last)


def path_of(target):
    """The path of what torch.save and torch.load take; None of what is no file."""
    if hasattr(target, "read") or hasattr(target, "write"):
        target = getattr(target, "name", None)
    return os.fspath(target) if isinstance(target, (str, os.PathLike)) else None


script = None  # The only one of this process.


def begin():
    """What needs no torch: files and exceptions. Called when Python starts."""
    global script
    connection = channel_from(os.environ)
    if connection is None or script is not None:
        return
    script = Script(os.environ, Channel(connection))
    shown = sys.excepthook

    def report(kind, problem, trace):
        if not issubclass(kind, KeyboardInterrupt):
            script.failed(kind, problem, trace)
        shown(kind, problem, trace)

    sys.excepthook = report
    sys.addaudithook(audit)
    atexit.register(script.end)


def audit(event, arguments):
    """Hears of files that are opened for writing; must never raise."""
    try:
        if event == "open":
            path, mode = arguments[0], arguments[1]
            if isinstance(path, str) and isinstance(mode, str) and set(mode) & set("wax+"):
                script.notes.wrote(path)
        elif event == "os.rename":
            script.notes.renamed(os.fspath(arguments[0]), os.fspath(arguments[1]))
    except Exception:  # An audit hook that raises breaks the script.
        pass


def install():
    """What needs torch: steps and checkpoints. Called when the script has imported it."""
    if script is None or script.counter is not None:
        return
    import torch
    from stint import steps

    script.counter = steps.StepCounter()
    script.pace = pace_from(os.environ)
    steps.watch_optimizers(script)
    save, load = torch.save, torch.load

    def noting_save(obj, f, *arguments, **keywords):
        result = save(obj, f, *arguments, **keywords)
        script.saved(f)
        return result

    def noting_load(f, *arguments, **keywords):
        result = load(f, *arguments, **keywords)
        script.loaded(f)
        return result

    torch.save, torch.load = noting_save, noting_load


def pace_from(variables):
    """The seconds of compute that the profile has for this worker's share of a step, if the run is
    paced."""
    path = variables.get("STINT_PACE")
    if not path:
        return None
    from stint.pace import Paces
    paces = Paces(path, variables.get("STINT_PACE_DEVICE") or None,
                  float(variables.get("STINT_PACE_SPEED", 1)))
    return paces.at(int(variables.get("STINT_BATCH_SIZE", 1))).compute()
