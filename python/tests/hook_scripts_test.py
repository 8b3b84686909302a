#!/usr/bin/python3
"""Tests the hook on scripts of many kinds, none of which knows of Stint."""

import importlib.util
import statistics
import sys
import tempfile
import types
import unittest

from hook_test import EXIT_SKIPPED, ROOT, SMALL, run, script

FLOAT = 4  # Bytes.
LOADER = """
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset
data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
loader = DataLoader(data, batch_size=8)
def epochs():
    while True:
        yield from loader
"""
LINES = SMALL + LOADER
GAN = """
import torch
from torch import nn
G = nn.Linear(3, 4)
D = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
gan_g = torch.optim.Adam(G.parameters())
gan_d = torch.optim.SGD(D.parameters(), lr=0.1, momentum=0.9)
def train(real):
    D.zero_grad()
    D(real).mean().backward()
    fake = G(torch.randn(len(real), 3))
    (-D(fake.detach()).mean()).backward()
    gan_d.step()
    G.zero_grad()
    D(fake).mean().backward()
    gan_g.step()
"""
G_BYTES = (3 * 4 + 4) * FLOAT
D_BYTES = (4 * 8 + 8 + 8 + 1) * FLOAT
SMALL_BYTES = D_BYTES  # The same layers.


class ScriptCase(unittest.TestCase):
    """Runs scripts under the hook."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def measure(self, text, ranks=1, **variables):
        """Returns (the start of the first rank, the iterations after warm-up)."""
        records, codes, self.printed = run(script(self.folder, text), ranks, **variables)
        self.assertEqual(codes, [0] * ranks, self.printed)
        starts = [record["start"] for record in records if "start" in record]
        self.assertEqual(len(starts), ranks, self.printed)
        steps = [record["iteration"] for record in records if "iteration" in record]
        self.assertEqual(len(steps), 8 * ranks, self.printed)
        return starts[0], [step for step in steps if not step["warmup"]]

    def all_are(self, steps, name, value):
        self.assertEqual({step.get(name) for step in steps}, {value}, self.printed)


class Iterations(ScriptCase):
    """What an iteration is, and of how many parts."""

    def check_gan(self, start, steps):
        self.all_are(steps, "passes", 1)
        self.all_are(steps, "updates", 1)
        self.all_are(steps, "batch", 8)
        self.assertEqual(start["gradient_bytes"], G_BYTES + D_BYTES)
        self.assertEqual(start["parameter_bytes"], G_BYTES + D_BYTES)
        self.assertEqual(start["frozen_bytes"], 0)
        # Adam keeps two numbers and a step for each tensor, SGD one.
        self.assertEqual(start["optimizer_bytes"], 2 * G_BYTES + 2 * FLOAT + D_BYTES)
        self.assertEqual(sorted(start["training"]["optimizers"]), ["Adam", "SGD"])
        for step in steps:
            self.assertNotIn("local_square", step)
            self.assertLessEqual(step["input_s"] + step["forward_s"] + step["backward_s"]
                                 + step["update_s"], step["time_s"] + 1e-6)
        buckets = [step["buckets"] for step in steps if step.get("buckets")]
        self.assertEqual(len(buckets), 3)
        for one in buckets:
            self.assertEqual(sum(bucket["bytes"] for bucket in one), G_BYTES + D_BYTES)

    def test_a_gan_is_no_accumulation_and_both_optimizers_count(self):
        self.check_gan(*self.measure(GAN + LOADER + """
for real, _ in epochs():
    train(real)
"""))

    def test_nor_is_a_gan_without_a_data_loader(self):
        self.check_gan(*self.measure(GAN + """
while True:
    train(torch.randn(8, 4))
"""))

    def test_all_passes_of_a_gan_are_summed(self):
        _, steps = self.measure(GAN + """
import time
class Slow(torch.autograd.Function):
    @staticmethod
    def forward(_, x):
        time.sleep(0.02)
        return x.clone()
    @staticmethod
    def backward(_, gradient):
        time.sleep(0.03)
        return gradient
inner = D.forward
D.forward = lambda x: inner(Slow.apply(x) if x.requires_grad else Slow.apply(x * one))
one = torch.ones(1, requires_grad=True)
while True:
    train(torch.randn(8, 4))
""")
        for step in steps:  # Three times forward and backward through the slow layer.
            self.assertGreater(step["forward_s"], 0.06)
            self.assertGreater(step["backward_s"], 0.09)

    def test_a_critic_that_steps_five_times_has_five_batches(self):
        _, steps = self.measure(GAN + LOADER + """
batches = epochs()
while True:
    for _ in range(5):
        D.zero_grad()
        D(next(batches)[0]).mean().backward()
        gan_d.step()
    G.zero_grad()
    D(G(torch.randn(8, 3))).mean().backward()
    gan_g.step()
""")
        self.all_are(steps, "passes", 5)
        self.all_are(steps, "updates", 5)

    def test_accumulation_is_seen_with_a_data_loader(self):
        _, steps = self.measure(LINES + """
for number, (x, y) in enumerate(epochs()):
    ((model(x) - y).square().mean() / 4).backward()
    if number % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()
""")
        self.all_are(steps, "passes", 4)
        self.all_are(steps, "updates", 1)
        self.all_are(steps, "batch", 8)
        self.assertEqual(sum("local_square" in step for step in steps), 3)

    def test_a_batch_that_the_script_cuts_up_is_accumulated(self):
        _, steps = self.measure(LINES + """
for x, y in epochs():
    optimizer.zero_grad()
    for part in x.split(2):
        model(part).sum().backward()
    optimizer.step()
""")
        self.all_are(steps, "passes", 4)
        self.all_are(steps, "batch", 2)

    def test_two_losses_of_one_batch_are_no_accumulation(self):
        for text in ("", "x = torch.randn(8, 4)\nepochs = lambda: iter(lambda: (x, x), 0)\n"):
            with self.subTest(text=text):
                _, steps = self.measure(LINES + text + """
for x, _ in epochs():
    optimizer.zero_grad()
    out = model(x)
    out.sum().backward(retain_graph=True)
    out.square().sum().backward()
    optimizer.step()
""")
                self.all_are(steps, "passes", 1)
                self.all_are(steps, "batch", 8)

    def test_an_update_between_forward_and_backward_is_no_part_of_forward(self):
        _, steps = self.measure(SMALL + """
import time
class Slow(torch.optim.SGD):
    def step(self, closure=None):
        time.sleep(0.05)
        return super().step(closure)
other = nn.Linear(4, 1)
slow = Slow(other.parameters(), lr=0.1)
x = torch.randn(8, 4)
while True:
    other(x).sum().backward()
    out = model(x).sum()
    slow.step()
    out.backward()
    optimizer.step()
""")
        self.assertLess(statistics.median(step["forward_s"] for step in steps), 0.05)
        self.assertGreater(min(step["update_s"] for step in steps), 0.05)

    def test_a_skipped_step_is_an_iteration_that_says_so(self):
        start, steps = self.measure(SMALL + """
from torch.cuda.amp import grad_scaler
grad_scaler.amp_definitely_not_available = lambda: False
class Scaler(torch.cuda.amp.GradScaler):
    calls = 0
    def scale(self, loss):
        if self._scale is None:
            self._lazy_init_scale_growth_tracker(loss.device)
        return loss * self._scale
    def unscale_(self, optimizer):  # Overflows in the first four steps and every other one.
        self.calls += 1
        state = self._per_optimizer_states[id(optimizer)]
        overflow = self.calls < 4 or self.calls % 2
        state["found_inf_per_device"] = {torch.device("cpu"): torch.tensor(float(overflow))}
        state["stage"] = grad_scaler.OptState.UNSCALED
optimizer = torch.optim.SGD(model.parameters(), lr=1e-9, momentum=0.9)
scaler = Scaler()
while True:
    optimizer.zero_grad()
    scaler.scale(model(torch.randn(3, 4)).sum()).backward()
    scaler.step(optimizer)
    scaler._per_optimizer_states.clear()
""")
        self.assertEqual([step.get("skipped", False) for step in steps],
                         [True, False] * 3)
        self.assertTrue(start["training"]["gradient_scaler"])
        # Momentum is known only after a step that was not skipped.
        self.assertEqual(start["optimizer_bytes"], SMALL_BYTES)

    def test_an_optimizer_that_never_steps_is_not_waited_for_long(self):
        start, steps = self.measure("import torch\nleft = torch.optim.SGD([torch.nn.Parameter("
                                    "torch.ones(9))], lr=1)\n" + SMALL + """
while True:
    model(torch.randn(3, 4)).sum().backward()
    optimizer.step()
""")
        self.all_are(steps, "passes", 1)
        self.assertEqual(start["gradient_bytes"], SMALL_BYTES)

    def test_ddp_that_sends_in_each_micro_step_has_each_bucket_once(self):
        start, steps = self.measure(LINES + """
import torch.distributed as dist
dist.init_process_group("gloo")
model = nn.parallel.DistributedDataParallel(model)
for number, (x, y) in enumerate(epochs()):
    ((model(x) - y).square().mean() / 2).backward()
    if number % 2:
        optimizer.step()
        optimizer.zero_grad()
""", ranks=2)
        self.all_are(steps, "passes", 2)
        for step in steps:
            self.assertEqual(sum(one["bytes"] for one in step["buckets"]), SMALL_BYTES)
        self.assertEqual(start["gradient_bytes"], SMALL_BYTES)


class Sizes(ScriptCase):
    """Which parameters count as what."""

    def test_frozen_parameters_have_no_gradients(self):
        start, steps = self.measure(SMALL + """
model[0].requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
while True:
    model(torch.randn(3, 4)).sum().backward()
    optimizer.step()
""")
        frozen = (4 * 8 + 8) * FLOAT
        self.assertEqual(start["gradient_bytes"], SMALL_BYTES - frozen)
        self.assertEqual(start["parameter_bytes"], SMALL_BYTES)
        self.assertEqual(start["frozen_bytes"], frozen)
        buckets = [step["buckets"] for step in steps if step.get("buckets")]
        self.assertEqual({sum(one["bytes"] for one in some) for some in buckets},
                         {SMALL_BYTES - frozen})

    def test_a_frozen_module_of_its_own_counts_as_parameters(self):
        for mode in ("backbone.eval()", "pass"):
            with self.subTest(mode=mode):
                start, steps = self.measure(SMALL + f"""
backbone = nn.Linear(6, 4)
{mode}
while True:
    with torch.no_grad():
        features = backbone(torch.randn(3, 6))
    model(features).sum().backward()
    optimizer.step()
""")
                frozen = (6 * 4 + 4) * FLOAT
                self.assertEqual(start["frozen_bytes"], frozen)
                self.assertEqual(start["parameter_bytes"], SMALL_BYTES + frozen)
                self.assertEqual(start["gradient_bytes"], SMALL_BYTES)
                self.all_are(steps, "batch", 3)


class Batches(ScriptCase):
    """Batches that the hook changes, or says why not."""

    LOOP = """
for x, y in epochs():
    optimizer.zero_grad()
    (model(x) - y).square().mean().backward()
    optimizer.step()
"""

    def test_the_batch_of_a_data_loader_can_be_scaled_and_set(self):
        start, steps = self.measure(LINES + self.LOOP)
        self.all_are(steps, "batch", 8)
        self.assertEqual((start["batch_from"], start["own_batch"]), ("loader", 8))
        self.assertEqual(start["dataset"], 64)
        for variable, value, batch in (("SCALE", "0.5", 4), ("SCALE", "2", 16), ("BATCH", "5", 5)):
            with self.subTest(value=value):
                name = f"STINT_PROFILE_LOADER_{variable}"
                start, steps = self.measure(LINES + self.LOOP, **{name: value})
                self.assertEqual(statistics.mode(step["batch"] for step in steps), batch)
                self.assertEqual(start["own_batch"], 8)

    def test_a_batch_that_is_given_by_position_is_changed_too(self):
        text = LINES.replace("batch_size=8", "8, True") + self.LOOP
        _, steps = self.measure(text, STINT_PROFILE_LOADER_SCALE="2")
        self.all_are(steps, "batch", 16)

    def test_the_size_is_looked_for_in_the_tensors(self):
        loop = """
loader = DataLoader(data, batch_size=8, collate_fn=lambda rows: SHAPE)
for x in epochs():
    optimizer.zero_grad()
    model(x).mean().backward()
    optimizer.step()
"""
        text = LINES + loop.replace("SHAPE", "torch.ones(3, len(rows), 4)")
        _, steps = self.measure(text, STINT_PROFILE_LOADER_SCALE="2")
        self.all_are(steps, "batch", 16)
        # A script that makes its tensors of another size, whatever it is given.
        text = LINES + loop.replace("SHAPE", "torch.ones(3, 5, 4)")
        _, steps = self.measure(text, STINT_PROFILE_LOADER_SCALE="2")
        self.all_are(steps, "batch", None)

    def test_a_batch_that_cannot_be_changed_says_why(self):
        stream = """
class Stream(IterableDataset):
    def __iter__(self):
        while True:
            yield torch.randn(4), torch.randn(1)
loader = DataLoader(Stream(), batch_size=8)
"""
        sampler = """
batches = [list(range(i, i + 8)) for i in range(0, 64, 8)]
loader = DataLoader(data, batch_sampler=batches)
"""
        for text, why in ((stream, "its DataLoader reads an IterableDataset"),
                          (sampler, "its DataLoader has a batch sampler of its own"),
                          ("epochs = lambda: iter(lambda: (torch.randn(8, 4), 0), 0)\n",
                           "it has no DataLoader and does not call stint.batch_size()")):
            with self.subTest(why=why):
                start, steps = self.measure(LINES + text + self.LOOP,
                                            STINT_PROFILE_LOADER_SCALE="2")
                self.assertEqual(start.get("batch_fixed"), why)
                self.assertNotIn("batch_from", start)
                self.all_are(steps, "batch", 8)

    def test_a_script_that_asks_for_its_batch_decides_itself(self):
        text = SMALL + "import stint\n" + LOADER.replace("batch_size=8",
                                                         "batch_size=stint.batch_size(8)")
        start, steps = self.measure(text + self.LOOP, STINT_BATCH_SIZE="4",
                                    STINT_PROFILE_LOADER_BATCH="2")
        self.all_are(steps, "batch", 4)
        self.assertEqual((start["batch_from"], start["own_batch"]), ("script", 8))


class Evaluation(ScriptCase):
    """What happens between training iterations is no part of them."""

    def test_loops_over_other_loaders_are_left_out(self):
        start, steps = self.measure(LINES + """
import time
class Slow(Dataset):
    def __len__(self):
        return 300
    def __getitem__(self, i):
        time.sleep(0.001)
        return torch.randn(4), torch.randn(1)
slow = DataLoader(Slow(), batch_size=100)
data = TensorDataset(torch.randn(16, 4), torch.randn(16, 1))
loader = DataLoader(data, batch_size=8)
while True:
    model.train()
    for x, y in loader:  # Two iterations in each epoch.
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for x, y in slow:
            model(x)
""")
        self.assertEqual(start["dataset"], 16)
        self.all_are(steps, "batch", 8)
        self.all_are(steps, "passes", 1)
        self.assertLess(max(step["input_s"] for step in steps), 0.1)
        self.assertLess(statistics.median(step["time_s"] for step in steps), 0.3)

    def test_sloppy_evaluation_is_left_out_too(self):
        for begin in ("model.eval()", "torch.set_grad_enabled(False)", "pass"):
            with self.subTest(begin=begin):
                start, steps = self.measure(LINES + f"""
import time
test = DataLoader(TensorDataset(torch.randn(40, 4)), batch_size=20)
for x, y in epochs():
    model.train()
    torch.set_grad_enabled(True)
    optimizer.zero_grad()
    (model(x) - y).square().mean().backward()
    optimizer.step()
    {begin}
    for z, in test:
        model(z)
        time.sleep(0.1)
""")
                self.all_are(steps, "batch", 8)
                self.all_are(steps, "passes", 1)
                self.assertEqual(start["dataset"], 64)
                self.assertLess(statistics.median(step["forward_s"] for step in steps), 0.1)
                self.assertLess(statistics.median(step["time_s"] for step in steps), 0.2)

    def test_the_module_inside_a_wrapper_is_evaluated(self):
        start, steps = self.measure(LINES + """
import torch.distributed as dist
dist.init_process_group("gloo")
wrapped = nn.parallel.DistributedDataParallel(model)
test = DataLoader(TensorDataset(torch.randn(40, 4)), batch_size=20)
for x, y in epochs():
    optimizer.zero_grad()
    (wrapped(x) - y).square().mean().backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        for z, in test:
            model(z)
    model.train()
""")
        self.all_are(steps, "batch", 8)
        self.all_are(steps, "passes", 1)
        self.assertEqual(start["dataset"], 64)

    def test_a_teacher_in_evaluation_mode_keeps_the_batch_for_the_student(self):
        _, steps = self.measure(LINES + """
import time
class Slow(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, i):
        time.sleep(0.002)
        return torch.randn(4), torch.randn(1)
loader = DataLoader(Slow(), batch_size=8)
teacher = nn.Linear(4, 1).eval()
for x, _ in epochs():
    with torch.no_grad():
        wanted = teacher(x)
    optimizer.zero_grad()
    (model(x) - wanted).square().mean().backward()
    optimizer.step()
""")
        self.assertGreater(min(step["input_s"] for step in steps), 0.016)
        self.all_are(steps, "batch", 8)

    def test_a_model_that_trains_in_evaluation_mode_is_timed(self):
        _, steps = self.measure(LINES + """
import time
inner = model[0].forward
def slow(x):
    time.sleep(0.02)
    return inner(x)
model[0].forward = slow
model.eval()
for x, y in epochs():
    optimizer.zero_grad()
    (model(x) - y).square().mean().backward()
    optimizer.step()
""")
        self.all_are(steps, "batch", 8)
        for step in steps:
            self.assertGreater(step["forward_s"], 0.02)


class Methods(ScriptCase):
    """What the profile says about the training."""

    def test_a_plain_script_uses_nothing(self):
        start, _ = self.measure(LINES + Batches.LOOP)
        self.assertEqual(start["training"], {
            "optimizers": ["SGD"], "parameters": ["float32"], "gradient_scaler": False,
            "compiled": False, "activation_checkpointing": False, "loader_workers": 0})

    def test_everything_that_is_used_is_named(self):
        start, _ = self.measure(LINES + """
from torch.nn.utils import clip_grad_norm_
from torch.utils.checkpoint import checkpoint
torch.backends.cuda.matmul.allow_tf32 = True
loader = DataLoader(data, batch_size=8, num_workers=2)
for x, y in epochs():
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hidden = checkpoint(model[0], x.requires_grad_())
        loss = model[2](hidden).mean()
    loss.backward()
    clip_grad_norm_(model.parameters(), 1.0)
    nn.utils.clip_grad_value_(model.parameters(), 0.5)
    optimizer.step()
""")
        self.assertEqual(start["training"], {
            "optimizers": ["SGD"], "parameters": ["float32"], "autocast": "bfloat16",
            "tf32": ["matmul"], "gradient_scaler": False, "clipping": ["norm", "value"],
            "compiled": False, "activation_checkpointing": True, "loader_workers": 2})

    def test_parameters_of_half_precision_are_named(self):
        start, _ = self.measure(SMALL + """
model = model.bfloat16()
while True:
    model(torch.randn(3, 4).bfloat16()).sum().backward()
    optimizer.step()
""")
        self.assertEqual(start["training"]["parameters"], ["bfloat16"])

    def test_compilation_is_seen_where_pytorch_has_it(self):
        sys.path.insert(0, str(ROOT))
        from stint import seen
        noticed = seen.Seen()
        version_2 = types.SimpleNamespace(compile=lambda model: model,
                                          nn=types.SimpleNamespace(Module=object))
        seen.watch_compilation(noticed, version_2)
        self.assertFalse(noticed.compiled)
        self.assertEqual(version_2.compile("model"), "model")
        self.assertTrue(noticed.compiled)


class Ends(ScriptCase):
    """Scripts whose numbers or manners are bad."""

    def test_a_gradient_that_is_no_number_costs_one_sample(self):
        _, steps = self.measure(SMALL + """
for step in range(100):
    optimizer.zero_grad()
    for micro in range(2):
        weight = float("nan") if step == 3 else float("inf") if step == 5 else 1.0
        (model(torch.randn(3, 4)).sum() * weight).backward()
    if step not in (3, 5):
        optimizer.step()
    else:
        optimizer.zero_grad()
        optimizer.step()
""")
        sampled = [step for step in steps if step["sampled"]]
        self.assertEqual([step["number"] for step in sampled], [3, 5, 7])
        self.assertEqual(["local_square" in step for step in sampled], [False, False, True])

    def test_sparse_gradients_have_norms(self):
        _, steps = self.measure("""
import torch
table = torch.nn.Embedding(10, 4, sparse=True)
optimizer = torch.optim.SparseAdam(table.parameters())
while True:
    optimizer.zero_grad()
    for micro in range(2):
        table(torch.randint(10, (3,))).sum().backward()
    optimizer.step()
""")
        self.assertEqual(sum("local_square" in step for step in steps), 3)

    def test_a_script_that_catches_everything_is_ended_and_timed(self):
        _, steps = self.measure(SMALL + """
import time
for step in range(100):
    try:
        model(torch.randn(3, 4)).sum().backward()
        optimizer.step()
    except BaseException:
        time.sleep(0.5)
print("trained to the end")
""")
        self.assertNotIn("trained to the end", self.printed)
        self.all_are(steps, "passes", 1)
        self.assertLess(steps[-1]["time_s"], 0.5)

    def test_a_last_word_of_such_a_script_is_heard(self):
        self.measure(SMALL + """
try:
    while True:
        model(torch.randn(3, 4)).sum().backward()
        optimizer.step()
except BaseException:
    model.eval()
    model(torch.randn(3, 4))
    print("good-bye")
""")
        self.assertIn("good-bye", self.printed)


if __name__ == "__main__":
    if importlib.util.find_spec("torch") is None:
        print("SKIP: this interpreter has no torch")
        sys.exit(EXIT_SKIPPED)
    unittest.main()
