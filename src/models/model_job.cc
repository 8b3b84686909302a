#include "models/model_job.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"

namespace stint {
namespace {

constexpr std::string_view kPrefix = "model:";
constexpr int kRankMax = 4096;
constexpr double kAmountMax = 1e18;

// A sweep between two convolutions: the convolution writes, the norm reads twice and writes, the
// activation reads and writes; backward reads and writes each again with its gradient.
constexpr double kMapPasses = 6;
constexpr double kMapBackward = 1.7;
constexpr double kMapKernels = 2;     // Norm and activation.
constexpr int kSequencesUsual = 128;  // Alpaca's batch, where none is customary or given.
constexpr double kEvaluationUsual = 1000;

/// How wide the numbers of a training are.
struct Widths {
  Bytes trained;  // A weight that is trained,
  Bytes frozen;   // and one that is not.
  Bytes gradient;
  Bytes computed;       // A number in a pass.
  bool copies = false;  // Trained weights are also kept in 16 bits.
};

Widths widths_of(WorkPrecision precision) {
  switch (precision) {
    case WorkPrecision::kFp32:
    case WorkPrecision::kTf32:
      return {4 * kByte, 4 * kByte, 4 * kByte, 4 * kByte};
    case WorkPrecision::kBf16:
    case WorkPrecision::kFp16:
      return {2 * kByte, 2 * kByte, 2 * kByte, 2 * kByte};
    case WorkPrecision::kMixed:
    case WorkPrecision::kFp8:
      return {4 * kByte, 2 * kByte, 4 * kByte, 2 * kByte, true};
  }
  return {};
}

/// A profile on its way, with what it was made of.
struct Draft {
  const KnownModel& model;
  const ModelTraining& training;
  TrainMethod method;
  Widths widths;
  JobProfile job;
  JobWork work;
  double trained = 0;  // Numbers.
  double total = 0;

  void note(std::string text) { work.notes.push_back(std::move(text)); }
};

void set_states(Draft& draft, bool adam) {
  const double frozen = draft.total - draft.trained;
  const Bytes weight = draft.widths.trained;
  const double states = adam ? 2 : 1;
  draft.job.gradient_bytes = draft.trained * draft.widths.gradient;
  draft.job.parameter_bytes = draft.trained * weight + frozen * draft.widths.frozen;
  draft.job.optimizer_bytes = states * draft.trained * weight;
  // Reads weight, gradient and states, writes weight and states.
  draft.work.update_moved = draft.trained * (weight * (2 + 2 * states) + draft.widths.gradient);
  draft.work.workspace = kLibraryWorkspace;
  if (draft.widths.copies) *draft.work.workspace += draft.trained * 2 * kByte;
  draft.job.checkpoint = {.bytes = draft.trained * weight * (1 + states)};
}

double adapter_count(const ModelShape& shape, int rank) {
  double sum = 0;
  const auto add = [&](bool decoder, double layers) {
    for (const LinearLayer& it : linear_layers(shape, decoder)) {
      if (it.name == "router") continue;
      sum += layers * it.copies * rank * (it.inputs + it.outputs);
    }
  };
  add(false, static_cast<double>(shape.layers));
  if (shape.decoder_layers) add(true, static_cast<double>(*shape.decoder_layers));
  return sum;
}

Result<std::int64_t> sequence_of(const Draft& draft) {
  const ModelShape& shape = *draft.model.shape;
  if (shape.patch_size) return tokens_of(shape, 0);
  std::int64_t customary = std::min<std::int64_t>(shape.positions, 2048);
  if (draft.model.goal && draft.model.goal->sequence) customary = *draft.model.goal->sequence;
  const std::int64_t sequence = draft.training.sequence.value_or(customary);
  if (sequence <= shape.positions || shape.relative_buckets) return sequence;
  return bad_usage(
      fmt::format("a sequence of {} tokens is longer than the {} that {} was made for; "
                  "use --seq {} or less",
                  sequence, shape.positions, draft.model.name, shape.positions));
}

Status set_transformer(Draft& draft) {
  const ModelShape& shape = *draft.model.shape;
  const auto sequence = sequence_of(draft);
  if (!sequence.ok()) return sequence.error();
  const ParameterCount count = parameters(shape);
  draft.total = count.total;
  LayerWork layers{.sequence = static_cast<double>(*sequence), .value = draft.widths.computed};
  layers.again = draft.training.recompute == Recompute::kFull ? 1 : 0;
  const std::int64_t all = shape.layers + shape.decoder_layers.value_or(0);
  draft.trained = count.total;
  if (draft.method.kind == TrainMethod::Kind::kLora) {
    layers.rank = draft.method.rank;
    draft.trained = adapter_count(shape, draft.method.rank);
    draft.total += draft.trained;
    draft.note(fmt::format("Adapters of rank {} on every linear layer: {:.1f} M parameters.",
                           draft.method.rank, draft.trained / 1e6));
  }
  if (draft.method.kind == TrainMethod::Kind::kFrozen) {
    layers.frozen = draft.method.layers.value_or(all);
    if (layers.frozen > all) {
      return bad_usage(fmt::format("{} has {} layers, so {} cannot be frozen", draft.model.name,
                                   all, layers.frozen));
    }
    const double first = static_cast<double>(std::min(layers.frozen, shape.layers));
    const double rest = static_cast<double>(layers.frozen) - first;
    draft.trained =
        count.total - count.embeddings - first * count.layer - rest * count.decoder_layer;
    if (shape.tied) draft.trained += static_cast<double>(shape.vocabulary * shape.hidden);
    if (shape.decoder_layers && layers.frozen == all) layers.frozen = all;
  }
  draft.work.operators = layer_operators(shape, layers);
  const KeptBytes kept = kept_bytes(shape, layers, layers.again > 0);
  const double kept_layers = static_cast<double>(all - std::min(layers.frozen, all));
  Bytes activations = kept_layers * kept.layer + kept.ends;
  // One layer at a time is computed again, and keeps what it kept without recomputation.
  if (layers.again > 0) activations += kept_bytes(shape, layers, false).layer;
  if (draft.training.recompute == Recompute::kSelective) {
    draft.note("Attention is fused in any case, so that selective recomputation changes nothing.");
  }
  draft.work.activations = activations;
  if (!shape.patch_size) draft.work.sequence = *sequence;
  set_states(draft, true);
  draft.job.training = TrainingMethod{.optimizers = {"AdamW"}};
  return {};
}

void set_image(Draft& draft) {
  const ImageFacts& facts = *draft.model.image;
  const double side = static_cast<double>(draft.training.image.value_or(0));
  const double area = side > 0 ? side * side / (facts.side * facts.side) : 1;
  const bool frozen = draft.method.kind == TrainMethod::Kind::kFrozen;
  draft.total = facts.parameters;
  draft.trained = facts.parameters;
  if (frozen) draft.trained = std::max(1.0, facts.head_parameters);
  const Bytes value = draft.widths.computed;
  const double again = draft.training.recompute == Recompute::kFull ? 1 : 0;
  const double each = area / facts.convolutions;
  draft.work.operators = {{.kind = WorkKind::kConvolution,
                           .name = "convolutions",
                           .count = facts.convolutions,
                           .flops = 2 * each * facts.multiply_adds * kFlop,
                           .kernels = 1,
                           .backward = frozen ? 0 : 2 + again},
                          {.kind = WorkKind::kMapSweep,
                           .name = "norms, activations, sums",
                           .count = facts.convolutions,
                           .moved = kMapPasses * each * facts.activations * value,
                           .kernels = kMapKernels,
                           .backward = frozen ? 0 : kMapBackward + again}};
  // Recomputed feature maps are kept at the square root of the layers (Chen et al. 2016).
  double kept = facts.maps_kept * area * facts.activations;
  if (again > 0) kept *= 2 / std::sqrt(facts.convolutions);
  if (frozen) kept = 0;
  draft.work.activations = std::max(kept, 1.0) * value;
  set_states(draft, false);
  draft.job.training = TrainingMethod{.optimizers = {"SGD"}};
}

void set_input(Draft& draft, const ImageInput& input) {
  draft.work.input = input.typical();
  draft.note(fmt::format(
      "Reading an image is assumed to take {:.1f} ms of a vCPU, between bounds of {:.1f} "
      "and {:.1f} ms that published trainings set.",
      input.typical().in(kMillisecond), input.low.in(kMillisecond), input.high.in(kMillisecond)));
}

/// Samples of a pass, epochs and batch, with a note for each that is customary.
Status set_goal(Draft& draft) {
  const ModelTraining& asked = draft.training;
  const auto& customary = draft.model.goal;
  std::optional<double> samples = asked.samples;
  double epochs = asked.epochs.value_or(1);
  if (asked.tokens) {
    if (!draft.work.sequence) return bad_usage("--tokens needs a model of text; use --samples");
    samples = std::ceil(*asked.tokens / static_cast<double>(*draft.work.sequence));
  }
  if (!samples && customary && customary->samples > 0) {
    samples = customary->samples;
    if (!asked.epochs) epochs = customary->epochs;
    draft.note(fmt::format("{}: {} {} of {} ({:.0f} samples).",
                           asked.epochs ? "Data set assumed" : "Goal assumed", epochs,
                           epochs == 1 ? "pass" : "epochs", customary->data, *samples));
  }
  if (!samples) {
    return bad_usage(fmt::format("{} has no customary goal; say how long to train: {}",
                                 draft.model.name,
                                 draft.work.sequence ? "--tokens 100M, or --samples and --epochs"
                                                     : "--samples and --epochs"));
  }
  draft.job.samples_per_epoch = static_cast<std::int64_t>(std::llround(*samples));
  draft.job.goal = Goal{.epochs = epochs};
  int batch = asked.batch.value_or(0);
  if (batch == 0) {
    const bool known = customary && customary->batch > 0;
    batch = known ? customary->batch : kSequencesUsual;
    draft.note(fmt::format("Global batch assumed: {}.", batch));
  }
  draft.job.batch = BatchRange{.reference = batch};
  return {};
}

void set_evaluation(Draft& draft) {
  if (!draft.training.eval_every) return;
  const bool known = draft.model.goal && draft.model.goal->evaluation_samples > 0;
  const double samples = known ? draft.model.goal->evaluation_samples : kEvaluationUsual;
  draft.work.evaluation = Evaluation{.samples = samples, .every = *draft.training.eval_every};
  draft.note(fmt::format("An evaluation of {:.0f} samples after every {:.0f} training samples.",
                         samples, *draft.training.eval_every));
}

Result<std::int64_t> positive_number(std::string_view key, std::string_view text, double max) {
  const auto amount = parse_amount(text);
  const bool whole = amount && *amount >= 1 && *amount <= max && *amount == std::floor(*amount);
  if (whole) return static_cast<std::int64_t>(*amount);
  return bad_usage(
      fmt::format("{} must be a whole number from 1 to {:g}, not '{}'", key, max, printable(text)));
}

Result<double> amount_of(std::string_view key, std::string_view text) {
  const auto amount = parse_amount(text);
  if (amount && *amount > 0 && *amount <= kAmountMax) return *amount;
  return bad_usage(
      fmt::format("{} must be a number above zero such as 100M, not '{}'", key, printable(text)));
}

template <ANamedEnum E>
Result<E> named(std::string_view key, std::string_view text) {
  std::vector<std::string> names;
  for (const auto& [value, name] : names_of(E{})) {
    if (text == name) return value;
    names.emplace_back(name);
  }
  return bad_usage(
      fmt::format("{} must be one of {}, not '{}'", key, join(names, ", "), printable(text)));
}

/// Puts `result` into `place` or returns its error.
template <class T, class Place>
Status put(const Result<T>& result, Place& place) {
  if (!result.ok()) return result.error();
  place = *result;
  return {};
}

constexpr double kSequenceMax = 1e8;
constexpr double kImageMax = 1e5;

Status set_key(ModelTraining& training, std::string_view key, std::string_view text) {
  if (key == "tokens") return put(amount_of("--tokens", text), training.tokens);
  if (key == "samples") return put(amount_of("--samples", text), training.samples);
  if (key == "epochs") return put(amount_of("--epochs", text), training.epochs);
  if (key == "seq") return put(positive_number("--seq", text, kSequenceMax), training.sequence);
  if (key == "image") return put(positive_number("--image", text, kImageMax), training.image);
  if (key == "eval-every") return put(amount_of("--eval-every", text), training.eval_every);
  if (key == "precision") return put(named<WorkPrecision>("--precision", text), training.precision);
  if (key == "recompute") return put(named<Recompute>("--recompute", text), training.recompute);
  if (key == "method") return put(parse_method(text), training.method);
  if (key == "batch") {
    const auto batch = positive_number("--batch", text, kBatchMax);
    if (!batch.ok()) return batch.error();
    training.batch = static_cast<int>(*batch);
    return {};
  }
  return bad_usage(fmt::format("a training of a model has no '{}'", printable(key)));
}

}  // namespace

std::optional<double> parse_amount(std::string_view text) {
  double factor = 1;
  if (!text.empty() && !is_digit(text.back())) {
    switch (text.back()) {
      case 'k':
      case 'K':
        factor = 1e3;
        break;
      case 'M':
      case 'm':
        factor = 1e6;
        break;
      case 'B':
      case 'G':
        factor = 1e9;
        break;
      case 'T':
        factor = 1e12;
        break;
      default:
        return std::nullopt;
    }
    text.remove_suffix(1);
  }
  const auto number = parse_double(text);
  if (!number) return std::nullopt;
  return *number * factor;
}

Result<TrainMethod> parse_method(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const bool numbered = colon != std::string_view::npos;
  const auto number = numbered ? parse_int(text.substr(colon + 1)) : std::nullopt;
  TrainMethod method;
  if (kind == "full" && !numbered) return method;
  if (kind == "lora") {
    method.kind = TrainMethod::Kind::kLora;
    if (!numbered) return method;
    if (!number || *number < 1 || *number > kRankMax) {
      return bad_usage(fmt::format("the rank of LoRA must be from 1 to {}, not '{}'", kRankMax,
                                   printable(text.substr(colon + 1))));
    }
    method.rank = *number;
    return method;
  }
  if (kind == "frozen") {
    method.kind = TrainMethod::Kind::kFrozen;
    if (!numbered) return method;
    if (number && *number >= 1) {
      method.layers = *number;
      return method;
    }
  }
  return bad_usage(
      fmt::format("--method must be full, lora, lora:RANK, frozen or frozen:LAYERS, "
                  "not '{}'",
                  printable(text)));
}

std::string to_text(const TrainMethod& method) {
  switch (method.kind) {
    case TrainMethod::Kind::kFull:
      return "full";
    case TrainMethod::Kind::kLora:
      return fmt::format("lora:{}", method.rank);
    case TrainMethod::Kind::kFrozen:
      return method.layers ? fmt::format("frozen:{}", *method.layers) : "frozen";
  }
  return "";
}

bool names_model(std::string_view job) { return job.starts_with(kPrefix); }

Result<ModelTraining> parse_training(std::string_view job) {
  const auto parts = split(job.substr(std::min(job.size(), kPrefix.size())), ',');
  ModelTraining training{.model = parts.front()};
  if (training.model.empty()) return bad_usage("--model is required: a known model or config.json");
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return bad_usage(
          fmt::format("'{}' of the job {} must be KEY=VALUE", printable(part), printable(job)));
    }
    const Status status = set_key(training, part.substr(0, equals), part.substr(equals + 1));
    if (!status.ok()) return status.error();
  }
  return training;
}

std::string to_text(const ModelTraining& training) {
  std::string text = fmt::format("{}{}", kPrefix, training.model);
  const auto add = [&](const char* key, const auto& value) {
    if (value) text += fmt::format(",{}={:.15g}", key, static_cast<double>(*value));
  };
  add("tokens", training.tokens);
  add("samples", training.samples);
  add("epochs", training.epochs);
  add("seq", training.sequence);
  add("image", training.image);
  add("batch", training.batch);
  add("eval-every", training.eval_every);
  if (training.precision) text += fmt::format(",precision={}", name_of(*training.precision));
  if (training.method) text += ",method=" + to_text(*training.method);
  if (training.recompute != Recompute::kNone) {
    text += fmt::format(",recompute={}", name_of(training.recompute));
  }
  return text;
}

Result<JobProfile> model_job(const KnownModel& model, const ModelTraining& training,
                             const ImageInput& input) {
  const WorkPrecision precision = training.precision.value_or(WorkPrecision::kMixed);
  Draft draft{.model = model, .training = training, .widths = widths_of(precision)};
  if (training.method) {
    draft.method = *training.method;
  } else if (!model.method.empty()) {
    const auto customary = parse_method(model.method);
    if (!customary.ok()) return customary.error();
    draft.method = *customary;
  }
  const bool lora = draft.method.kind == TrainMethod::Kind::kLora;
  if (lora && !model.shape) {
    return bad_usage(
        fmt::format("{} is an image model, which LoRA is not modelled for; use "
                    "--method full or frozen",
                    model.name));
  }
  draft.work.model = model.name;
  draft.note(
      fmt::format("Nobody measured the times: they are computed from {}.",
                  model.shape ? "the shape of " + model.name : "the figures of " + model.name));
  draft.work.method = to_text(draft.method);
  draft.work.recompute = name_of(training.recompute);
  draft.work.precision = precision;
  if (model.shape) {
    const Status status = set_transformer(draft);
    if (!status.ok()) return status.error();
  } else {
    set_image(draft);
  }
  const Status goal = set_goal(draft);
  if (!goal.ok()) return goal.error();
  set_evaluation(draft);
  if (!model.shape || model.shape->patch_size) set_input(draft, input);
  draft.job.name = draft.method.kind == TrainMethod::Kind::kFull
                       ? model.name
                       : fmt::format("{}-{}", model.name, split(*draft.work.method, ':').front());
  draft.job.description = fmt::format(
      "{}, {:.4g} M parameters of which {:.4g} M are trained; computed from {}, nobody "
      "measured it.",
      model.name, draft.total / 1e6, draft.trained / 1e6, model.source);
  draft.job.flops_per_sample = flops_per_sample(draft.work);
  draft.job.learning_rate_rule = std::nullopt;
  draft.job.work = std::move(draft.work);
  return std::move(draft.job);
}

}  // namespace stint
