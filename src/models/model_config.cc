#include "models/model_config.h"

#include <cmath>
#include <fmt/format.h>
#include <initializer_list>

#include "base/text.h"

namespace stint {
namespace {

using Keys = std::initializer_list<std::string_view>;

constexpr std::int64_t kNumberMax = 1'000'000'000;

/// Takes numbers out of a configuration and remembers the first that is missing or wrong.
class ConfigReader {
 public:
  ConfigReader(const Json& config, const std::string& source) : config_(config), source_(source) {}

  /// The first of `keys` that is there, if it is a whole number above zero.
  std::optional<std::int64_t> optional(Keys keys) {
    for (const std::string_view key : keys) {
      const Json* found = config_.find(key);
      if (found == nullptr || found->as<std::nullptr_t>() != nullptr) continue;
      const auto* number = found->as<std::int64_t>();
      if (number != nullptr && *number > 0 && *number <= kNumberMax) return *number;
      fail(fmt::format("{} must be a whole number from 1 to {}", key, kNumberMax));
      return std::nullopt;
    }
    return std::nullopt;
  }

  std::int64_t required(Keys keys) {
    const auto value = optional(keys);
    if (!value) fail(fmt::format("{} is required", *keys.begin()));
    return value.value_or(1);
  }

  bool flag(std::string_view key, bool absent) const {
    const Json* found = config_.find(key);
    if (found == nullptr || found->as<bool>() == nullptr) return absent;
    return *found->as<bool>();
  }

  std::string text(std::string_view key) const {
    const Json* found = config_.find(key);
    const auto* value = found == nullptr ? nullptr : found->as<std::string>();
    return value == nullptr ? "" : *value;
  }

  /// The number of classes: num_labels, or the entries of id2label, or what is usual.
  std::int64_t classes(std::int64_t usual) {
    if (const auto labels = optional({"num_labels", "num_classes"})) return *labels;
    const Json* found = config_.find("id2label");
    const auto* labels = found == nullptr ? nullptr : found->as<Json::Object>();
    return labels == nullptr ? usual : static_cast<std::int64_t>(labels->size());
  }

  const std::optional<std::string>& error() const { return error_; }

  void fail(const std::string& message) {
    if (!error_) error_ = fmt::format("{}: {}", source_, message);
  }

 private:
  const Json& config_;
  const std::string& source_;
  std::optional<std::string> error_;
};

/// What all decoders since Llama share.
ModelShape llama_like(ConfigReader& config) {
  ModelShape shape{.layers = config.required({"num_hidden_layers"}),
                   .hidden = config.required({"hidden_size"}),
                   .heads = config.required({"num_attention_heads"}),
                   .kv_heads = config.optional({"num_key_value_heads"}),
                   .head_size = config.optional({"head_dim"}),
                   .feed_forward = config.required({"intermediate_size"}),
                   .vocabulary = config.required({"vocab_size"}),
                   .positions = config.required({"max_position_embeddings"}),
                   .gated = true,
                   .tied = config.flag("tie_word_embeddings", false)};
  const bool biased = config.flag("attention_bias", false);
  shape.query_bias = biased;
  shape.output_bias = biased;
  return shape;
}

ModelShape qwen2(ConfigReader& config) {
  ModelShape shape = llama_like(config);
  shape.query_bias = true;
  return shape;
}

ModelShape qwen3(ConfigReader& config) {
  ModelShape shape = llama_like(config);
  shape.query_norm = true;
  return shape;
}

ModelShape gemma(ConfigReader& config) {
  ModelShape shape = llama_like(config);
  shape.tied = config.flag("tie_word_embeddings", true);
  return shape;
}

ModelShape gemma2(ConfigReader& config) {
  ModelShape shape = gemma(config);
  shape.norms = 4;
  return shape;
}

ModelShape mixtral(ConfigReader& config) {
  ModelShape shape = llama_like(config);
  shape.experts = config.required({"num_local_experts"});
  shape.experts_used = config.required({"num_experts_per_tok"});
  return shape;
}

/// Biases everywhere, one norm for attention and feed-forward network together.
ModelShape phi(ConfigReader& config) {
  ModelShape shape = llama_like(config);
  shape.gated = false;
  shape.norms = 1;
  shape.norm_bias = true;
  shape.query_bias = true;
  shape.output_bias = true;
  shape.feed_forward_bias = true;
  shape.head_bias = true;
  return shape;
}

ModelShape gpt_neox(ConfigReader& config) {
  ModelShape shape = llama_like(config);
  shape.gated = false;
  shape.norm_bias = true;
  shape.query_bias = true;
  shape.output_bias = true;
  shape.feed_forward_bias = true;
  return shape;
}

void set_all_biases(ModelShape& shape) {
  shape.norm_bias = true;
  shape.query_bias = true;
  shape.output_bias = true;
  shape.feed_forward_bias = true;
}

ModelShape gpt2(ConfigReader& config) {
  const std::int64_t hidden = config.required({"n_embd"});
  const std::int64_t positions = config.required({"n_positions", "n_ctx"});
  ModelShape shape{.layers = config.required({"n_layer"}),
                   .hidden = hidden,
                   .heads = config.required({"n_head"}),
                   .feed_forward = config.optional({"n_inner"}).value_or(4 * hidden),
                   .vocabulary = config.required({"vocab_size"}),
                   .positions = positions,
                   .position_rows = positions,
                   .tied = config.flag("tie_word_embeddings", true)};
  set_all_biases(shape);
  return shape;
}

ModelShape opt(ConfigReader& config) {
  constexpr std::int64_t kOffset = 2;  // Rows of positions that OPT never uses.
  const std::int64_t positions = config.required({"max_position_embeddings"});
  ModelShape shape{.layers = config.required({"num_hidden_layers"}),
                   .hidden = config.required({"hidden_size"}),
                   .heads = config.required({"num_attention_heads"}),
                   .feed_forward = config.required({"ffn_dim"}),
                   .vocabulary = config.required({"vocab_size"}),
                   .positions = positions,
                   .position_rows = positions + kOffset,
                   .tied = config.flag("tie_word_embeddings", true)};
  set_all_biases(shape);
  return shape;
}

ModelShape bloom(ConfigReader& config) {
  const std::int64_t hidden = config.required({"hidden_size", "n_embed"});
  ModelShape shape{.layers = config.required({"n_layer", "num_hidden_layers"}),
                   .hidden = hidden,
                   .heads = config.required({"n_head", "num_attention_heads"}),
                   .feed_forward = 4 * hidden,
                   .vocabulary = config.required({"vocab_size"}),
                   .positions = config.optional({"seq_length"}).value_or(2048),
                   .tied = true,
                   .embedding_norm = true};
  set_all_biases(shape);
  return shape;
}

/// The encoder with its pooler, as `BertModel` has it.
ModelShape bert(ConfigReader& config) {
  const std::int64_t positions = config.required({"max_position_embeddings"});
  const std::int64_t hidden = config.required({"hidden_size"});
  ModelShape shape{.layers = config.required({"num_hidden_layers"}),
                   .hidden = hidden,
                   .heads = config.required({"num_attention_heads"}),
                   .feed_forward = config.required({"intermediate_size"}),
                   .vocabulary = config.required({"vocab_size"}),
                   .positions = positions,
                   .position_rows = positions,
                   .segments = config.required({"type_vocab_size"}),
                   .causal = false,
                   .headless = true,
                   .pooler = true,
                   .embedding_norm = true,
                   .final_norm = false};
  const auto narrow = config.optional({"embedding_size"});
  if (narrow && *narrow != hidden) shape.embedding_size = narrow;
  set_all_biases(shape);
  return shape;
}

ModelShape electra(ConfigReader& config) {
  ModelShape shape = bert(config);
  shape.pooler = false;
  return shape;
}

ModelShape t5(ConfigReader& config) {
  const std::int64_t layers = config.required({"num_layers"});
  ModelShape shape{.layers = layers,
                   .decoder_layers = config.optional({"num_decoder_layers"}).value_or(layers),
                   .hidden = config.required({"d_model"}),
                   .heads = config.required({"num_heads"}),
                   .head_size = config.required({"d_kv"}),
                   .feed_forward = config.required({"d_ff"}),
                   .vocabulary = config.required({"vocab_size"}),
                   .positions = config.optional({"n_positions"}).value_or(512),
                   .relative_buckets = config.required({"relative_attention_num_buckets"}),
                   .causal = false,
                   .tied = config.flag("tie_word_embeddings", true)};
  shape.gated = config.text("feed_forward_proj").starts_with("gated");
  return shape;
}

ModelShape vit(ConfigReader& config) {
  constexpr std::int64_t kImageNetClasses = 1000;
  ModelShape shape{.layers = config.required({"num_hidden_layers"}),
                   .hidden = config.required({"hidden_size"}),
                   .heads = config.required({"num_attention_heads"}),
                   .feed_forward = config.required({"intermediate_size"}),
                   .image_size = config.required({"image_size"}),
                   .patch_size = config.required({"patch_size"}),
                   .classes = config.classes(kImageNetClasses),
                   .causal = false,
                   .headless = true};
  set_all_biases(shape);
  shape.query_bias = config.flag("qkv_bias", true);
  shape.positions = tokens_of(shape, 0);
  return shape;
}

struct Architecture {
  const char* name;
  ModelShape (*read)(ConfigReader&);
};

constexpr Architecture kArchitectures[] = {
    {"llama", llama_like},
    {"mistral", llama_like},
    {"qwen2", qwen2},
    {"qwen3", qwen3},
    {"gemma", gemma},
    {"gemma2", gemma2},
    {"phi", phi},
    {"phi3", llama_like},
    {"mixtral", mixtral},
    {"gpt2", gpt2},
    {"gpt_neox", gpt_neox},
    {"opt", opt},
    {"bloom", bloom},
    {"bert", bert},
    {"electra", electra},
    {"t5", t5},
    {"mt5", t5},
    {"vit", vit},
};

}  // namespace

std::vector<std::string> known_architectures() {
  std::vector<std::string> names;
  for (const Architecture& it : kArchitectures) names.emplace_back(it.name);
  return names;
}

Result<ModelShape> read_model_config(const Json& config, const std::string& source) {
  if (config.as<Json::Object>() == nullptr) {
    return bad_input(fmt::format("{}: a config.json is an object, not {}", source, config.kind()));
  }
  ConfigReader reader(config, source);
  const std::string type = reader.text("model_type");
  if (type.empty()) {
    return bad_input(fmt::format("{}: model_type is required; it names the architecture, one of {}",
                                 source, join(known_architectures(), ", ")));
  }
  for (const Architecture& it : kArchitectures) {
    if (type != it.name) continue;
    const ModelShape shape = it.read(reader);
    if (reader.error()) return bad_input(*reader.error());
    const bool whole = shape.head_size || shape.hidden % shape.heads == 0;
    if (!whole) {
      return bad_input(fmt::format("{}: a width of {} cannot be split into {} heads", source,
                                   shape.hidden, shape.heads));
    }
    return shape;
  }
  return bad_input(fmt::format(
      "{}: the architecture '{}' is not known, so its layers cannot be counted; known are {}. "
      "Profile the script on a GPU instead: stint profile -- python3 train.py",
      source, printable(type), join(known_architectures(), ", ")));
}

}  // namespace stint
