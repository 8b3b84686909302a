#include "predict/sharded/layout_choices.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <tuple>

#include "predict/sharded/sharded_fixture.h"

namespace stint {
namespace {

/// Whether a layout without a problem is one that the search looks at.
bool is_searched(const LayoutQuestion& question, const ParallelLayout& it) {
  const int per_vm = question.cluster.machines.workers_per_vm;
  const bool packs = it.tensor <= per_vm ? per_vm % it.tensor == 0 : it.tensor % per_vm == 0;
  const bool may_be_hybrid = it.zero == 3 && it.tensor == 1 && it.data > per_vm;
  const bool plain = it.virtual_stages == 1 && it.expert == 1;
  return packs && (!it.hybrid || may_be_hybrid) && (plain || question.unvalidated);
}

/// Every layout there is: all numbers on all axes, those with a problem left out.
std::vector<LayoutChoice> all_by_force(const LayoutQuestion& question, bool crossing) {
  const auto workers = static_cast<int>(question.cluster.workers());
  std::vector<LayoutChoice> found;
  const auto consider = [&](const ParallelLayout& it) {
    if (!is_searched(question, it) || !layout_problem(question, it).empty()) return;
    if ((it.tensor > question.cluster.machines.workers_per_vm) != crossing) return;
    const LayoutChoice choice = evaluate(question, it);
    if (choice.p_fits >= question.confidence) found.push_back(choice);
  };
  const auto with_rest = [&](ParallelLayout it) {
    for (it.zero = 0; it.zero <= 3; ++it.zero) {
      for (const bool hybrid : {false, true}) {
        it.hybrid = hybrid;
        for (it.micro_batch = 1; it.micro_batch <= question.global_batch; ++it.micro_batch) {
          for (const Recompute again :
               {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
            it.recompute = again;
            for (const bool sequence : {false, true}) {
              it.sequence = sequence;
              consider(it);
            }
          }
        }
      }
    }
  };
  for (int tensor = 1; tensor <= workers; ++tensor) {
    for (int pipeline = 1; pipeline * tensor <= workers; ++pipeline) {
      const int data = workers / tensor / pipeline;
      if (data * tensor * pipeline != workers) continue;
      for (int chunks = 1; chunks <= question.model.bounds.layers; ++chunks) {
        for (int expert = 1; expert <= question.model.bounds.experts; ++expert) {
          with_rest({.data = data,
                     .tensor = tensor,
                     .pipeline = pipeline,
                     .virtual_stages = chunks,
                     .expert = expert});
        }
      }
    }
  }
  return found;
}

auto axes_of(const ParallelLayout& it) {
  return std::tuple(it.data, it.tensor, it.pipeline, it.virtual_stages, it.expert, it.zero,
                    it.hybrid);
}

void expect_equal(const LayoutQuestion& question, const std::string& label) {
  std::vector<LayoutChoice> force = all_by_force(question, false);
  if (force.empty()) force = all_by_force(question, true);
  const LayoutList list = all_layouts(question);
  ASSERT_EQ(list.fitting.size(), force.size()) << label;
  EXPECT_EQ(list.fits, static_cast<std::int64_t>(force.size())) << label;
  const LayoutList few = all_layouts(question, 2);
  EXPECT_EQ(few.fits, list.fits) << label;
  EXPECT_EQ(few.fitting.size(), std::min<std::size_t>(2, force.size())) << label;
  for (std::size_t i = 0; i < few.fitting.size(); ++i) {
    EXPECT_EQ(few.fitting[i].layout, list.fitting[i].layout) << label;
  }
  for (std::size_t i = 1; i < list.fitting.size(); ++i) {
    EXPECT_LE(list.fitting[i - 1].iteration, list.fitting[i].iteration);
  }
  std::vector<LayoutChoice> rows;
  for (const LayoutChoice& it : list.fitting) {
    const bool known = std::any_of(rows.begin(), rows.end(), [&](const LayoutChoice& row) {
      return axes_of(row.layout) == axes_of(it.layout);
    });
    if (!known && rows.size() < 3) rows.push_back(it);
    EXPECT_TRUE(std::any_of(force.begin(), force.end(),
                            [&](const LayoutChoice& other) {
                              return other.layout == it.layout && other.iteration == it.iteration;
                            }))
        << label << to_text(it.layout);
  }
  const std::vector<LayoutChoice> best = best_layouts(question, 3);
  ASSERT_EQ(best.size(), rows.size()) << label;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(to_text(best[i].layout), to_text(rows[i].layout)) << label << " row " << i;
    EXPECT_EQ(best[i].iteration, rows[i].iteration) << label << " row " << i;
  }
  if (best.empty()) return;
  EXPECT_TRUE(may_fit(question)) << label;
  const auto workers = static_cast<double>(question.cluster.workers());
  EXPECT_LE(least_work(question), workers * best.front().iteration) << label;
}

TEST(LayoutChoices, EqualBruteForceOverAllLayouts) {
  int feasible = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const ShardedModel model = small_model(random);
    const ShardedCluster cluster = small_cluster(model, random);
    constexpr int kBatches[] = {4, 6, 8, 12, 16};
    const LayoutQuestion question{.model = model,
                                  .cluster = cluster,
                                  .global_batch = kBatches[random.below(5)],
                                  .unvalidated = seed % 2 == 0};
    expect_equal(question, "seed " + std::to_string(seed));
    if (!best_layouts(question, 1).empty()) ++feasible;
  }
  // Neither all nor none of the cases fit.
  EXPECT_GT(feasible, 100);
  EXPECT_LT(feasible, 200);
}

LayoutQuestion example(const ShardedModel& model) {
  ShardedCluster cluster{.memory = 80 * kGB, .vms = 2};
  cluster.machines.device.peak = 312 * kTeraflop / kSecond;
  cluster.machines.device.bandwidth = 2 * kTB / kSecond;
  cluster.machines.inside = 300 * kGB / kSecond;
  cluster.machines.network = 50 * kGB / kSecond;
  return {.model = model, .cluster = cluster, .global_batch = 64};
}

ShardedModel seven_billion() {
  ModelShape shape{.layers = 32, .hidden = 4096, .heads = 32, .feed_forward = 11008};
  shape.vocabulary = 32000;
  shape.positions = 4096;
  shape.gated = true;
  ShardedModel model{.name = "7b"};
  model.setup.shape = ShardedShape(shape);
  model.setup.sequence = 4096;
  model.bounds = {.layers = 32, .heads = 32, .kv_heads = 32};
  return model;
}

TEST(LayoutProblem, IsOneSentenceEach) {
  const ShardedModel model = seven_billion();
  const LayoutQuestion question = example(model);
  const auto why = [&](const char* text) {
    return layout_problem(question, *parse_parallel_layout(text));
  };
  EXPECT_EQ(why("dp16 mb1"), "");
  EXPECT_EQ(
      why("dp4 tp2 mb1"),
      "the degrees of the layout 'dp4 tp2 mb1' multiply to 8, but the cluster has 16 workers");
  EXPECT_EQ(why("pp16 mb1 vp4"),
            "64 stages are more than the 32 layers of the model; lower pp or "
            "vp");
  EXPECT_EQ(why("dp1 tp16 zero1"),
            "ZeRO stage 1 shards over the data axis, which has one worker; raise dp");
  EXPECT_EQ(why("dp2 pp8 vp2 mb8"),
            "virtual stages need micro-batches in rounds of the 8 stages, but there are 4");
}

// 32 layers in 3 stages.
TEST(LayoutProblem, StagesAreEqual) {
  const ShardedModel model = seven_billion();
  LayoutQuestion question = example(model);
  question.cluster.vms = 3;
  EXPECT_EQ(layout_problem(question, {.data = 8, .pipeline = 3}),
            "3 stages do not divide the 32 layers of the model; choose pp from 1, 2, 4, 8, 16, 32");
}

TEST(LayoutChoices, MarkWhatWasNotMeasured) {
  ShardedModel model = seven_billion();
  model.laws.fitted = true;
  const LayoutQuestion question = example(model);
  EXPECT_TRUE(unvalidated_parts(question, {.data = 16}).empty());
  const auto parts =
      unvalidated_parts(question, {.data = 2, .pipeline = 8, .virtual_stages = 2, .context = 2});
  EXPECT_EQ(parts, (std::vector<std::string>{"interleaving", "context parallelism"}));
}

// 6.74 B parameters with 16 bytes each are 108 GB: no replica fits 80 GB, shards do.
TEST(LayoutChoices, ShardWhatDoesNotFit) {
  const ShardedModel model = seven_billion();
  const auto best = best_layouts(example(model), 2);
  ASSERT_EQ(best.size(), 2U);
  EXPECT_GE(best.front().p_fits, kFitsConfidence);
  EXPECT_LT(evaluate(example(model), {.data = 16}).p_fits, 0.5);
  EXPECT_LT(best.front().low(0.2), best.front().iteration);
  EXPECT_GT(best.front().high(0.2), best.front().iteration);
}

TEST(LayoutChoices, HaveNoneWhereTheStatesAloneAreTooLarge) {
  const ShardedModel model = seven_billion();
  LayoutQuestion question = example(model);
  question.cluster.vms = 1;
  question.cluster.memory = 12 * kGB;
  EXPECT_FALSE(may_fit(question));
  EXPECT_TRUE(best_layouts(question, 1).empty());
  EXPECT_TRUE(all_layouts(question).fitting.empty());
  EXPECT_GT(all_layouts(question).too_large, 0);
}

}  // namespace
}  // namespace stint
