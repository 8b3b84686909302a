"""The turnstile of an accelerator, as src/turnstile/turnstile.h describes it."""

import ctypes
import os
import shutil
import time
from pathlib import Path

OK, TIMED_OUT, NOT_HOLDER, NOT_MEMBER, REFUSED, FULL, WAITING = range(7)
STATES = ("absent", "idle", "waiting", "holding")
MEMBERS_MAX = 64
NAME_SIZE = 48
REASON_SIZE = 512
LOOK_UP = 0.1  # Seconds after which Python may handle signals while a job waits.
LIBRARY = "libstint_turnstile.so"


class TurnError(RuntimeError):
    """A turnstile does not work as requested."""


class TurnTimeout(TurnError):
    """The turn was not given within its limit."""


class Options(ctypes.Structure):
    """StintTurnOptions."""
    _fields_ = [("name", ctypes.c_char_p), ("order", ctypes.c_uint32), ("share", ctypes.c_uint32),
                ("patience_ns", ctypes.c_int64)]


class Figures(ctypes.Structure):
    """StintTurnFigures."""
    _fields_ = [("name", ctypes.c_char * NAME_SIZE), ("process", ctypes.c_int32),
                ("state", ctypes.c_uint32), ("order", ctypes.c_uint32), ("share", ctypes.c_uint32),
                ("since_ns", ctypes.c_int64), ("turns", ctypes.c_uint64),
                ("held_ns", ctypes.c_int64), ("waited_ns", ctypes.c_int64)]


class Status(ctypes.Structure):
    """StintTurnStatus."""
    _fields_ = [("version", ctypes.c_uint32), ("count", ctypes.c_uint32),
                ("turns", ctypes.c_uint64), ("turns_forgotten", ctypes.c_uint64),
                ("rounds", ctypes.c_uint64), ("deaths", ctypes.c_uint64),
                ("members", Figures * MEMBERS_MAX)]


def library_places(environment=os.environ):
    """The candidate paths of the library: STINT_TURNSTILE_LIBRARY; else this package, or the folder
    of the program stint, or the lib beside its bin."""
    named = environment.get("STINT_TURNSTILE_LIBRARY")
    if named:
        return [Path(named)]
    places = [Path(__file__).resolve().parent / LIBRARY]
    program = shutil.which("stint", path=environment.get("PATH"))
    if program:
        folder = Path(program).resolve().parent
        places += [folder / LIBRARY, folder.parent / "lib" / LIBRARY]
    return places


def load_library(environment=os.environ):
    """The library, with the types of its functions."""
    places = library_places(environment)
    for place in places:
        if place.exists():
            break
    else:
        raise TurnError(f"{LIBRARY} is missing ({', '.join(map(str, places))}): set "
                        "STINT_TURNSTILE_LIBRARY to its path")
    library = ctypes.CDLL(str(place))
    member, limit = ctypes.c_void_p, ctypes.c_int64
    reason = [ctypes.c_char_p, ctypes.c_size_t]
    library.stint_turn_join.argtypes = [ctypes.c_char_p, ctypes.POINTER(Options),
                                        ctypes.POINTER(member), *reason]
    library.stint_turn_status.argtypes = [ctypes.c_char_p, ctypes.POINTER(Status), *reason]
    library.stint_turn_offer.argtypes = [member, limit, limit]
    for name in ("take", "wait"):
        getattr(library, f"stint_turn_{name}").argtypes = [member, limit]
    for name in ("leave", "give", "ask", "withdraw"):
        getattr(library, f"stint_turn_{name}").argtypes = [member]
    return library


def nanoseconds(seconds):
    """Converts seconds to the library's unit."""
    return int(seconds * 1e9)


class Turnstile:
    """This process's seat at the turnstile whose file is `path`. Limits are in seconds."""

    def __init__(self, path, name, order=0, share=1, patience=0.0, environment=os.environ):
        self.path = os.fspath(path)
        self._library = load_library(environment)
        self._member = ctypes.c_void_p()
        options = Options(name.encode(), order, share, nanoseconds(patience))
        reason = ctypes.create_string_buffer(REASON_SIZE)
        if self._library.stint_turn_join(self.path.encode(), ctypes.byref(options),
                                         ctypes.byref(self._member), reason, REASON_SIZE) != OK:
            raise TurnError(reason.value.decode(errors="replace"))

    def take(self, limit):
        """Waits for the turn; returns at once where it is held."""
        self._finish(self._library.stint_turn_ask(self._member), limit)

    def give(self):
        """Gives the turn to the next member."""
        code = self._library.stint_turn_give(self._member)
        if code != OK:
            raise TurnError(f"{self.path}: only the holder can release the turn")

    def offer(self, quantum, limit):
        """Offers the turn if it was held for `quantum` and another member waits."""
        code = self._library.stint_turn_offer(self._member, nanoseconds(quantum),
                                              nanoseconds(LOOK_UP))
        if code == TIMED_OUT:
            code = self._library.stint_turn_ask(self._member)  # At the end of the queue.
        self._finish(code, limit)

    def leave(self):
        """Gives the turn, if it is held, and leaves; a second call does nothing."""
        if self._member:
            self._library.stint_turn_leave(self._member)
            self._member = ctypes.c_void_p()

    def _finish(self, code, limit):
        deadline = time.monotonic() + limit
        while code == WAITING:
            left = deadline - time.monotonic()
            if left <= 0:
                code = self._library.stint_turn_withdraw(self._member)
                break
            code = self._library.stint_turn_wait(self._member, nanoseconds(min(left, LOOK_UP)))
        if code == TIMED_OUT:
            raise TurnTimeout(f"{self.path}: no turn within {limit:g} s; "
                              f"{self._holder()}")
        if code != OK:
            raise TurnError(f"{self.path}: this process is not a member")

    def _holder(self):
        """The holder, in words."""
        for one in status(self.path, self._library)["members"]:
            if one["state"] == "holding":
                return (f"{one['name']} (process {one['process']}) has held it for "
                        f"{one['since_s']:.1f} s")
        return "nobody holds it now"


def status(path, library=None):
    """The state of a turnstile: its holder, the waiting members, and their figures."""
    found = Status()
    reason = ctypes.create_string_buffer(REASON_SIZE)
    if (library or load_library()).stint_turn_status(os.fspath(path).encode(), ctypes.byref(found),
                                                     reason, REASON_SIZE) != OK:
        raise TurnError(reason.value.decode(errors="replace"))
    members = [{"name": one.name.decode(errors="replace"), "process": one.process,
                "state": STATES[one.state], "order": one.order, "share": one.share,
                "since_s": one.since_ns / 1e9, "turns": one.turns, "held_s": one.held_ns / 1e9,
                "waited_s": one.waited_ns / 1e9} for one in found.members[:found.count]]
    return {"turns": found.turns, "turns_forgotten": found.turns_forgotten, "rounds": found.rounds,
            "deaths": found.deaths, "members": members}
