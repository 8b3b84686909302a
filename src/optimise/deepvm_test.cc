#include "optimise/deepvm.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

constexpr DollarsPerSecond kHourly = kDollar / kHour;
constexpr BytesPerSecond kGigabit = kGbit / kSecond;

std::vector<int> up_to(int most) {
  std::vector<int> sizes;
  for (int n = 1; n <= most; ++n) sizes.push_back(n);
  return sizes;
}

/// What the paper publishes of three types, with c5.xlarge as the receiver and 128 vCPUs of spot
/// and 32 of on-demand VMs of class G.
std::vector<DeepVmType> published() {
  const auto type = [](const char* name, DeepVmFigures figures, double spot, double on_demand,
                       double nic) {
    return DeepVmType{
        .name = name,
        .figures = figures,
        .spot = spot * kHourly,
        .on_demand = on_demand * kHourly,
        .nic = nic * kGigabit,
        .vcpus = 4,
        .sizes = up_to(64),
        .receiver =
            DeepVmReceiver{
                .name = "c5.xlarge", .price = 0.17 * kHourly, .nic = 10 * kGigabit, .vcpus = 4},
        .quotas = {{.vcpus = 128, .spot = true}, {.vcpus = 32, .on_demand = true}}};
  };
  return {
      type("g4dn.xlarge", {.a = 0.13388, .b = 12.874, .c = 6.1767, .flops = 377}, 0.1578, 0.526,
           25),
      type("g3s.xlarge", {.a = 0.14086, .b = 14.493, .c = 13.533, .flops = 100}, 0.225, 0.75, 10),
      type("g5.xlarge", {.a = 0.08533, .b = 20.067, .c = 4.9622, .flops = 696}, 0.3018, 1.006, 10)};
}

/// The same by trying everything.
std::optional<DeepVmChoice> tried(const std::vector<DeepVmType>& types,
                                  std::optional<DollarsPerSecond> rate_max) {
  std::optional<DeepVmChoice> best;
  const auto offer = [&](const DeepVmChoice& it) {
    const DeepVmType& type = types[it.type];
    const bool anchor = it.architecture == DeepVmArchitecture::kSingleAnchor;
    const int spot = anchor ? it.workers - 1 : it.workers;
    for (const DeepVmQuota& quota : type.quotas) {
      int vcpus = 0;
      if (quota.spot) vcpus += spot * type.vcpus;
      if (quota.on_demand && anchor) vcpus += type.vcpus;
      if (quota.receivers) vcpus += it.receivers * type.receiver->vcpus;
      if (vcpus >= quota.vcpus) return;
    }
    if (rate_max && it.rate > *rate_max) return;
    const bool better =
        !best || it.score > best->score || (it.score == best->score && it.rate < best->rate);
    if (better) best = it;
  };
  for (std::size_t t = 0; t < types.size(); ++t) {
    const DeepVmType& type = types[t];
    for (const int n : type.sizes) {
      const double score =
          type.figures.flops / type.spot.in(kHourly)*n * deepvm_scaling(type.figures, n);
      if (type.on_demand) {
        offer({t, n, DeepVmArchitecture::kSingleAnchor, 0, score,
               (n - 1) * type.spot + *type.on_demand});
      }
      if (!type.receiver || !type.nic) continue;
      const auto fan_in = deepvm_fan_in(std::min(*type.nic, type.receiver->nic));
      for (int m = 1; m <= n; ++m) {
        if (!fan_in || n >= *fan_in * m) continue;
        offer({t, n, DeepVmArchitecture::kTiering, m, score,
               n * type.spot + m * type.receiver->price});
      }
    }
  }
  return best;
}

DeepVmChoice chosen(const std::vector<DeepVmType>& types, double usd_per_hour) {
  const auto choice = deepvm_choice(types, usd_per_hour * kHourly);
  EXPECT_TRUE(choice.ok());
  return choice->value();
}

// At 3 USD/h: 17 spot VMs and a receiver cost 17 · 0.1578 + 0.17 = 2.8526, 18 would cost 3.0104.
// An anchor leaves (3 − 0.526)/0.1578 = 15.7 spot VMs, 16 in all. The slower NIC has 10 Gbit/s, so
// one receiver serves up to 19. K(17) = 0.63469/0.63810 = 0.9947 and the score 377/0.1578 · 17 ·
// 0.9947 = 40 398; of g5.xlarge (3 − 0.17)/0.3018 allows 9, 696/0.3018 · 9 = 20 756.
TEST(DeepVm, ChoosesAsPublished) {
  const DeepVmChoice choice = chosen(published(), 3);
  EXPECT_EQ(choice.type, 0U);
  EXPECT_EQ(choice.workers, 17);
  EXPECT_EQ(choice.architecture, DeepVmArchitecture::kTiering);
  EXPECT_EQ(choice.receivers, 1);
  EXPECT_NEAR(choice.rate.in(kHourly), 2.8526, 1e-9);
  EXPECT_NEAR(choice.score, 40398, 5);
}

// The quota is 128/4 = 32 spot VMs and must not be reached, so an anchor and 31 of them are the
// most. K(32) is 0.8142 for g4dn.xlarge and 0.9735 for g5.xlarge, so the latter wins, 2306 · 32 ·
// 0.9735 against 2389 · 32 · 0.8142. Without anchors 31 spot VMs need two receivers, as one
// serves 19.
TEST(DeepVm, StaysBelowTheQuota) {
  const DeepVmChoice choice = chosen(published(), 100);
  EXPECT_EQ(choice.type, 2U);
  EXPECT_EQ(choice.workers, 32);
  EXPECT_EQ(choice.architecture, DeepVmArchitecture::kSingleAnchor);
  auto types = published();
  for (DeepVmType& type : types) type.on_demand.reset();
  const DeepVmChoice tier = chosen(types, 100);
  EXPECT_EQ(tier.type, 2U);
  EXPECT_EQ(tier.workers, 31);
  EXPECT_EQ(tier.receivers, 2);
}

// With a quota of 4 on-demand vCPUs the anchor would reach it: 4 < 4 is false.
TEST(DeepVm, CountsTheAnchorAgainstItsOwnQuota) {
  auto types = published();
  for (DeepVmType& type : types) {
    type.receiver.reset();
    type.quotas[1].vcpus = 4;
  }
  const auto choice = deepvm_choice(types, 3 * kHourly);
  ASSERT_TRUE(choice.ok());
  EXPECT_FALSE(choice->has_value());
}

TEST(DeepVm, FindsNothingForLessThanOneVm) {
  const auto choice = deepvm_choice(published(), 0.1 * kHourly);
  ASSERT_TRUE(choice.ok());
  EXPECT_FALSE(choice->has_value());
}

// S(12.874) = c/2 is where the tangent touches; 20 above b with a = 0.1: S/c = 1/(1 + e⁻²) =
// 0.8808, L/c = 0.5 + 0.1/4 · 20 = 1.
TEST(DeepVm, ScalesLinearlyUpToTheMiddleOfTheSigmoid) {
  const DeepVmFigures figures{.a = 0.1, .b = 10, .c = 7, .flops = 1};
  EXPECT_EQ(deepvm_scaling(figures, 1), 1);
  EXPECT_EQ(deepvm_scaling(figures, 10), 1);
  EXPECT_NEAR(deepvm_scaling(figures, 30), 0.880797, 1e-6);
}

TEST(DeepVm, LooksTheFanInUpByTheSlowerNic) {
  EXPECT_EQ(deepvm_fan_in(0.2 * kGigabit), std::nullopt);
  EXPECT_EQ(deepvm_fan_in(0.3 * kGigabit), 2);
  EXPECT_EQ(deepvm_fan_in(9.9 * kGigabit), 16);
  EXPECT_EQ(deepvm_fan_in(10 * kGigabit), 20);
  EXPECT_EQ(deepvm_fan_in(400 * kGigabit), 32);
}

DeepVmType random_type(Random& random) {
  const double price = random.uniform(0.1, 1);
  DeepVmType type{.name = "random",
                  .figures = {.a = random.uniform(0.05, 0.5),
                              .b = random.uniform(-2, 12),
                              .c = random.uniform(2, 10),
                              .flops = random.uniform(50, 200)},
                  .spot = price * kHourly,
                  .vcpus = 1 + random.below(4),
                  .sizes = up_to(1 + random.below(16))};
  if (random.uniform() < 0.8) type.on_demand = random.uniform(1, 4) * price * kHourly;
  if (random.uniform() < 0.9) type.nic = random.uniform(0.1, 6) * kGigabit;
  if (random.uniform() < 0.8) {
    type.receiver = DeepVmReceiver{.name = "r",
                                   .price = random.uniform(0.01, 0.5) * kHourly,
                                   .nic = random.uniform(0.1, 6) * kGigabit,
                                   .vcpus = 1 + random.below(3)};
  }
  if (random.uniform() < 0.6) type.quotas.push_back({.vcpus = random.below(40), .spot = true});
  if (random.uniform() < 0.3) type.quotas.push_back({.vcpus = random.below(9), .on_demand = true});
  if (random.uniform() < 0.3 && type.receiver) {
    type.quotas.push_back(
        {.vcpus = random.below(60), .spot = true, .on_demand = true, .receivers = true});
  }
  return type;
}

TEST(DeepVm, ChoosesWhatTryingEverythingFinds) {
  constexpr int kCases = 100;
  int found = 0;
  for (int seed = 1; seed <= kCases; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<std::uint64_t>(seed));
    std::vector<DeepVmType> types;
    for (int i = random.below(4); i >= 0; --i) types.push_back(random_type(random));
    std::optional<DollarsPerSecond> rate_max;
    if (random.uniform() < 0.8) rate_max = random.uniform(0.1, 8) * kHourly;
    const auto choice = deepvm_choice(types, rate_max);
    ASSERT_TRUE(choice.ok()) << choice.error().message;
    const auto expected = tried(types, rate_max);
    ASSERT_EQ(choice->has_value(), expected.has_value());
    if (!expected) continue;
    ++found;
    EXPECT_EQ((*choice)->type, expected->type);
    EXPECT_EQ((*choice)->workers, expected->workers);
    EXPECT_EQ((*choice)->architecture, expected->architecture);
    EXPECT_EQ((*choice)->receivers, expected->receivers);
    EXPECT_NEAR((*choice)->score, expected->score, 1e-9 * expected->score);
    EXPECT_NEAR((*choice)->rate.in(kHourly), expected->rate.in(kHourly), 1e-9);
  }
  EXPECT_GT(found, kCases / 2);
}

TEST(FitDeepVm, FindsTheSigmoidThatMadeTheSpeeds) {
  const DeepVmFigures made{.a = 0.13388, .b = 12.874, .c = 6.1767};
  std::vector<Speedup> speeds;
  for (int n = 1; n <= 40; ++n) {
    speeds.push_back({n, made.c / (1 + std::exp(-made.a * (n - made.b)))});
  }
  const auto fitted = fit_deepvm(speeds);
  ASSERT_TRUE(fitted.ok());
  EXPECT_NEAR(fitted->a, made.a, 1e-3);
  EXPECT_NEAR(fitted->b, made.b, 0.05);
  EXPECT_NEAR(fitted->c, made.c, 0.02);
}

// One speed cannot tell three unknowns, and what is believed makes one worker keep all its speed.
TEST(FitDeepVm, MakesDoWithOneSpeed) {
  const auto fitted = fit_deepvm(std::vector<Speedup>{{.workers = 1, .speed = 1}});
  ASSERT_TRUE(fitted.ok());
  EXPECT_NEAR(deepvm_scaling(*fitted, 1), 1, 0.01);
}

}  // namespace
}  // namespace stint
