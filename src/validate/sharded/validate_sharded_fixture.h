#pragma once

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

#include "base/file.h"
#include "validate/sharded/validate_sharded.h"

namespace stint {

/// A made-up table in vTrain's form: 2, 4 and 8 GPUs, three depths; times by a plain rule.
inline std::string made_up_table(bool measured) {
  std::string text =
      "params_b,gpus,gpus_per_node,nodes,tp,dp,pp,global_batch,micro_batch,grad_accum,layers,"
      "hidden,heads,seq";
  text += measured ? ",iteration_s\n" : "\n";
  for (const int layers : {8, 16, 24}) {
    for (const int data : {1, 2, 4}) {
      for (const int tensor : {1, 2}) {
        text += fmt::format(",{},8,1,{},{},1,16,2,,{},1024,16,1024", data * tensor, tensor, data,
                            layers);
        const double seconds = 0.02 + layers * (0.06 + 0.01 * (tensor - 1)) / (data * tensor);
        text += measured ? fmt::format(",{:.6f}\n", seconds) : "\n";
      }
    }
  }
  return text;
}

inline std::string written_table(const std::string& name, const std::string& text) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_validate_sharded_test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, text).ok());
  return path;
}

inline ShardedRequest split_request() {
  return {.format = ShardedFormat::kVtrain,
          .train = {written_table("train.csv", made_up_table(true))},
          .split = "leave-one-layers-out"};
}

}  // namespace stint
