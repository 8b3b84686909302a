#include "calibrate/collectives/fabric_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "base/check.h"
#include "calibrate/collectives/fabric_priors.h"
#include "calibrate/law_posterior.h"
#include "calibrate/score.h"
#include "predict/law.h"

namespace stint {
namespace {

// Spreads of logarithms between systems, from those of the five shared tables.
constexpr double kInsideLatencySpread = 0.45;
constexpr double kBetweenLatencySpread = 0.7;
constexpr double kInsideSpread = 0.15;
constexpr double kBetweenSpread = 0.2;
constexpr double kSlowLinkSpread = 0.3;  // Of PCIe, of which no table has rows.
constexpr double kUnknownRateSpread = 0.7;
constexpr double kBlendSpread = 0.2;
constexpr double kCollectiveSpread = 0.3;
constexpr double kSpreadSystems = 2;  // Systems that the spreads above count as.

// Of a row around its system's curve, before the field of residuals.
constexpr double kRowDeviation = 0.15;
constexpr double kRobustBeyond = 2;
constexpr int kIterationsMax = 60;
// Rows of one curve that the law is fitted to: more say the same again.
constexpr int kRowsPerCurve = 24;

// Rows whose leaving out sets the width of intervals, and the rows that count for one.
constexpr std::size_t kScaleRows = 300;
constexpr double kScalePriorRows = 10;
// The least of them for rows of a known cluster, as rows that were left out lie nearer to others
// than new ones; and what is believed of other sizes of a system and of other systems before any is
// left out. Chosen by leaving out groups of the shared tables.
constexpr double kScaleCurveMin = 0.4;
constexpr double kScaleSystem = 0.7;
constexpr double kScaleUnknownInside = 0.7;
constexpr double kScaleUnknownBetween = 1.1;

enum Effect { kInsideLatency, kInsideEfficiency, kBetweenLatency, kBetweenEfficiency, kBlend };
constexpr std::size_t kEffects = 5;

constexpr double kStep = 1e-4;  // Of derivatives by logarithms.

bool counts(const CollectiveCase& it) { return it.note.empty() && it.value.has_value(); }
bool crosses(const CollectiveCase& it) { return it.fabric.vms > 1; }

std::string collective_key(const CollectiveCase& it) { return it.system + "|" + it.collective; }

std::string size_key(const CollectiveCase& it) {
  return fmt::format("{}|{}", it.fabric.vms, it.fabric.workers_per_vm);
}

std::string curve_key(const CollectiveCase& it) {
  return fmt::format("{}|{}|{}", collective_key(it), it.fabric.vms, it.fabric.workers_per_vm);
}

/// How much wider intervals become for eight in ten of `surprises`, in deviations, to lie in. The
/// `prior` counts as so many rows.
double interval_scale(std::vector<double>& surprises, double count, double rows, double prior) {
  if (surprises.empty()) return prior;
  std::sort(surprises.begin(), surprises.end());
  constexpr double kCovered = 0.8;
  return (count * quantile(surprises, kCovered) / kEightInTen + rows * prior) / (count + rows);
}

double efficiency_spread(const CollectiveCase& it, bool between) {
  if (it.rate_unknown && between == crosses(it)) return kUnknownRateSpread;
  if (between) {
    return it.fabric.transport == TransportFamily::kTcp ? kTcpSpread : kBetweenSpread;
  }
  return it.fabric.inside == InsideTopology::kPcie ? kSlowLinkSpread : kInsideSpread;
}

/// Deviations follow from the fit, and nothing tells the host's cost.
bool is_fitted(std::string_view constant) {
  return constant != "host_cost" && !constant.ends_with("deviation");
}

/// The law whose constants have the logarithms `x`; without deviations.
CollectiveLaw law_of(std::span<const double> x) {
  CollectiveLaw law;
  std::size_t i = 0;
  for_each_constant(law, [&](const char* scope, std::string_view name, auto& member) {
    if (!is_fitted(name)) return;
    CHECK(kFabricPriors[i].scope == std::string_view(scope));
    CHECK(kFabricPriors[i].name == name);
    if constexpr (std::is_same_v<decltype(member), Seconds&>) {
      member = std::exp(x[i++]) * kSecond;
    } else {
      member = std::exp(x[i++]);
    }
  });
  law.tcp.host = kTcpHostCost;
  return law;
}

LinkLaw& link_inside(CollectiveLaw& law, InsideTopology link) {
  switch (link) {
    case InsideTopology::kSwitched:
      return law.switched;
    case InsideTopology::kMesh:
      return law.mesh;
    case InsideTopology::kPcie:
      return law.pcie;
  }
  CHECK(false);
}

/// `law` with the factors of a system for the links of `it`.
CollectiveLaw with_effects(CollectiveLaw law, const CollectiveCase& it,
                           const std::array<double, kEffects>& effect, double collective) {
  LinkLaw& inside = link_inside(law, it.fabric.inside);
  LinkLaw& between = it.fabric.transport == TransportFamily::kTcp ? law.tcp : law.rdma;
  law.launch = std::exp(effect[crosses(it) ? kBetweenLatency : kInsideLatency]) * law.launch;
  inside.latency = std::exp(effect[kInsideLatency]) * inside.latency;
  inside.efficiency *= std::exp(effect[kInsideEfficiency] + collective);
  between.latency = std::exp(effect[kBetweenLatency]) * between.latency;
  between.efficiency *= std::exp(effect[kBetweenEfficiency] + collective);
  inside.blend = std::min(1.0, inside.blend * std::exp(effect[kBlend]));
  between.blend = std::min(1.0, between.blend * std::exp(effect[kBlend]));
  return law;
}

Unknown unknown(double mean, double deviation, double max = kNoMax) {
  return {.prior_mean = mean, .prior_deviation = deviation, .start = mean, .max = std::log(max)};
}

const Constant* find(const Calibration* calibration, const ConstantPrior& prior) {
  if (calibration == nullptr) return nullptr;
  for (const Constant& it : calibration->constants) {
    if (it.scope == prior.scope && it.name == prior.name && it.value > 0) return &it;
  }
  return nullptr;
}

/// At most kRowsPerCurve cases of each curve, evenly over the logarithm of the size.
std::vector<const CollectiveCase*> thinned(std::span<const CollectiveCase> cases) {
  std::map<std::string, std::vector<const CollectiveCase*>> curves;
  for (const CollectiveCase& it : cases) {
    if (!counts(it)) continue;
    curves[curve_key(it)].push_back(&it);
  }
  std::vector<const CollectiveCase*> kept;
  for (auto& [key, rows] : curves) {
    std::stable_sort(
        rows.begin(), rows.end(),
        [](const CollectiveCase* a, const CollectiveCase* b) { return a->payload < b->payload; });
    const double step = std::log(rows.back()->payload / rows.front()->payload) / kRowsPerCurve;
    std::optional<Bytes> last;
    for (const CollectiveCase* it : rows) {
      if (last && std::log(it->payload / *last) < step * (1 - kStep)) continue;
      kept.push_back(it);
      last = it->payload;
    }
  }
  return kept;
}

}  // namespace

void FabricModel::add_unknowns(std::span<const CollectiveCase> cases, const Calibration* prior) {
  for (const ConstantPrior& it : kFabricPriors) {
    const Constant* known = find(prior, it);
    const bool told = known != nullptr && known->identified && known->deviation;
    unknowns_.push_back(unknown(std::log(known != nullptr ? known->value : it.value),
                                told ? *known->deviation / known->value : it.deviation, it.max));
  }
  std::map<std::string, std::set<std::string>> collectives_of;
  for (const CollectiveCase& it : cases) {
    if (counts(it)) collectives_of[it.system].insert(it.collective);
  }
  for (const CollectiveCase& it : cases) {
    if (!counts(it)) continue;
    numbers_.try_emplace(it.system, numbers_.size());
    numbers_.try_emplace(collective_key(it), numbers_.size());
    const auto [found, added] = systems_.try_emplace(it.system);
    System& system = found->second;
    if (added) {
      system = {
          .place = unknowns_.size(), .link = it.fabric.inside, .transport = it.fabric.transport};
      for (const double spread :
           {kInsideLatencySpread, efficiency_spread(it, false), kBetweenLatencySpread,
            efficiency_spread(it, true), kBlendSpread}) {
        unknowns_.push_back(unknown(0, spread));
      }
    }
    (crosses(it) ? system.between : system.inside) = true;
    const bool only = collectives_of[it.system].size() == 1;
    if (it.kind != CollectiveKind::kAllReduce && !only &&
        collectives_.try_emplace(collective_key(it), unknowns_.size()).second) {
      unknowns_.push_back(unknown(0, kCollectiveSpread));
    }
  }
}

FabricModel::Factors FabricModel::factors(const CollectiveCase& it) const {
  const auto system = systems_.find(it.system);
  const auto at = [&](Effect effect, bool told, double spread) {
    return Factor{.place = system != systems_.end() && told
                               ? std::optional(system->second.place + effect)
                               : std::nullopt,
                  .spread = spread};
  };
  const bool known = system != systems_.end();
  const bool inside = known && system->second.inside;
  const bool between = known && system->second.between;
  const auto collective = collectives_.find(collective_key(it));
  // A system's only collective has the system's efficiency.
  const bool own = it.kind == CollectiveKind::kAllReduce || numbers_.contains(collective_key(it));
  return {
      .inside_latency = at(kInsideLatency, inside || between, kInsideLatencySpread),
      .inside_efficiency = at(kInsideEfficiency, inside, efficiency_spread(it, false)),
      .between_latency = at(kBetweenLatency, between, kBetweenLatencySpread),
      .between_efficiency = at(kBetweenEfficiency, between, efficiency_spread(it, true)),
      .blend = at(kBlend, known, kBlendSpread),
      .collective = {.place = collective != collectives_.end() ? std::optional(collective->second)
                                                               : std::nullopt,
                     .spread = own ? 0 : kCollectiveSpread}};
}

double FabricModel::log_time(std::span<const double> x, const CollectiveLaw& law,
                             const CollectiveCase& it, const Factors& all) {
  const auto value = [&](const Factor& factor) { return factor.place ? x[*factor.place] : 0; };
  const CollectiveLaw own =
      with_effects(law, it,
                   {value(all.inside_latency), value(all.inside_efficiency),
                    value(all.between_latency), value(all.between_efficiency), value(all.blend)},
                   value(all.collective));
  return std::log(collective_time(it.kind, it.payload, it.fabric, own).in(kSecond));
}

double FabricModel::fitted_log_time(const CollectiveCase& it) const {
  return log_time(fitted_.values, law_of(fitted_.values), it, factors(it));
}

Result<FabricModel> FabricModel::fit(std::span<const CollectiveCase> cases,
                                     const Calibration* prior) {
  auto model = fit_law(cases, prior);
  if (!model.ok()) return model.error();
  model->learn_scales(cases);
  const auto sizes = hold_out(cases, prior, size_key, true);
  if (!sizes.ok()) return sizes.error();
  const auto systems = hold_out(
      cases, prior, [](const CollectiveCase& it) { return it.system; }, false);
  if (!systems.ok()) return systems.error();
  model->scale_system_ = sizes->factors(kScaleSystem);
  model->scale_unknown_inside_ = systems->factors(kScaleUnknownInside);
  model->scale_unknown_between_ = systems->factors(kScaleUnknownBetween);
  return model;
}

Result<FabricModel> FabricModel::fit_law(std::span<const CollectiveCase> cases,
                                         const Calibration* prior) {
  FabricModel model;
  model.add_unknowns(cases, prior);
  const std::vector<const CollectiveCase*> rows = thinned(cases);
  std::vector<double> measured;
  std::vector<Factors> factors;
  for (const CollectiveCase* it : rows) {
    measured.push_back(std::log(measured_time(*it)->in(kSecond)));
    factors.push_back(model.factors(*it));
  }
  const LeastSquares problem{
      .unknowns = model.unknowns_,
      .rows = rows.size(),
      .residuals =
          [&](std::span<const double> x, std::span<double> residuals) {
            const CollectiveLaw law = law_of(x);
            for (std::size_t i = 0; i < rows.size(); ++i) {
              residuals[i] = (log_time(x, law, *rows[i], factors[i]) - measured[i]) / kRowDeviation;
            }
          },
      .robust_beyond = kRobustBeyond,
      .iterations_max = kIterationsMax};
  auto fitted = stint::fit(problem);
  if (!fitted.ok()) return fitted.error();
  model.fitted_ = std::move(*fitted);
  model.learn_deviations(cases);
  return model;
}

FieldPoint FabricModel::point_of(const CollectiveCase& it) const {
  const auto number = [&](const std::string& key) {
    const auto found = numbers_.find(key);
    return found == numbers_.end() ? numbers_.size() : found->second;
  };
  const Fabric& fabric = it.fabric;
  return {.system = number(it.system),
          .collective = number(collective_key(it)),
          .crosses = crosses(it),
          .irregular = fabric.inside == InsideTopology::kMesh && !crosses(it),
          .many_jobs = it.many_jobs,
          .size_log = std::log(it.stated.in(kByte)),
          .workers_log2 = std::log2(fabric.vms * fabric.workers_per_vm)};
}

void FabricModel::learn_deviations(std::span<const CollectiveCase> cases) {
  std::vector<FieldPoint> points;
  std::vector<double> residuals;
  for (const CollectiveCase& it : cases) {
    if (!counts(it)) continue;
    points.push_back(point_of(it));
    residuals.push_back(std::log(measured_time(it)->in(kSecond)) - fitted_log_time(it));
  }
  field_ = ResidualField(std::move(points), std::move(residuals));
}

double FabricModel::law_variance(const CollectiveCase& it) const {
  const Factors all = factors(it);
  const auto value = [&](std::span<const double> x) { return log_time(x, law_of(x), it, all); };
  const double known = posterior_deviation(fitted_, value);
  double variance = known * known;
  // Factors that no row tells vary as they do between systems. Each is tried by itself.
  const std::array<const Factor*, kEffects> each{&all.inside_latency, &all.inside_efficiency,
                                                 &all.between_latency, &all.between_efficiency,
                                                 &all.blend};
  const CollectiveLaw law = law_of(fitted_.values);
  const auto time = [&](std::size_t i, double by) {
    std::array<double, kEffects> effect{};
    for (std::size_t k = 0; k < kEffects; ++k) {
      effect[k] = each[k]->place ? fitted_.values[*each[k]->place] : 0;
    }
    double collective = all.collective.place ? fitted_.values[*all.collective.place] : 0;
    (i < kEffects ? effect[i] : collective) += by;
    return std::log(
        collective_time(it.kind, it.payload, it.fabric, with_effects(law, it, effect, collective))
            .in(kSecond));
  };
  for (std::size_t i = 0; i <= kEffects; ++i) {
    const Factor& factor = i < kEffects ? *each[i] : all.collective;
    if (factor.place || factor.spread == 0) continue;
    const double reach = (time(i, factor.spread) - time(i, -factor.spread)) / 2;
    variance += reach * reach;
  }
  return variance;
}

void FabricModel::learn_scales(std::span<const CollectiveCase> cases) {
  std::vector<const CollectiveCase*> known;
  for (const CollectiveCase& it : cases) {
    if (counts(it)) known.push_back(&it);
  }
  const std::size_t every = known.size() / kScaleRows + 1;
  std::map<std::string, std::vector<double>> rows;
  std::vector<double> all;
  for (std::size_t i = 0; i < known.size(); i += every) {
    const FieldPoint& point = field_.point(i);
    const double law = law_variance(*known[i]);
    const auto surprise = [&](const FieldEstimate& it) {
      return std::abs(field_.residual(i) - it.mean) / std::sqrt(it.variance + law);
    };
    const FieldEstimate row = field_.at(point, [&](std::size_t j) { return j == i; });
    if (row.same_curve) {
      all.push_back(surprise(row));
      rows[curve_key(*known[i])].push_back(all.back());
    }
  }
  scale_all_ = interval_scale(all, static_cast<double>(all.size()), kScalePriorRows, 1);
  for (auto& [key, its] : rows) {
    scale_curves_[key] =
        interval_scale(its, static_cast<double>(its.size()), kScalePriorRows, scale_all_);
  }
}

Result<FabricModel::HeldOut> FabricModel::hold_out(std::span<const CollectiveCase> cases,
                                                   const Calibration* prior,
                                                   const GroupOf& group_of, bool of_known) {
  std::map<std::string, std::vector<const CollectiveCase*>> groups;
  for (const CollectiveCase* it : thinned(cases)) groups[group_of(*it)].push_back(it);
  HeldOut held;
  for (const auto& [group, rows] : groups) {
    if (groups.size() == 1) break;  // Without it there is no other.
    std::vector<CollectiveCase> others;
    for (const CollectiveCase& it : cases) {
      if (group_of(it) != group) others.push_back(it);
    }
    const auto without = fit_law(others, prior);
    if (!without.ok()) return without.error();
    std::vector<const CollectiveCase*> told = rows;
    std::erase_if(told, [&](const CollectiveCase* it) {
      return without->systems_.contains(it->system) != of_known;
    });
    for (const CollectiveCase* it : told) {
      const LogTime time = without->unscaled(*it);
      held.errors.add(std::log(measured_time(*it)->in(kSecond)) - time.mean,
                      {time.deviation, time.deviation}, told.size());
    }
    if (!told.empty()) ++held.groups;
  }
  return held;
}

LogSpread FabricModel::scale_of(const CollectiveCase& it, bool known) const {
  if (!systems_.contains(it.system)) {
    return crosses(it) ? scale_unknown_between_ : scale_unknown_inside_;
  }
  const auto curve = scale_curves_.find(curve_key(it));
  const double of_rows = curve == scale_curves_.end() ? scale_all_ : curve->second;
  if (!known) return scale_system_;
  const double scale = std::max(kScaleCurveMin, of_rows);
  return {scale, scale};
}

FabricModel::LogTime FabricModel::unscaled(const CollectiveCase& it) const {
  const FieldEstimate field = field_.at(point_of(it));
  return {.mean = fitted_log_time(it) + field.mean,
          .deviation = std::sqrt(field.variance + law_variance(it)),
          .same_curve = field.same_curve};
}

CollectiveEstimate FabricModel::estimate(const CollectiveCase& it) const {
  CHECK(it.note.empty());
  const LogTime time = unscaled(it);
  const LogSpread scale = scale_of(it, time.same_curve);
  const double reach = kEightInTen * time.deviation;
  return {.mean = std::exp(time.mean) * kSecond,
          .p10 = std::exp(time.mean - reach * scale.below) * kSecond,
          .p90 = std::exp(time.mean + reach * scale.above) * kSecond};
}

CollectiveLaw FabricModel::law() const {
  CollectiveLaw law = law_of(fitted_.values);
  const auto spread = [&](const LinkLaw& link, Effect effect, double prior) {
    double sum = kSpreadSystems * prior * prior;
    double n = kSpreadSystems;
    for (const auto& [name, it] : systems_) {
      const bool inside = effect == kInsideLatency || effect == kInsideEfficiency;
      const LinkLaw& own = inside ? inside_law(law, it.link) : between_law(law, it.transport);
      if (&own != &link || !(inside ? it.inside : it.between)) continue;
      const double factor = fitted_.values[it.place + effect];
      // A system whose rate is a guess says nothing about efficiencies.
      const bool guess = unknowns_[it.place + effect].prior_deviation >= kUnknownRateSpread;
      if (guess) continue;
      sum += factor * factor;
      ++n;
    }
    return std::sqrt(sum / n);
  };
  for (LinkLaw* link : {&law.switched, &law.mesh, &law.pcie}) {
    link->latency_deviation = spread(*link, kInsideLatency, kInsideLatencySpread);
    link->efficiency_deviation =
        spread(*link, kInsideEfficiency, link == &law.pcie ? kSlowLinkSpread : kInsideSpread);
  }
  for (LinkLaw* link : {&law.tcp, &law.rdma}) {
    link->latency_deviation = spread(*link, kBetweenLatency, kBetweenLatencySpread);
    link->efficiency_deviation =
        spread(*link, kBetweenEfficiency, link == &law.tcp ? kTcpSpread : kBetweenSpread);
  }
  return law;
}

Calibration FabricModel::to_calibration(const std::string& name) const {
  Calibration calibration{.name = name};
  CollectiveLaw law = this->law();
  std::size_t i = 0;
  for_each_constant(law, [&](const char* scope, std::string_view constant, auto& member) {
    Constant it{.name = std::string(constant), .scope = scope, .unit = "1"};
    if constexpr (std::is_same_v<decltype(member), Seconds&>) {
      it.value = member.in(kSecond);
      it.unit = "s";
    } else {
      it.value = member;
    }
    if (!is_fitted(constant)) {
      it.unit = constant == "host_cost" ? "ns/byte" : "ln(1)";
      it.identified = false;
    } else {
      it.deviation = it.value * std::sqrt(fitted_.covariance[i][i]);
      it.prior_mean = std::exp(unknowns_[i].prior_mean);
      it.prior_deviation = *it.prior_mean * unknowns_[i].prior_deviation;
      it.identified = fitted_.identified[i];
      ++i;
    }
    calibration.constants.push_back(std::move(it));
  });
  return calibration;
}

CollectiveValue value_of(const CollectiveCase& it, const CollectiveEstimate& estimate) {
  CollectiveValue value{.mean = value_of(it, estimate.mean),
                        .p10 = value_of(it, estimate.p10),
                        .p90 = value_of(it, estimate.p90)};
  if (it.inverse) std::swap(value.p10, value.p90);
  return value;
}

}  // namespace stint
