#!/usr/bin/python3
"""Fits data/calibration/work-model.json to published training speeds.

  tools/make_work_model.py STINT DATA OUT

STINT is the binary, which makes the jobs (`stint job new`); DATA holds the tables nvidia_dle,
llm_foundry, open_llm and timm. The law is that of src/predict/work_time.h; constants are fitted in
their logarithm with the priors of src/predict/work_time.cc. Rows of several GPUs are used only
where the table's training shards weights over fast links; the time of their communication is left
in, so that it is part of the fitted constants. No row of the published cases is read.
"""

import csv
import datetime
import json
import math
import re
import subprocess
import sys

import numpy

PRIORS = {
    "product_fp32": (1, 0.2), "product_tf32": (0.7, 0.3), "product_half": (0.75, 0.3),
    "convolution_fp32": (0.9, 0.4), "convolution_tf32": (0.4, 0.4),
    "convolution_half": (0.6, 0.4), "attention_share": (0.5, 0.4), "product_feed": (0.25, 0.5),
    "convolution_feed": (0.4, 0.5), "sweep_share": (0.7, 0.3), "map_sweep_share": (0.7, 0.3),
    "convolution_waves": (1, 0.7), "kernel": (8e-6, 0.5),
}
NAMES = list(PRIORS)
ENERGY = {"Volta": 14.7, "Ampere": 9.9, "Hopper": 5.9}
UNITS = {"FLOP": 1, "kFLOP": 1e3, "MFLOP": 1e6, "GFLOP": 1e9, "TFLOP": 1e12, "PFLOP": 1e15,
         "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 2**10, "MiB": 2**20,
         "GiB": 2**30, "TiB": 2**40}
KERNELS_UPDATE = 30
DEVIATION = 0.15  # Of the log of a row: frameworks and versions differ by as much.


def number(text):
    value, unit = text.split(" ")
    return float(value) * UNITS[unit.replace("/s", "")]


class World:
    def __init__(self, stint, data):
        self.stint, self.data, self.jobs = stint, data, {}
        gpus = json.load(open("data/catalog/gpus.json"))["gpus"]
        self.gpus = {gpu["name"]: gpu for gpu in gpus}
        model = json.load(open("data/calibration/device-model.json"))
        self.device = {c["name"]: math.exp(c["value"]) for c in model["constants"]
                       if c["scope"] == "accelerators"}
        self.differences = {(c["scope"][4:], c["name"]): c["value"] for c in model["constants"]
                            if c["scope"].startswith("gpu:")}

    def table(self, path):
        return csv.DictReader(open(f"{self.data}/{path}"))

    def job(self, words):
        if words not in self.jobs:
            done = subprocess.run([self.stint, "job", "new", *words.split()],
                                  capture_output=True, text=True, check=True)
            self.jobs[words] = json.loads(done.stdout)
        return self.jobs[words]

    def fp32_rate(self, gpu):
        """Of large products in FP32: issue, clock and the device's own difference."""
        peak = number(gpu["fp32"])
        full = gpu.get("lanes_per_scheduler") == 32
        issue = self.device["full_issue_share"] if full else 1
        clock = 1
        if gpu.get("board_power_watts") and gpu["architecture"] in ENERGY:
            room = gpu["board_power_watts"] / (ENERGY[gpu["architecture"]] * peak / 1e12)
            room /= self.device["power_knee"] * issue
            clock = (1 + room**-12) ** (-self.device["power_exponent"] / 12)
        own = math.exp(self.differences.get((gpu["name"], "arithmetic"), 0))
        return peak * issue * clock * own * self.device["product_utilisation"]


def seconds(world, row, x):
    """The law of src/predict/work_time.cc."""
    gpu, precision, work, batch = row["gpu"], row["precision"], row["work"], row["batch"]
    bandwidth = number(gpu["memory_bandwidth"])
    if precision == "fp32":
        product = world.fp32_rate(gpu) * x["product_fp32"]
        convolution = world.fp32_rate(gpu) * x["convolution_fp32"]
    else:
        peak = number(gpu["tf32" if precision == "tf32" else "fp16"]) * row.get("clock", 1)
        kind = "tf32" if precision == "tf32" else "half"
        above = peak / 1e14
        product = peak * x["product_" + kind] * above ** -x["product_feed"]
        convolution = peak * x["convolution_" + kind] * above ** -x["convolution_feed"]
    whole = number(work["update_moved"]) / row.get("shards", 1) / (bandwidth * x["sweep_share"])
    whole = (whole + KERNELS_UPDATE * x["kernel"]) / row.get("micro_steps", 1)
    for it in work["operators"]:
        flops = batch * number(it["flops"]) if "flops" in it else 0
        moved = batch * number(it["moved"]) if "moved" in it else 0
        moved += number(it["weights"]) if "weights" in it else 0
        memory = moved / (bandwidth * x["sweep_share"])
        kind = it["kind"]
        if kind in ("product", "attention"):
            rate = product * (x["attention_share"] if kind == "attention" else 1)
            once = ((flops / rate) ** 4 + memory**4) ** 0.25
        elif kind == "convolution":
            waste = x["convolution_waves"] * gpu.get("multiprocessors", 80) * 2 * 128**2 * 600
            once = (flops + waste) / convolution
        elif kind == "map-sweep":
            once = moved / (bandwidth * x["map_sweep_share"])
        else:
            once = memory
        once += it.get("kernels", 1) * x["kernel"]
        whole += it["count"] * (1 + it["backward"]) * once
    return whole


def config(folder, name, words):
    path = f"{folder}/{name}.json"
    json.dump(words, open(path, "w"))
    return path


IMAGES = {"RN50v1.5": "resnet50", "resnet50v1.5": "resnet50",
          "resnext101-32x4d": "resnext101-32x4d", "se-resnext101-32x4d": "se-resnext101-32x4d"}
PRECISIONS = {"mixed": "fp16", "TF32": "tf32", "FP32": "fp32"}


def nvidia_rows(world):
    for row in world.table("nvidia_dle/training_throughput.csv"):
        if row["num_gpus"] != "1":
            continue
        precision = PRECISIONS.get(row["precision"])
        size = "80" if "80" in row["gpu_mem_gb"] else "40"
        name = "V100-SXM2" if row["gpu"] == "V100" else f"A100-{size}GB-SXM"
        last = row["example"].split("/")[-1]
        speed = float(row["throughput"])
        if last in IMAGES and precision:
            batch = 256 if precision == "fp16" else 128
            words = f"--model {IMAGES[last]} --precision {precision}"
            yield {"gpu": name, "precision": precision, "batch": batch, "seconds": batch / speed,
                   "words": words, "table": "nvidia_dle images"}
        fine = "Fine" in row["heading"] and "SQuAD" not in row["heading"]
        if row["example"] == "PyTorch/LanguageModeling/BERT" and fine and precision:
            sizes = [int(it) for it in re.findall(r"\d+", row["batch"])]
            batch = sizes[-1] if precision == "fp16" else sizes[0]
            yield {"gpu": name, "precision": precision, "batch": batch, "seconds": batch / speed,
                   "words": f"--model bert-large --seq 384 --precision {precision}",
                   "table": "nvidia_dle bert"}


TIMM = {"resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "vgg16", "inception_v3",
        "darknet53", "resnext101_32x4d", "hrnet_w32", "resnet50d"}


def timm_rows(world):
    for row in world.table("timm/train_rtx3090.csv"):
        if row["model"] not in TIMM or not row["gmacs_forward"]:
            continue
        name = row["model"].replace("_", "-")
        batch = float(row["batch"])
        yield {"gpu": "RTX3090", "precision": "fp16", "batch": batch,
               "seconds": batch / float(row["train_samples_per_s"]),
               "words": f"--model {name} --precision fp16 --image {row['image_size']}",
               "table": "timm", "weight": 0.3}


def mpt_rows(world, folder):
    gpus = {"a100_80gb": "A100-80GB-SXM", "a100_40gb": "A100-40GB-SXM", "h100_80gb": "H100-SXM"}
    for row in world.table("llm_foundry/mpt_throughput.csv"):
        if int(row["gpus"]) > 8 or row["precision"] != "bf16" or row["gpu"] not in gpus:
            continue
        hidden, steps = int(row["hidden"]), int(row["grad_accum"])
        words = {"model_type": "gpt2", "n_embd": hidden, "n_layer": int(row["layers"]),
                 "n_head": int(row["heads"]), "n_positions": int(row["seq"]),
                 "vocab_size": int(row["vocab"])}
        path = config(folder, f"mpt-{row['model']}-{row['seq']}", words)
        again = "full" if row["activation_checkpointing"] == "True" else "none"
        yield {"gpu": gpus[row["gpu"]], "precision": "bf16", "batch": int(row["micro_batch"]),
               "seconds": float(row["iteration_s"]) / steps, "micro_steps": steps, "shards": 8,
               "words": f"--model {path} --seq {row['seq']} --samples 1000 --recompute {again}",
               "table": "llm_foundry", "weight": 0.3}


LLAMA = {"llama2-7b": "llama-2-7b", "llama2-13b": "llama-2-13b", "llama3.1-8b": "llama-3.1-8b"}


def fsdp_rows(world):
    for row in world.table("open_llm/fsdp_tables.csv"):
        gpus = {"A100-80GB": ("A100-80GB-SXM", 1), "H100": ("H100-SXM", 1)}
        if row["gpu"] not in gpus or row["precision"] != "bf16" or row["model"] not in LLAMA:
            continue
        name, clock = gpus[row["gpu"]]
        batch, seq = int(row["local_batch"]), int(row["seq"])
        yield {"gpu": name, "precision": "bf16", "batch": batch, "clock": clock,
               "seconds": batch * seq / float(row["tokens_per_s_per_gpu"]),
               "shards": int(row["gpus"]),
               "words": f"--model {LLAMA[row['model']]} --seq {seq} --samples 1000",
               "table": "open_llm"}


def fit(world, rows):
    prior = numpy.array([math.log(PRIORS[name][0]) for name in NAMES])
    spread = numpy.array([PRIORS[name][1] for name in NAMES])

    def residuals(logs):
        x = dict(zip(NAMES, numpy.exp(logs)))
        data = [math.log(seconds(world, row, x) / row["seconds"]) / DEVIATION *
                math.sqrt(row.get("weight", 1)) for row in rows]
        return numpy.array(data + list((logs - prior) / spread))

    logs, damping = prior.copy(), 1e-2
    for _ in range(60):
        now = residuals(logs)
        slopes = numpy.array([(residuals(logs + 1e-5 * unit) - now) / 1e-5
                              for unit in numpy.eye(len(logs))]).T
        square = slopes.T @ slopes
        step = -numpy.linalg.solve(square + damping * numpy.eye(len(logs)), slopes.T @ now)
        better = (residuals(logs + step) ** 2).sum() < (now**2).sum()
        logs, damping = (logs + step, damping / 2) if better else (logs, damping * 4)
        if better and numpy.abs(step).max() < 1e-6:
            break
    return logs, numpy.sqrt(numpy.diag(numpy.linalg.inv(square))), prior, spread


def left_out(world, rows):
    """Logarithms of predicted over measured seconds, each table predicted from the others."""
    errors = {}
    for table in sorted({row["table"] for row in rows}):
        logs, *_ = fit(world, [row for row in rows if row["table"] != table])
        x = dict(zip(NAMES, numpy.exp(logs)))
        errors[table] = [math.log(seconds(world, row, x) / row["seconds"])
                         for row in rows if row["table"] == table]
    return errors


def main():
    stint, data, out = sys.argv[1:4]
    world = World(stint, data)
    folder = subprocess.run(["mktemp", "-d"], capture_output=True, text=True).stdout.strip()
    rows = [*nvidia_rows(world), *timm_rows(world), *mpt_rows(world, folder), *fsdp_rows(world)]
    for row in rows:
        row["gpu"] = world.gpus[row["gpu"]]
        row["work"] = world.job(row["words"])["work"]
    logs, deviation, prior, spread = fit(world, rows)
    errors = left_out(world, rows)
    for table, logs_of in errors.items():
        ratios = numpy.exp(logs_of)
        print(f"{table}: n {len(ratios)}, median ratio {numpy.median(ratios):.2f}, "
              f"{ratios.min():.2f} to {ratios.max():.2f} (table left out)")
    # The deviation between tables and within them, each table counting once.
    whole = math.sqrt(numpy.mean([numpy.mean(numpy.square(it)) for it in errors.values()]))
    every = numpy.abs(numpy.expm1(sum(errors.values(), [])))
    constants = [{"name": name, "scope": "work", "value": round(float(logs[i]), 6),
                  "unit": "ln(s)" if name == "kernel" else "ln(1)",
                  "deviation": round(float(deviation[i]), 6), "prior_mean": round(float(prior[i]), 6),
                  "prior_deviation": float(spread[i]),
                  "identified": bool(deviation[i] < 0.9 * spread[i])}
                 for i, name in enumerate(NAMES)]
    constants.append({"name": "spread", "scope": "work", "value": round(whole, 6),
                      "unit": "ln(1)", "identified": False})
    document = {
        "schema": "stint.calibration/1", "name": "work-model",
        "date": datetime.date.today().isoformat(), "constants": constants,
        "data": [{"name": table, "provenance": PROVENANCE[table.split()[0]], "rows": len(it),
                  "devices": sorted({row["gpu"]["name"] for row in rows
                                     if row["table"] == table}),
                  "jobs": sorted({row["words"].split()[1].split("/")[-1] for row in rows
                                  if row["table"] == table})} for table, it in errors.items()],
        "accuracy": [{"name": "seconds of a training step", "split": "leave-one-table-out",
                      "n": len(every), "mape": float(every.mean()),
                      "median_ape": float(numpy.median(every)),
                      "p90_ape": float(numpy.quantile(every, 0.9))}]}
    text = json.dumps(document, indent=1)
    text = re.sub(r"\{\n\s+(\"name\"[^{}]*?)\n\s*\}",
                  lambda it: "{" + re.sub(r"\s*\n\s*", " ", it[1]) + "}", text)
    open(out, "w").write(text + "\n")
    print({name: round(math.exp(value), 7) for name, value in zip(NAMES, logs)}, "spread", whole)


PROVENANCE = {
    "nvidia_dle": "github.com/NVIDIA/DeepLearningExamples, tables of training performance",
    "timm": "github.com/huggingface/pytorch-image-models at aa4b5850c154, training on RTX 3090",
    "llm_foundry": "github.com/mosaicml/llm-foundry, tables of training throughput",
    "open_llm": "github.com/foundation-model-stack/fms-fsdp, table of training throughput",
}

if __name__ == "__main__":
    main()
