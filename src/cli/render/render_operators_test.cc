#include "cli/render/render_operators.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

ProfileForReport report() {
  ProfileForReport made{.batches = {4, 8}, .batch = 64};
  made.job = {.name = "train",
              .gradient_bytes = 4 * kMB,
              .parameter_bytes = 4 * kMB,
              .optimizer_bytes = 8 * kMB,
              .flops_per_sample = 2.5e9 * kFlop};
  made.job.work = JobWork{.model = "train",
                          .precision = WorkPrecision::kFp32,
                          .activations = 3 * kMB,
                          .workspace = 500 * kMB,
                          .notes = {"Nobody measured it."}};
  made.counts = {.products = 6, .convolutions = 3, .batched = 4, .sweeps = 20};
  made.steps = {{.gpu = "A100-40GB-SXM",
                 .forward = 1 * kMillisecond,
                 .backward = 2 * kMillisecond,
                 .update = 1 * kMillisecond,
                 .lower = 3 * kMillisecond,
                 .upper = 5 * kMillisecond,
                 .memory = 700 * kMB,
                 .fits = false}};
  made.effects = {{.name = "as it is", .kernels = 33, .steps = {4 * kMillisecond}},
                  {.name = "autocast", .kernels = 39, .steps = {2.5 * kMillisecond}}};
  return made;
}

// 64 samples in 4 ms: 16 000 in a second.
TEST(RenderOperators, ShowsStepsIntervalsAndChanges) {
  const std::string text = profile_for_text(report(), Terminal{.width = 140});
  for (const char* part :
       {"train: a step of 64 samples per GPU, predicted; nobody measured it", "A100-40GB-SXM",
        "4.00 ms (3–5)", "1.6e+04", "700 MB, too much", "autocast", "2.50 ms",
        "On this processor with batches of 4 and 8.",
        "33 in a pass, forward and backward: 6 products, 3 convolutions, 4 batched products, 20",
        "2.5 GFLOP a sample", "fp32.", "Nobody measured it."}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

}  // namespace
}  // namespace stint::cli
