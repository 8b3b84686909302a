"""Damaged training states: each is refused with ValueError, or read without harm.

The inputs are states with bytes changed, half of them under a right checksum. `make test` tries a
few thousand by one seed; with STINT_FUZZ_SECONDS, as in `make fuzz`, others are tried for so long.
"""

import json
import os
import random
import sys
import time
import unittest
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

try:
    import torch
except ImportError:
    print("skipped: this interpreter has no torch")
    sys.exit(77)

from stint import state

INPUTS = 3000
TIME_MAX = 1.0  # Seconds for one input.
BEGIN = len(state.MAGIC) + state.FRONT.size
# What a head may hold where something else is expected.
ODD = (None, True, -1, 0, 2**63, 10**30, 1.5, "", "tensor", "int64", "load", "x" * 40, [], [[]], {},
       {"tensor": 0}, {"tensor": -1}, {"tensor": 10**9}, {"int": 0}, {"dict": [[[], 1]]},
       {"list": 3}, {"tuple": [{"array": 0}]}, {"dict": 5}, {"other": "f"}, [2**40, "x"])


def seeds():
    yield state.pack({"step": 3, "random": {"torch": torch.zeros(5, dtype=torch.uint8)}})
    yield state.pack({"step": 1, "parameters": {"w": torch.ones(2, 3), "b": torch.ones(0)},
                      "optimizer": {"state": {0: (torch.ones(1), [1.5, None, "x"])}}})
    network = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    yield state.pack(state.gather(network, optimizer, None, 7))


def with_head(data, head):
    """The bytes with another head under a right checksum."""
    length, _ = state.FRONT.unpack(data[len(state.MAGIC):BEGIN])
    front = state.MAGIC + state.FRONT.pack(len(head), zlib.crc32(head))
    return front + head + data[BEGIN + length:]


def places(value, found):
    """All containers in a JSON value with the keys to their items."""
    items = enumerate(value) if isinstance(value, list) else value.items()
    for key, one in list(items):
        found.append((value, key))
        if isinstance(one, (list, dict)):
            places(one, found)
    return found


def with_odd_head(data, chance):
    length, _ = state.FRONT.unpack(data[len(state.MAGIC):BEGIN])
    head = json.loads(data[BEGIN:BEGIN + length])
    for _ in range(chance.randint(1, 3)):
        found = places(head, [])
        if not found:
            break
        container, key = chance.choice(found)
        container[key] = json.loads(json.dumps(chance.choice(ODD)))
    text = json.dumps(head)
    if chance.random() < 0.05:
        text = "[" * chance.choice((50, 5000, 200000)) + text
    return with_head(data, text.encode())


def with_odd_bytes(data, chance):
    data = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        kind = chance.randrange(4)
        if kind == 0:
            data[at:at + 1] = bytes([chance.randrange(256)])
        elif kind == 1:
            data[at:] = data[at + chance.randint(1, 9):]
        elif kind == 2:
            data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 9)))
        else:
            del data[at:]
    return bytes(data) or b"\0"


def mutant(data, chance):
    kind = chance.randrange(3)
    if kind == 0:
        return with_odd_bytes(data, chance)
    if kind == 1:
        return with_odd_head(data, chance)
    length, _ = state.FRONT.unpack(data[len(state.MAGIC):BEGIN])
    return with_head(data, with_odd_bytes(data[BEGIN:BEGIN + length], chance))


class StateFuzz(unittest.TestCase):
    def read(self, data):
        begin = time.monotonic()
        try:
            state.unpack(torch.frombuffer(bytearray(data), dtype=torch.uint8))
        except ValueError as error:
            self.assertTrue(str(error))
        except Exception as error:
            self.fail(f"{type(error).__name__}: {error} for {data!r}")
        self.assertLess(time.monotonic() - begin, TIME_MAX, data)

    def test_damaged_states_are_refused_or_read(self):
        seconds = float(os.environ.get("STINT_FUZZ_SECONDS", 0))
        seed = int.from_bytes(os.urandom(4), "little") if seconds else 1
        print(f"seed {seed}")
        chance = random.Random(seed)
        originals = [one.numpy().tobytes() for one in seeds()]
        end, count = time.monotonic() + seconds, 0
        while count < INPUTS or time.monotonic() < end:
            self.read(mutant(chance.choice(originals), chance))
            count += 1
        print(f"{count} inputs tried")

    def test_a_size_that_is_a_text_takes_no_memory(self):
        head = json.dumps([{"dict": []}, [["float32", [2**40, "x"]]]]).encode()
        with self.assertRaises(ValueError):
            state.unpack(torch.frombuffer(bytearray(
                state.MAGIC + state.FRONT.pack(len(head), zlib.crc32(head)) + head),
                dtype=torch.uint8))


if __name__ == "__main__":
    unittest.main()
