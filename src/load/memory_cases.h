#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/sharded_memory_fit.h"
#include "catalog/catalog.h"
#include "measure/tables/memory_layouts.h"

namespace stint {

/// A row of a published table of memory, ready to be predicted.
struct LoadedMemoryCase {
  MemoryLayoutRow row;
  ShardedMemoryCase as_case;  // Only where the problem of the row is empty.
  std::string model;          // "BLOOM 181B", "llama3.1-8b" …
  std::optional<Bytes> room;  // Of the smallest accelerator of the row, where it is known.
};

/// The case of `row`, with what the software of its table is known to do and the table leaves out:
///
///   bloom        Megatron-DeepSpeed: full recomputation, attention with scores, heads of 64, tied
///                embeddings of 250 880 words, 50 304 where that fits the parameters better
///   nanotron     gradients summed up in FP32 beside 16-bit ones; tied embeddings where those fit
///                the parameters better
///   fsdp-tables  FP32 shards, computed with in 16 bits
///   sailor       FP32 with written scores on GH200 (clariden), 16 bits without them elsewhere: the
///                peaks admit nothing else, the table does not say it
///
/// Layers that BLOOM's table leaves blank are the multiple of the stages that fits the parameters.
LoadedMemoryCase memory_case(const MemoryLayoutRow& row, const Catalog& catalog);

/// The cases of a file.
Result<std::vector<LoadedMemoryCase>> load_memory_cases(const std::string& file,
                                                        MemoryFormat format,
                                                        const Catalog& catalog);

/// The same for "FORMAT=FILE"; a text of another form is a usage error that names `option`.
Result<std::vector<LoadedMemoryCase>> load_named_memory_cases(const std::string& text,
                                                              const char* option,
                                                              const Catalog& catalog);

}  // namespace stint
