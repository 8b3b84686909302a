"""Trains the split examples in many layouts on this computer's loopback, and compares them with one
worker. Skips without torch."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from ports import free_port

try:
    import torch
except ImportError:
    print("skipped: this interpreter has no torch")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..")
sys.path.insert(0, ROOT)
from stint import shards  # noqa: E402

SMALL = ["--batch", "12", "--layers", "4", "--width", "16", "--heads", "4", "--length", "8"]
STEPS = 6
# In double precision a sum in another order differs by 1e-16, which Adam enlarges where a gradient
# is near zero. A step that is lost, or a gradient that is counted twice, changes 1e-3.
TOLERANCE = dict(rtol=1e-8, atol=1e-9)


class Trained:
    """Trainings of this test run, each done once."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()

    def place(self, name):
        """A folder for a case."""
        return os.path.join(self._folder.name, name.replace(" ", "_").replace(":", "_"))

    def run(self, workers, cases, per_vm=1):
        """Trains cases one after the other with so many workers."""
        for case in cases:
            case.setdefault("steps", STEPS)
            case.setdefault("folder", self.place(case["layout"]))
        port = free_port()
        processes = []
        for rank in range(workers):
            environment = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(workers),
                               LOCAL_RANK=str(rank % per_vm), LOCAL_WORLD_SIZE=str(per_vm),
                               MASTER_ADDR="127.0.0.1", MASTER_PORT=port, GLOO_SOCKET_IFNAME="lo",
                               OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
            processes.append(subprocess.Popen(
                [sys.executable, os.path.join(HERE, "layout_worker.py"), json.dumps(cases), *SMALL],
                env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        said = [process.communicate(timeout=900) for process in processes]
        for process, (out, err) in zip(processes, said):
            assert process.returncode == 0, out + err
        return cases

    def state(self, folder):
        """The whole state of a training, by parameter and kind."""
        return shards.read_whole(shards.newest(folder))


trained = Trained()


class Comparing(unittest.TestCase):
    """What tests compare with."""

    @classmethod
    def setUpClass(cls):
        folder = trained.place("dp1")
        if not os.path.exists(folder):
            trained.run(1, [{"layout": "dp1", "folder": folder}])
        cls.reference = trained.state(folder)

    def expect_equal(self, name, state, other, exactly=False):
        """Fails unless two trainings have the same state, but for the order of sums."""
        self.assertEqual(state.keys(), other.keys())
        for key, kinds in state.items():
            self.assertEqual(kinds.keys(), other[key].keys())
            for kind, value in kinds.items():
                same = (torch.equal(value, other[key][kind]) if exactly
                        else torch.allclose(value, other[key][kind], **TOLERANCE))
                far = (value - other[key][kind]).abs().max().item()
                self.assertTrue(same, f"{name}: {kind} of {key} differs by up to {far:.2g}")


class Layouts(Comparing):
    """Names are sentences."""

    def expect_as_one(self, workers, layouts, per_vm=1):
        """Trains in these layouts and compares each with one worker."""
        for case in trained.run(workers, [{"layout": text} for text in layouts], per_vm):
            self.expect_equal(case["layout"], trained.state(case["folder"]), self.reference)

    def test_two_workers_train_as_one(self):
        self.expect_as_one(2, ["tp2", "pp2 mb3", "dp2 zero3 mb2"])

    def test_tensor_and_pipeline_parallel_workers_train_as_one(self):
        self.expect_as_one(4, ["tp4", "pp4 mb1", "tp2 pp2 mb2", "dp2 tp2 mb3", "dp2 pp2 mb2",
                               "tp2 pp2 sp mb4", "tp2 pp2 mb4 recompute:full",
                               "dp2 tp2 mb6 sp recompute:selective"])

    def test_sharded_workers_train_as_one(self):
        self.expect_as_one(4, ["dp4 zero1 mb1", "dp4 zero2 mb1", "dp4 zero3 mb1",
                               "dp2 tp2 zero3 mb3", "dp2 pp2 zero3 mb2", "dp2 pp2 zero2 mb3",
                               "dp2 tp2 sp zero1 mb2", "dp4 zero3 recompute:full"])
        self.expect_as_one(3, ["dp3", "dp3 zero3 mb2"])

    def test_shards_within_vms_train_as_one(self):
        self.expect_as_one(4, ["dp4 zero1 hsdp", "dp4 zero2 hsdp mb1", "dp4 zero3 hsdp mb3"],
                           per_vm=2)

    def test_samples_that_do_not_divide_train_as_one(self):
        words = ["--batch", "10"]
        trained.run(1, [{"layout": "dp1", "folder": trained.place("ten"), "words": words}])
        reference = trained.state(trained.place("ten"))
        for case in trained.run(4, [{"layout": text, "folder": trained.place(text + " of ten"),
                                     "words": words}
                                    for text in ("dp4 zero3 mb1", "dp4 zero2 mb2", "dp4",
                                                 "dp2 tp2 mb2", "dp2 pp2 mb2", "pp4 mb3")]):
            self.expect_equal(case["layout"], trained.state(case["folder"]), reference)

    def test_zero_stages_agree_bit_for_bit(self):
        texts = ["dp3 mb4", "dp3 zero1 mb4", "dp3 zero2 mb4", "dp3 zero3 mb4"]
        states = [trained.state(case["folder"])
                  for case in trained.run(3, [{"layout": text} for text in texts])]
        for text, state in zip(texts[1:], states[1:]):
            self.expect_equal(text, state, states[0], exactly=True)

    def test_ordinary_modules_are_sharded_as_one_worker_trains(self):
        trained.run(1, [{"layout": "dp1 ", "example": "sharded", "folder": trained.place("one")}])
        reference = trained.state(trained.place("one"))
        for case in trained.run(2, [{"layout": text, "example": "sharded",
                                     "folder": trained.place("ordinary " + text)}
                                    for text in ("dp2 zero1", "dp2 zero2 mb2", "dp2 zero3 mb3")]):
            self.expect_equal(case["layout"], trained.state(case["folder"]), reference)


class Checkpoints(Comparing):
    """Names are sentences."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.source = trained.place("source")
        trained.run(4, [{"layout": "dp4 zero3", "steps": 3, "folder": cls.source},
                        {"layout": "tp2 pp2 mb2", "steps": 3, "folder": cls.source + "-split"}])

    def expect_moved(self, source, workers, texts):
        """Reads a checkpoint in other layouts and saves it again: it stays the same bit for bit.
        Trained on from there, the end is that of one worker."""
        written = trained.state(source)
        moves = []
        for text in texts:
            name = f"{os.path.basename(source)} to {text}"
            moves.append({"layout": text, "steps": 3, "from": source,
                          "folder": trained.place(name), "again": trained.place(name + " again")})
            moves.append({"layout": text, "from": source, "folder": trained.place(name + " on")})
        for case in trained.run(workers, moves):
            if case.get("again"):
                self.expect_equal(case["layout"], trained.state(case["again"]), written, True)
            else:
                self.expect_equal(case["layout"], trained.state(case["folder"]), self.reference)

    def test_shards_are_read_at_another_data_parallel_degree_bit_for_bit(self):
        self.expect_moved(self.source, 2, ["dp2 zero3"])

    def test_shards_are_read_in_any_layout_bit_for_bit(self):
        self.expect_moved(self.source, 1, ["dp1", "zero3 mb2"])
        self.expect_moved(self.source, 2, ["dp2", "dp2 zero1", "dp2 zero2", "tp2", "pp2 mb4"])
        self.expect_moved(self.source, 3, ["dp3 zero3", "dp3", "dp3 zero2"])
        self.expect_moved(self.source, 4, ["dp2 tp2 zero3", "tp4", "pp4 mb3"])
        self.expect_moved(self.source + "-split", 3, ["dp3 zero3"])
        self.expect_moved(self.source + "-split", 4, ["dp4 zero3", "dp2 tp2", "tp4 sp zero1"])

    def test_the_optimizer_state_is_all_there(self):
        state = trained.state(self.source)
        self.assertEqual(set(state["blocks.3.qkv"]), {"parameter", "exp_avg", "exp_avg_sq"})
        self.assertEqual(tuple(state["blocks.3.qkv"]["exp_avg"].shape), (48, 16))

    def test_a_damaged_shard_is_refused_with_its_name(self):
        folder = trained.place("damaged")
        subprocess.run(["cp", "-r", self.source, folder], check=True)
        path = os.path.join(shards.newest(folder), "worker-1.bin")
        with open(path, "r+b") as file:
            file.seek(5)
            byte = file.read(1)[0]
            file.seek(5)
            file.write(bytes([byte ^ 1]))
        with self.assertRaises(shards.ShardError) as caught:
            trained.state(folder)
        self.assertIn("worker-1.bin is damaged", str(caught.exception))
        os.remove(os.path.join(shards.newest(folder), "whole.pt"))
        self.assertIsNone(shards.newest(folder))


class Refusals(unittest.TestCase):
    """Names are sentences."""

    def refusal(self, text, *words, workers=1):
        """What the example says when it refuses a layout."""
        environment = dict(os.environ, STINT_LAYOUT=text, RANK="0", WORLD_SIZE=str(workers),
                           PYTHONDONTWRITEBYTECODE="1")
        done = subprocess.run([sys.executable, os.path.join(ROOT, "examples",
                                                            "parallel_transformer.py"), *words],
                              env=environment, capture_output=True, text=True, timeout=300,
                              check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_layouts_that_a_model_cannot_have_get_a_sentence(self):
        self.assertIn("is for 2 workers", self.refusal("tp2"))
        self.assertIn("does not divide the 4 attention heads", self.refusal("tp8", workers=8))
        self.assertIn("does not divide the 4 layers", self.refusal("pp3", workers=3))
        self.assertIn("is more than the 2 samples", self.refusal("dp3", "--batch", "2", workers=3))


class Paced(unittest.TestCase):
    """Names are sentences."""

    def test_paced_stages_take_the_time_of_their_schedule(self):
        port = free_port()
        processes = []
        for rank in range(2):
            environment = dict(os.environ, RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1",
                               MASTER_PORT=port, GLOO_SOCKET_IFNAME="lo", OMP_NUM_THREADS="1",
                               PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=ROOT,
                               STINT_LAYOUT="pp2 mb1")
            processes.append(subprocess.Popen(
                [sys.executable, "-m", "stint.paced_layout", "--layers", "2", "--width", "64",
                 "--length", "16", "--forward-ms", "30", "--backward-ms", "50", "--update-ms", "20",
                 "--batch", "4", "--steps", "4"], env=environment, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True))
        said = [process.communicate(timeout=600) for process in processes]
        self.assertEqual(processes[0].returncode, 0, said[0][1])
        summary = json.loads(said[0][0].splitlines()[-1])["summary"]
        # Four micro-batches and one more for the other stage, of 80 ms; about half of the update.
        self.assertGreaterEqual(summary["median_s"], 5 * 0.08 + 0.008)
        self.assertEqual(summary["sent_bytes"], {"pipeline": 4 * 4 * 16 * 64})


class Bytes(unittest.TestCase):
    """Names are sentences."""

    def test_bytes_on_the_network_are_those_of_gloos_rings(self):
        cases = [{"layout": text, "steps": 1, "traffic": trained.place(text) + ".json",
                  "folder": trained.place(text + " bytes")}
                 for text in ("dp2 mb6", "dp2 zero1 mb6", "dp2 zero2 mb3", "dp2 zero3 mb3", "tp2",
                              "pp2 mb3")]
        sent = []
        for case in trained.run(2, cases):
            with open(case["traffic"], encoding="utf-8") as file:
                sent.append(json.load(file))
        # Width 16: a layer has 12 * 256 weights and 13 * 16 others, the embedding (24 + 8) * 16,
        # the output 24 * 16 + 32: 14048 numbers of 8 bytes, which all divide by two.
        size = 8 * (4 * (12 * 256 + 13 * 16) + 32 * 16 + 24 * 16 + 32)
        self.assertEqual(sent[0]["data"], size)  # 2 (n - 1) / n of it.
        self.assertEqual(sent[1]["data"], size + size // 2)  # And the updated half.
        self.assertEqual(sent[2]["data"], 2 * size + size // 2)  # Gradients of two micro-batches.
        # Twice for each of two micro-batches the half of all parameters, besides the gradients.
        self.assertEqual(sent[3]["data"], 2 * size + 4 * size // 2)
        # Two all-reduces forward and two backward of 12 samples x 8 letters x width 16, per layer.
        self.assertEqual(sent[4]["tensor"], 4 * 4 * 8 * 12 * 8 * 16)
        # The activations of 12 samples once; gradients come back from the other worker.
        self.assertEqual(sent[5]["pipeline"], 8 * 12 * 8 * 16)


if __name__ == "__main__":
    unittest.main()
