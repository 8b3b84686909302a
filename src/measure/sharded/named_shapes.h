#pragma once

#include <optional>
#include <string_view>

namespace stint {

/// The sizes of a transformer as a table states them, or as its model is published.
struct TableShape {
  double layers = 0;
  double hidden = 0;
  double heads = 1;
  double kv_heads = 0;   // Zero: as many as heads.
  double head_size = 0;  // Zero: hidden/heads.
  double wide = 0;       // Of the feed-forward network; zero: four times hidden.
  double vocabulary = 0;
  double experts = 1;
  double experts_used = 1;
  bool gated = false;
  bool tied = true;
  bool causal = true;
};

/// The shape of a model that published tables name without stating it ("LLAMA3-8B", "llama2-34b",
/// "Nemotron4 15b"); case, spaces and punctuation do not matter. Nothing for one that is not a
/// transformer or not known.
std::optional<TableShape> named_shape(std::string_view name);

}  // namespace stint
