#include "predict/sharded/layout_advice.h"

#include <gtest/gtest.h>

#include "predict/sharded/sharded_fixture.h"

namespace stint {
namespace {

Catalog catalog(Bytes memory, Bytes larger) {
  Catalog it;
  const auto add = [&](const std::string& name, Bytes bytes, std::optional<Network> network) {
    it.gpus.push_back({.name = name,
                       .memory = bytes,
                       .memory_bandwidth = 1 * kTB / kSecond,
                       .fp16 = 100 * kTeraflop / kSecond});
    VmType type{.provider = "p", .name = name + ".vm"};
    type.accelerator = Accelerator{.name = name, .count = 2, .gpu = name};
    type.network = std::move(network);
    it.types.push_back(std::move(type));
  };
  add("small", memory, Network{.baseline = 10 * kGB / kSecond});
  add("large", larger, std::nullopt);
  return it;
}

LayoutQuestion question(const ShardedModel& model, const Catalog& it) {
  return {.model = model,
          .cluster = *sharded_cluster(it, it.types[0], WorkPrecision::kFp16, 1),
          .global_batch = 64};
}

ShardedModel even_model() {
  Random random(5);
  ShardedModel model = small_model(random);
  model.precision = WorkPrecision::kFp16;
  model.setup.sequence = 16;
  model.setup.fused_attention = true;
  return model;
}

// Half of the states and the activations do not fit on each of 2 accelerators.
TEST(LayoutAdvice, NamesMoreOfTheSame) {
  const ShardedModel model = even_model();
  const Bytes states = model.parameters() * 16 * kByte;
  const Catalog it = catalog(0.4 * states, 40 * states);
  EXPECT_TRUE(best_layouts(question(model, it), 1).empty());
  const auto advice = fitting_advice(question(model, it), it, it.types[0]);
  ASSERT_TRUE(advice.has_value());
  EXPECT_NE(advice->find("x small.vm with the layout 'dp"), std::string::npos) << *advice;
}

TEST(LayoutAdvice, NamesOtherMachinesWhereThatIsOfNoUse) {
  const ShardedModel model = even_model();
  const Bytes states = model.parameters() * 16 * kByte;
  const Catalog it = catalog(1e-6 * states, 4 * states);
  const auto advice = fitting_advice(question(model, it), it, it.types[0]);
  ASSERT_TRUE(advice.has_value());
  EXPECT_NE(advice->find("1x large.vm"), std::string::npos) << *advice;
  const Catalog none = catalog(1e-6 * states, 1e-6 * states);
  EXPECT_FALSE(fitting_advice(question(model, none), none, none.types[0]).has_value());
}

}  // namespace
}  // namespace stint
