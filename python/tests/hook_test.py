#!/usr/bin/python3
"""Tests the hook on the examples, alone and with two ranks, with the PyTorch that is here."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from ports import free_port

WAIT = 900  # Seconds for a script to end; computers may be busy.
EXIT_SKIPPED = 77  # The SKIP_RETURN_CODE that ctest is told.
ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = {
    "cnn": ["--samples", "256", "--batch-size", "8"],
    "mlp": ["--samples", "512", "--batch-size", "8", "--width", "128"],
    "transformer": ["--batch-size", "4", "--width", "32"],
}


def run(words, ranks=1, hook=True, steps=6, **variables):
    """Runs a script; returns (the records of all ranks, the exit codes, what it printed)."""
    with tempfile.TemporaryDirectory(prefix="stint-hook-") as folder:
        out = Path(folder, "records")
        world = dict(os.environ, OMP_NUM_THREADS="1", ONEDNN_MAX_CPU_ISA="AVX512_CORE",
                     MASTER_ADDR="127.0.0.1", GLOO_SOCKET_IFNAME="lo",
                     MASTER_PORT=free_port(), WORLD_SIZE=str(ranks))
        if hook:
            world |= {"PYTHONPATH": f"{ROOT}/stint_site:{ROOT}", "STINT_PROFILE_OUT": str(out),
                      "STINT_PROFILE_STEPS": str(steps), "STINT_PROFILE_WARMUP": "2",
                      "STINT_PROFILE_SAMPLE_EVERY": "2", "PYTHONDONTWRITEBYTECODE": "1"}
        world |= variables
        processes = [subprocess.Popen([sys.executable, *words], env=world | {"RANK": str(rank)},
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                     for rank in range(ranks)]
        printed = "".join(process.communicate(timeout=WAIT)[0] for process in processes)
        lines = out.read_text().splitlines() if out.exists() else []
        return ([json.loads(line) for line in lines],
                [process.returncode for process in processes], printed)


def script(folder, text):
    path = Path(folder, "script.py")
    path.write_text(text)
    return [str(path)]


SMALL = """
import torch
from torch import nn
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
"""


class Examples(unittest.TestCase):
    def check_records(self, records, ranks):
        starts = [record["start"] for record in records if "start" in record]
        self.assertEqual(len(starts), ranks)
        for start in starts:
            self.assertEqual(start["world"], ranks)
            self.assertGreater(start["gradient_bytes"], 0)
            self.assertGreater(start["optimizer_bytes"], 0)
            self.assertEqual(start["communication"], "timed" if ranks > 1 else "none")
            self.assertIn("blas", start["environment"])
        for rank in range(ranks):
            steps = [record["iteration"] for record in records
                     if record["rank"] == rank and "iteration" in record]
            self.assertEqual([step["number"] for step in steps], list(range(8)))
            self.assertEqual([step["warmup"] for step in steps], [True] * 2 + [False] * 6)
            for step in steps[1:]:
                parts = (step["input_s"] + step["forward_s"] + step["backward_s"]
                         + step["update_s"])
                self.assertGreater(step["forward_s"], 0)
                self.assertGreater(step["backward_s"], 0)
                self.assertGreater(step["update_s"], 0)
                self.assertLessEqual(parts, step["time_s"] + 1e-6)
                self.assertGreater(step["peak_bytes"], 1e6)
            self.check_buckets(steps, starts[0], ranks)

    def check_buckets(self, steps, start, ranks):
        with_buckets = [step for step in steps[2:] if "buckets" in step]
        self.assertEqual(len(with_buckets), 6 if ranks > 1 else 3)
        for step in with_buckets:
            self.assertEqual(sum(bucket["bytes"] for bucket in step["buckets"]),
                             start["gradient_bytes"])
            for bucket in step["buckets"]:
                self.assertLessEqual(bucket["ready_s"], step["backward_s"])
                self.assertEqual("reduce_s" in bucket, ranks > 1)
            self.assertEqual("local_square" in step, ranks > 1 and step["sampled"])

    def check_example(self, name, ranks):
        flags = EXAMPLES[name]
        records, codes, printed = run([str(ROOT / "examples" / f"{name}.py"), *flags], ranks)
        self.assertEqual(codes, [0] * ranks, printed)
        self.check_records(records, ranks)
        batch = int(flags[flags.index("--batch-size") + 1])
        batches = {record["iteration"]["batch"] for record in records if "iteration" in record}
        self.assertEqual(batches, {batch})

    def test_records_are_complete_with_two_ranks_of_the_mlp(self):
        self.check_example("mlp", 2)

    def test_records_are_complete_with_one_and_two_ranks_of_all_others(self):
        for name, ranks in (("mlp", 1), ("cnn", 1), ("cnn", 2), ("transformer", 1),
                            ("transformer", 2)):
            with self.subTest(name=name, ranks=ranks):
                self.check_example(name, ranks)

    def test_the_result_is_the_same_to_the_last_bit_with_and_without_the_hook(self):
        for name, ranks in (("cnn", 1), ("mlp", 2), ("transformer", 3)):
            with self.subTest(name=name), tempfile.TemporaryDirectory() as folder:
                results = []
                for hook in (False, True):
                    saved = Path(folder, f"saved{hook}")
                    words = [str(ROOT / "examples" / f"{name}.py"), *EXAMPLES[name],
                             "--steps", "5", "--save", str(saved)]
                    _, codes, printed = run(words, ranks, hook, steps=0)
                    self.assertEqual(codes, [0] * ranks, printed)
                    results.append(torch.load(saved))
                plain, hooked = results
                self.assertEqual(plain.keys(), hooked.keys())
                for key in plain:
                    self.assertTrue(torch.equal(plain[key], hooked[key]), key)


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_a_script_that_dies_leaves_what_was_measured(self):
        records, codes, _ = run(script(self.folder, SMALL + """
for step in range(5):
    model(torch.randn(3, 4)).sum().backward()
    optimizer.step()
    if step == 4:
        import os
        os.kill(os.getpid(), 9)
"""))
        self.assertEqual(codes, [-9])
        steps = [record["iteration"] for record in records if "iteration" in record]
        self.assertEqual(len(steps), 5)
        self.assertEqual(steps[-1]["batch"], 3)

    def test_a_script_without_backward_says_so_when_it_ends(self):
        records, codes, _ = run(script(self.folder, SMALL + "model(torch.randn(3, 4))\n"))
        self.assertEqual(codes, [0])
        self.assertEqual([record.get("exit") for record in records],
                         [{"backwards": 0, "steps": 0}])

    def test_accumulation_makes_one_iteration_of_several_passes_and_tells_noise(self):
        records, _, printed = run(script(self.folder, SMALL + """
for step in range(100):
    optimizer.zero_grad()
    for micro in range(4):
        (model(torch.randn(3, 4)).sum() / 4).backward()
    optimizer.step()
"""))
        steps = [record["iteration"] for record in records if "iteration" in record]
        self.assertEqual({step["passes"] for step in steps}, {4}, printed)
        sampled = [step for step in steps if step["sampled"]]
        self.assertEqual(len(sampled), 3)
        for step in sampled:
            self.assertGreater(step["local_square"], 0)
            self.assertGreater(step["mean_square"], 0)

    def test_evaluation_is_no_part_of_an_iteration(self):
        records, _, printed = run(script(self.folder, SMALL + """
import time
for step in range(100):
    model.eval()
    with torch.no_grad():
        model(torch.randn(50, 4))
    time.sleep(0.5)
    model.train()
    model(torch.randn(3, 4)).sum().backward()
    optimizer.step()
"""))
        steps = [record["iteration"] for record in records if "iteration" in record][2:]
        self.assertTrue(steps, printed)
        for step in steps:
            self.assertEqual(step["batch"], 3)
            self.assertGreater(step["forward_s"], 0)
            self.assertLess(step["time_s"], 0.5)

    def test_two_lines_say_what_to_measure_and_the_batch_can_be_asked(self):
        text = SMALL + """
import stint
other = torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=1)
stint.watch(model, optimizer)
for step in range(100):
    other.step()
    model(torch.randn(stint.batch_size(3), 4)).sum().backward()
    other.step()
    optimizer.step()
"""
        records, codes, printed = run(script(self.folder, text), STINT_BATCH_SIZE="7")
        self.assertEqual(codes, [0], printed)
        steps = [record["iteration"] for record in records if "iteration" in record]
        self.assertEqual([step["number"] for step in steps], list(range(8)))
        self.assertEqual({step["batch"] for step in steps}, {7})
        records, codes, _ = run(script(self.folder, text), hook=False, PYTHONPATH=str(ROOT))
        self.assertEqual((records, codes), ([], [0]))

    def test_a_communication_hook_of_the_scripts_own_is_kept(self):
        records, codes, printed = run(script(self.folder, """
import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
from torch.nn.parallel import DistributedDataParallel
dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Linear(4, 1))
model.register_comm_hook(None, fp16_compress_hook)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(100):
    model(torch.randn(3, 4)).sum().backward()
    optimizer.step()
"""), ranks=2)
        self.assertEqual(codes, [0, 0], printed)
        starts = [record["start"] for record in records if "start" in record]
        self.assertEqual({start["communication"] for start in starts},
                         {"the script has a communication hook of its own"})
        self.assertFalse(any("buckets" in record.get("iteration", {}) for record in records))

    def test_another_sitecustomize_still_runs(self):
        Path(self.folder, "sitecustomize.py").write_text("import sys\nsys.other_ran = True\n")
        words = script(self.folder, "import sys\nprint(sys.other_ran)\n")
        path = f"{ROOT}/stint_site:{ROOT}:{self.folder}"
        _, codes, printed = run(words, PYTHONPATH=path)
        self.assertEqual((codes, printed), ([0], "True\n"))

    def test_closures_schedulers_and_copies_of_the_model_work(self):
        records, codes, printed = run(script(self.folder, SMALL + """
import copy
import io
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=2)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
inputs = torch.randn(3, 4)
def closure():
    optimizer.zero_grad()
    loss = model(inputs).square().mean()
    loss.backward()
    return loss
for step in range(100):
    optimizer.step(closure)
    scheduler.step()
    copy.deepcopy(model)
    torch.save(model, io.BytesIO())
"""))
        self.assertEqual(codes, [0], printed)
        steps = [record["iteration"] for record in records if "iteration" in record]
        self.assertEqual(len(steps), 8)
        self.assertGreaterEqual(steps[-1]["passes"], 1)


if __name__ == "__main__":
    if importlib.util.find_spec("torch") is None:
        print("SKIP: this interpreter has no torch")
        sys.exit(EXIT_SKIPPED)
    import torch
    unittest.main()
