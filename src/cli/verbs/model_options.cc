#include "cli/verbs/model_options.h"

#include <fmt/format.h>

#include "models/model_job.h"

namespace stint::cli {
namespace {

/// A flag and the key of models/model_job.h that it sets.
struct ModelFlag {
  const char* option;
  const char* key;
};

constexpr ModelFlag kFlags[] = {
    {"--tokens", "tokens"},     {"--samples", "samples"},     {"--epochs", "epochs"},
    {"--seq", "seq"},           {"--image", "image"},         {"--precision", "precision"},
    {"--method", "method"},     {"--recompute", "recompute"}, {"--eval-every", "eval-every"},
    {"--train-batch", "batch"},
};

}  // namespace

std::vector<OptionSpec> model_options() {
  return {
      {.name = "--model",
       .value = "NAME|FILE",
       .help = "Known model ('stint models list'), or a config.json of Hugging Face; instead of "
               "--job.",
       .files = true},
      {.name = "--tokens", .value = "N", .help = "Tokens to train on, for example 100M."},
      {.name = "--samples", .value = "N", .help = "Samples of the data set."},
      {.name = "--epochs",
       .value = "N",
       .help = "Passes over the data set (default: customary for the model, else 1)."},
      {.name = "--seq",
       .value = "N",
       .help = "Tokens of a sample (default: customary for the model, at most 2048)."},
      {.name = "--image", .value = "N", .help = "Pixels of the side of an image."},
      {.name = "--precision",
       .value = "NAME",
       .help = "Numbers to compute with (default: mixed, 16 bits where the GPU has tensor units).",
       .choices = {"mixed", "bf16", "fp16", "tf32", "fp32", "fp8"}},
      {.name = "--method",
       .value = "NAME",
       .help = "Weights to train: full, lora[:RANK] or frozen[:LAYERS] (default: full)."},
      {.name = "--recompute",
       .value = "NAME",
       .help = "Activations to compute again in the backward pass (default: none).",
       .choices = {"none", "selective", "full"}},
      {.name = "--eval-every",
       .value = "N",
       .help = "Training samples between two evaluations (default: no evaluation)."},
      {.name = "--train-batch",
       .value = "N",
       .help = "Global batch of the training (default: customary for the model, else 128)."},
  };
}

bool has_model_options(const Invocation& invocation) { return invocation.has("--model"); }

Result<std::string> job_text(const Invocation& invocation) {
  if (!invocation.has("--model")) {
    for (const ModelFlag& it : kFlags) {
      // The goal of any job may be stated in epochs.
      const bool needed = std::string_view(it.option) != "--epochs";
      if (needed && invocation.has(it.option)) {
        return bad_usage(fmt::format("{} needs --model", it.option));
      }
    }
    return invocation.get("--job");
  }
  if (invocation.has("--job")) {
    return bad_usage("--job and --model exclude each other; give one of them");
  }
  const std::string model = invocation.get("--model");
  if (model.find(',') != std::string::npos) {
    return bad_usage("the path of --model must not contain a comma");
  }
  std::string text = "model:" + model;
  for (const ModelFlag& it : kFlags) {
    if (invocation.has(it.option)) {
      text += fmt::format(",{}={}", it.key, invocation.get(it.option));
    }
  }
  const auto training = parse_training(text);
  if (!training.ok()) return training.error();
  return to_text(*training);
}

}  // namespace stint::cli
