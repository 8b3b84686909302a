#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "calibrate/sharded/sharded_case.h"

namespace stint {

/// A catalogue with one accelerator.
inline Catalog sharded_catalog() {
  Catalog catalog;
  Gpu gpu{.name = "A100-80GB-SXM"};
  gpu.memory_bandwidth = 2 * kTB / kSecond;
  gpu.fp16 = 312 * kTeraflop / kSecond;
  gpu.link_bandwidth = 600 * kGB / kSecond;
  gpu.multiprocessors = 108;
  catalog.gpus.push_back(gpu);
  return catalog;
}

/// A made-up training of a model of so many layers on VMs of eight.
inline ShardedRow sharded_row(int layers, const ParallelLayout& layout, double batch) {
  ShardedRow row{.table = "made up", .job = std::to_string(layers) + " layers"};
  row.gpu = "A100-80GB-SXM";
  row.shape.layers = layers;
  row.shape.hidden = 2048;
  row.shape.heads = 16;
  row.shape.vocabulary = 32000;
  row.sequence = 1024;
  row.global_batch = batch;
  row.layout = layout;
  row.gpus = static_cast<int>(workers(layout));
  row.network = 50 * kGB / kSecond;
  row.choice = row.job + ", " + std::to_string(row.gpus);
  return row;
}

/// Rows of several depths, degrees and batches whose times follow `law`, times exp(noise).
inline std::vector<ShardedCase> made_up_cases(const ShardedLaw& law, double noise) {
  std::vector<ShardedRow> rows;
  for (const int layers : {8, 16, 24, 32}) {
    for (const int data : {1, 2, 8, 16}) {
      for (const int tensor : {1, 2}) {
        for (const int pipeline : {1, 2}) {
          const ParallelLayout layout{.data = data, .tensor = tensor, .pipeline = pipeline};
          rows.push_back(sharded_row(layers, layout, 32));
        }
      }
    }
  }
  std::vector<ShardedCase> cases = sharded_cases(rows, sharded_catalog());
  Random random(5);
  for (ShardedCase& it : cases) {
    const double off = noise * (2 * random.uniform() - 1);
    it.row.time = std::exp(off) * sharded_step(it.setup, law).total();
  }
  return cases;
}

inline std::vector<const ShardedCase*> pointers_to(const std::vector<ShardedCase>& cases) {
  std::vector<const ShardedCase*> pointers;
  for (const ShardedCase& it : cases) pointers.push_back(&it);
  return pointers;
}

}  // namespace stint
