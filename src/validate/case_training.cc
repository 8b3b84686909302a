#include "validate/case_training.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "load/image_input.h"
#include "load/model_files.h"
#include "measure/tables/table_cells.h"
#include "models/model_job.h"
#include "predict/work_time.h"
#include "validate/case_facts.h"

namespace stint {
namespace {

constexpr std::int64_t kHeadUsual = 64;  // Width of a head of GPT, where only widths are named.
constexpr std::int64_t kGptVocabulary = 50257;
// About the mean length of an example of Alpaca with its prompt: an assumption, not counted.
constexpr std::int64_t kAlpacaTokens = 120;
constexpr int kLoraUsual = 8;  // Rank that PEFT and torchtune take by default.

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The number right before `word`, or right after it for "hidden 1536".
std::optional<std::int64_t> number_beside(const std::string& text, std::string_view word) {
  const auto words = split(text, ' ');
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string plain(trim(words[i]));
    const bool meant = plain.starts_with(word) || plain.starts_with("(" + std::string(word));
    if (!meant) continue;
    const auto clean = [](std::string part) {
      while (!part.empty() && !is_digit(part.back())) part.pop_back();
      return whole_of(part);
    };
    if (i + 1 < words.size()) {
      if (const auto after = clean(words[i + 1])) return after;
    }
    if (i > 0) {
      if (const auto before = clean(words[i - 1])) return before;
    }
  }
  return std::nullopt;
}

/// "GPT 498M (hidden 1536, 16 layers)".
std::optional<KnownModel> described_model(const PublishedCase& it) {
  const auto hidden = number_beside(it.model, "hidden");
  const auto layers = number_beside(it.model, "layers");
  if (!it.model.starts_with("GPT") || !hidden || !layers) return std::nullopt;
  const std::int64_t positions = static_cast<std::int64_t>(it.size.value_or(2048));
  KnownModel model{.name = it.model, .family = "GPT", .source = it.source};
  model.shape = ModelShape{.layers = *layers,
                           .hidden = *hidden,
                           .heads = std::max<std::int64_t>(1, *hidden / kHeadUsual),
                           .feed_forward = 4 * *hidden,
                           .vocabulary = kGptVocabulary,
                           .positions = positions,
                           .position_rows = positions,
                           .tied = true};
  return model;
}

bool reads_text(const KnownModel& model) { return model.shape && !model.shape->patch_size; }

Result<WorkPrecision> precision_of(const PublishedCase& it, const KnownModel& model,
                                   std::vector<std::string>& assumed) {
  const std::string text = to_lower(it.precision);
  if (text.starts_with("bf16")) return WorkPrecision::kBf16;
  if (text == "fp32") return WorkPrecision::kFp32;
  if (text == "tf32") return WorkPrecision::kTf32;
  if (!text.empty()) return WorkPrecision::kMixed;
  if (reads_text(model)) {
    assumed.emplace_back("the precision is not stated, mixed is assumed");
    return WorkPrecision::kMixed;
  }
  assumed.emplace_back("the precision is not stated, FP32 is assumed, which frameworks begin with");
  return WorkPrecision::kFp32;
}

/// What the words of the task say of the method; an error where it is not modelled.
Status set_method(const PublishedCase& it, ModelTraining& training,
                  std::vector<std::string>& assumed) {
  const std::string task = to_lower(it.task);
  if (has(task, "qlora") || has(task, "nf4") || has(task, "8-bit")) {
    return bad_input("weights or states of fewer than 16 bits are not modelled");
  }
  if (has(task, "offload")) return bad_input("memory of the host is not modelled");
  if (has(task, "optimizer in backward")) {
    return bad_input("an optimizer that steps in the backward pass is not modelled");
  }
  // Every row of this table adds a technique to the one before (PROVENANCE.md of the cases).
  const bool adds_up = it.group == "torchtune-32";
  const bool memory = it.metric == CaseMetric::kPeakMemory;
  const bool chunked = has(task, "chunked") || has(task, "checkpointing");
  if (adds_up && memory && (chunked || has(task, "lora"))) {
    return bad_input("a loss that is computed in chunks is not modelled");
  }
  if (memory && has(task, "baseline")) {
    return bad_input("the sequences are not packed, and their lengths are not stated");
  }
  if (has(task, "lora")) {
    training.method = TrainMethod{.kind = TrainMethod::Kind::kLora, .rank = kLoraUsual};
    assumed.push_back(fmt::format("the rank is not stated, {} is assumed", kLoraUsual));
  }
  if (has(task, "activation checkpointing")) training.recompute = Recompute::kFull;
  const bool padded = has(task, "baseline") && it.metric == CaseMetric::kTokensPerSecond;
  if (padded) return bad_input("the sequences are not packed, and their lengths are not stated");
  return {};
}

Status set_size(const PublishedCase& it, const KnownModel& model, ModelTraining& training,
                std::vector<std::string>& assumed) {
  if (!model.shape || model.shape->patch_size) {
    const bool other = it.size && model.image && *it.size != model.image->side;
    if (other) training.image = static_cast<std::int64_t>(*it.size);
    return {};
  }
  if (it.size) {
    training.sequence = static_cast<std::int64_t>(*it.size);
    return {};
  }
  // A mean says how long a step takes, and nothing of the longest, which needs the most memory.
  const bool alpaca = has(it.task, "Alpaca") && it.metric != CaseMetric::kPeakMemory;
  if (alpaca) {
    training.sequence = kAlpacaTokens;
    assumed.push_back(
        fmt::format("sequences of {} tokens are assumed, the mean of Alpaca", kAlpacaTokens));
    return {};
  }
  const bool squad = has(it.model, "SQuAD");
  if (squad) {
    training.sequence = 384;
    assumed.emplace_back("sequences of 384 tokens are assumed, which the script has");
    return {};
  }
  return bad_input("the length of a sequence is not stated");
}

/// The samples of one worker and the micro-steps.
Status set_batch(const PublishedCase& it, const KnownModel& model, CaseTraining& training) {
  const int workers = it.workers.value_or(1);
  std::optional<int> global = it.global_batch;
  if (!global && it.tokens_batch && it.size) {
    global = static_cast<int>(std::llround(*it.tokens_batch / *it.size));
  }
  if (const auto batch = batch_of(it)) {
    training.batch = batch->value;
    if (!batch->assumed.empty()) training.assumed.push_back(batch->assumed);
  } else if (global && *global >= workers) {
    // What fits is not known: a text model takes micro-steps of 16 sequences, an image model none.
    constexpr int kSequencesUsual = 16;
    const int most = model.shape ? kSequencesUsual : *global;
    training.batch = std::min(*global / workers, most);
    training.assumed.push_back(
        fmt::format("micro-steps of {} samples are assumed", training.batch));
  } else {
    return bad_input("the batch is not stated");
  }
  if (global) training.accumulation = std::max(1, *global / (training.batch * workers));
  return {};
}

}  // namespace

Result<KnownModel> model_of_case(const PublishedCase& it) {
  if (const auto described = described_model(it)) return *described;
  std::string_view name = trim(std::string_view(it.model).substr(0, it.model.find('(')));
  for (const std::string_view ending : {" SQuAD", " class", " 1x", " 2x"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  const auto known = find_model(known_models(), name);
  if (known.ok()) return **known;
  return bad_input(fmt::format("the model {} is not known", printable(it.model)));
}

Result<CaseTraining> training_of_case(const PublishedCase& it, const Gpu& gpu) {
  const auto model = model_of_case(it);
  if (!model.ok()) return model.error();
  CaseTraining training;
  ModelTraining asked{.model = model->name, .samples = 1};
  const auto precision = precision_of(it, *model, training.assumed);
  if (!precision.ok()) return precision.error();
  asked.precision = *precision;
  if (!precision_on(gpu, *precision)) asked.precision = WorkPrecision::kMixed;
  for (const Status& status :
       {set_method(it, asked, training.assumed), set_size(it, *model, asked, training.assumed),
        set_batch(it, *model, training)}) {
    if (!status.ok()) return status.error();
  }
  asked.batch = training.batch;
  auto job = model_job(*model, asked, image_input_without(it.group));
  if (!job.ok()) return job.error();
  training.job = std::move(*job);
  if (has(to_lower(it.task), "synthetic")) training.job.work->input.reset();
  return training;
}

bool precision_is_open(const PublishedCase& it, const Gpu& gpu) {
  const auto model = model_of_case(it);
  return it.precision.empty() && model.ok() && !reads_text(*model) &&
         precision_on(gpu, WorkPrecision::kMixed) != precision_on(gpu, WorkPrecision::kFp32);
}

}  // namespace stint
