#!/usr/bin/python3
"""Writes docs/measured/operators.md: the operators that `stint profile --for` finds in scripts,
against a count by hand, and predicted steps beside those from the shape of the model.

Usage: make_operators_doc.py STINT [OUT.md]

Runs each script on this processor for a few steps at small batches; nothing here depends on how fast
it is. Needs torch in /usr/bin/python3, and takes a few minutes.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GPUS = {"V100-SXM2": "p3.2xlarge", "A100-40GB-SXM": "a2-highgpu-1g", "H100-SXM": "a3-highgpu-1g"}
UNITS = {"FLOP": 1, "kFLOP": 1e3, "MFLOP": 1e6, "GFLOP": 1e9, "TFLOP": 1e12,
         "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9,
         "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
PYTHON = "/usr/bin/python3"


def number(text):
    value, unit = text.split()
    return float(value) * UNITS[unit]


def transformer(width, wide, length, layers, vocabulary):
    """Operations of a sample, forward: linear layers, attention written out, head."""
    layer = 2 * length * (4 * width**2 + 2 * width * wide) + 2 * 2 * length**2 * width
    return layers * layer + 2 * length * width * vocabulary


def convolution(inputs, outputs, size, side):
    return 2 * outputs * side**2 * inputs * size**2


def cnn():
    first = convolution(3, 16, 3, 24)
    rest = 2 * 128 * 10
    for inputs, outputs, side in ((16, 32, 12), (32, 64, 6), (64, 128, 3)):
        rest += (convolution(inputs, outputs, 3, side) + convolution(outputs, outputs, 3, side)
                 + convolution(inputs, outputs, 1, side))
    return 2 * first + 3 * rest  # No gradient of the pictures.


def resnet50():
    first = convolution(3, 64, 7, 112)
    rest, inputs = 2 * 2048 * 1000, 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width, side = 64 << stage, 56 >> stage
        for block in range(blocks):
            before = 2 * side if stage and not block else side
            rest += (convolution(inputs, width, 1, before) + convolution(width, width, 3, side)
                     + convolution(width, 4 * width, 1, side))
            rest += convolution(inputs, 4 * width, 1, side) if not block else 0
            inputs = 4 * width
    return 2 * first + 3 * rest


def mlp():
    return 2 * (2 * 256 * 2048 + 3 * (2 * 2048**2 + 2048 * 20))


def plain_loop():
    return 2 * convolution(1, 8, 3, 14) + 3 * (convolution(8, 16, 3, 12) + 2 * (576 * 64 + 64 * 10))


def finetune():
    """Frozen but for the last layer, whose weights alone have gradients."""
    return convolution(3, 16, 3, 8) + 4 * convolution(16, 16, 3, 8) + 2 * 2 * 64 * 2


def small_config(width, length, layers, vocabulary):
    return {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": width,
            "n_head": 4, "n_layer": layers, "n_positions": length, "n_ctx": length,
            "vocab_size": vocabulary}


# Script, count by hand, and the model whose shape predicts it: a name with flags, or a config.json.
SCRIPTS = [
    ("python/examples/mlp.py", mlp(), None),
    ("python/examples/cnn.py", cnn(), None),
    ("python/examples/transformer.py", 3 * transformer(128, 512, 48, 2, 12),
     (small_config(128, 48, 2, 12), ["--seq", "48"])),
    ("tests/scripts/plain_loop.py", plain_loop(), None),
    ("tests/scripts/accumulation.py", 3 * transformer(64, 256, 32, 2, 17),
     (small_config(64, 32, 2, 17), ["--seq", "32"])),
    ("tests/scripts/finetune.py", finetune(), None),
    ("python/tests/models/resnet50.py", resnet50(), ("resnet50", [])),
]


BATCHES = {"python/tests/models/resnet50.py": "1,2"}  # Quick on a processor.
PRECISION = "fp32"  # That of all these scripts.


def step(job, batch, gpu):
    """Predicted milliseconds of one iteration of a profile, at one of its batches."""
    for one in job["compute"]:
        if one["device"] == gpu and one["batch_per_worker"] == batch:
            return 1e3 * sum(number(one[part]["median"])
                             for part in ("forward", "backward", "update"))
    sys.exit(f"no times of {gpu} at a batch of {batch}")


class World:
    def __init__(self, stint, folder):
        self.stint, self.folder = stint, folder

    def run(self, *words):
        done = subprocess.run([self.stint, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(words)}: {done.stderr}")
        return done.stdout

    def profile(self, script, precision):
        batches = ["--batches", BATCHES[script]] if script in BATCHES else []
        return json.loads(self.run("profile", "-q", "-o", "json", "--for", ",".join(GPUS),
                                   "--precision", precision, "--steps", "1", *batches, "--", PYTHON,
                                   str(ROOT / script)))

    def shape_step(self, batch, gpu, *job):
        """Predicted milliseconds of one iteration on one GPU, from the shape of a model."""
        answer = json.loads(self.run("predict", *job, "--cluster", f"1x {GPUS[gpu]}",
                                     "--batch-per-worker", str(batch), "-o", "json"))
        parts = answer["iteration"]["parts"]
        return sum(parts[f"{part}_s"] for part in ("forward", "backward", "update")) * 1e3

    def shape_flags(self, shape, precision):
        model, flags = shape
        if isinstance(model, dict):
            path = Path(self.folder, "config.json")
            path.write_text(json.dumps(model))
            model = str(path)
        return ["--model", model, *flags, "--precision", precision, "--samples", "1000000"]


def kinds(job):
    """Operators of a pass by kind, forward and backward."""
    counts = {}
    for one in job["work"]["operators"]:
        if one.get("kernels", 1) == 0:
            continue
        counts[one["kind"]] = counts.get(one["kind"], 0) + one["count"]
    return ", ".join(f"{count:.0f} {kind}" for kind, count in counts.items())


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def page(world):
    flops, steps, ratios = [], [], []
    for script, by_hand, shape in SCRIPTS:
        job = world.profile(script, PRECISION)
        found = number(job["flops_per_sample"])
        batch = max(1, job["batch"]["reference"] // job["training"].get("accumulation", 1))
        flops.append([f"`{script}`", f"{found / 1e6:.4g}", f"{by_hand / 1e6:.4g}",
                      f"{found / by_hand:.4f}", kinds(job), job["work"]["activations"]])
        ours = [step(job, batch, gpu) for gpu in GPUS]
        row = [Path(script).stem, str(batch), *(f"{one:.3g}" for one in ours)]
        theirs = []
        if shape:
            theirs = [world.shape_step(batch, gpu, *world.shape_flags(shape, PRECISION))
                      for gpu in GPUS]
            ratios += [(row[0], one / other) for one, other in zip(ours, theirs)]
        row += [f"{other:.3g} ({one / other:.2f})" for one, other in zip(ours, theirs)]
        steps.append(row + ["–"] * (len(GPUS) - len(theirs)))
        print(flops[-1], steps[-1], file=sys.stderr)
    return TEXT.format(
        flops=table(["script", "MFLOP found", "MFLOP by hand", "ratio", "operators of a pass",
                     "kept a sample"], flops),
        steps=table(["script", "batch", *GPUS, *(f"shape, {gpu}" for gpu in GPUS)], steps),
        ratios=ratio_text(ratios))


def ratio_text(ratios):
    lines = []
    for name in dict.fromkeys(name for name, _ in ratios):
        values = [ratio for one, ratio in ratios if one == name]
        lines.append(f"`{name}` {min(values):.2f}–{max(values):.2f} (n = {len(values)})")
    return "; ".join(lines)


TEXT = """# Operators of scripts, found without a GPU

`stint profile --for V100-SXM2,A100-40GB-SXM,H100-SXM` ran each script on a processor for two steps
at each of two small batches of one to eight samples.
`tools/make_operators_doc.py build/release/stint` writes this page.
**No time on this page was measured on a GPU.** What is measured is the list of operators.

## Arithmetic of a sample, forward and backward

Counts by hand are in the tool, one formula a script: products and convolutions only, without the
gradients of inputs that nobody needs.

{flops}
## Predicted milliseconds of a step in FP32

Beside each prediction from operators is the one that `stint predict --model` makes from the shape of
the same model, where there is one; in parentheses the ratio of the first to the second. Both use the
same law (`predict/work_time.h`), which is fitted to published training speeds of models by their
shape. The batch is the script's own, per GPU.

{steps}
Ratios to the prediction from the shape: {ratios}.

Reasons for the differences: the shape counts attention as fused, halves it where it is causal, and
has one kernel for what a script writes as several; the small networks take as long as their kernels
take to launch, so that the number of operators decides. A script that is compiled or that calls
`scaled_dot_product_attention` is nearer to the shape: the other columns of `stint profile --for`
show by how much.
"""


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs/measured/operators.md"
    with tempfile.TemporaryDirectory() as folder:
        text = page(World(str(Path(sys.argv[1]).resolve()), folder))
    out.write_text(text)


if __name__ == "__main__":
    main()
