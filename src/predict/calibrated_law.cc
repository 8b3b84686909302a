#include "predict/calibrated_law.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace stint {
namespace {

constexpr const char* kJobScope = "job:";

/// The constants of a calibration by scope and name, with each one's row of the covariance.
class Constants {
 public:
  explicit Constants(const Calibration& calibration) : calibration_(calibration) {
    std::size_t row = 0;
    for (const Constant& constant : calibration.constants) {
      auto& entry = by_name_[{constant.scope, constant.name}];
      entry.constant = &constant;
      if (in_covariance(constant)) entry.row = row++;
    }
  }

  const Constant* find(const std::string& scope, const std::string& name) const {
    const auto found = by_name_.find({scope, name});
    return found == by_name_.end() ? nullptr : found->second.constant;
  }

  /// Of two constants of one scope. Requires both.
  double covariance(const std::string& scope, const std::string& a, const std::string& b) const {
    const Entry& first = by_name_.at({scope, a});
    const Entry& second = by_name_.at({scope, b});
    const bool both = in_covariance(*first.constant) && in_covariance(*second.constant);
    if (both && !calibration_.covariance.empty()) {
      return calibration_.covariance[first.row][second.row];
    }
    if (a != b) return 0;
    const double deviation = deviation_of(*first.constant);
    return deviation * deviation;
  }

  static double deviation_of(const Constant& constant) {
    const double prior = constant.prior_deviation.value_or(0);
    return constant.identified ? constant.deviation.value_or(prior) : prior;
  }

 private:
  struct Entry {
    const Constant* constant = nullptr;
    std::size_t row = 0;
  };

  const Calibration& calibration_;
  std::map<std::pair<std::string, std::string>, Entry> by_name_;
};

void read_job(const Constant& constant, CalibratedLaw& law) {
  KnownJob& job = law.jobs[constant.scope.substr(std::string(kJobScope).size())];
  if (constant.name == "noise") job.noise = constant.value;
  if (constant.name == "gradient_bytes") job.gradients = constant.value * kByte;
  for (const auto& [name, field] : law_names(JobLaw{})) {
    if (constant.name != name) continue;
    job.law.*field = constant.value;
    job.deviation.*field = constant.deviation.value_or(law.job_deviation.*field);
  }
}

double noise_variance(const CalibratedLaw& law, const KnownJob* known, const LawQuestion& question,
                      Seconds time) {
  const double scale = known == nullptr ? 1 : known->noise;
  const LawInput input{
      .alone = question.alone, .jitter = question.jitter, .workers = question.workers};
  return stint::noise_variance(
      {.floor = law.noise_floor, .exposed = law.noise_exposed, .scale = scale}, input, time);
}

/// Of one of the job's constants.
double deviation_of(const CalibratedLaw& law, const KnownJob* known, const LawQuestion& question,
                    double JobLaw::*field) {
  const double deviation =
      known == nullptr ? law.dispersion * law.job_deviation.*field : known->deviation.*field;
  return field == &JobLaw::cost ? std::hypot(deviation, question.cost_deviation) : deviation;
}

/// The network in the calibration, where it stands there.
Status read_reference(const Constants& constants, CalibratedLaw& law) {
  const Constant* constant = constants.find("fabric_reference", "network");
  if (constant == nullptr) return {};
  if (constant->unit != "Gbit/s" || constant->value <= 0) {
    return bad_input(fmt::format(
        "the reference network of the calibration {} must be above zero, in Gbit/s", law.name));
  }
  law.reference_network = constant->value * kGbit / kSecond;
  return {};
}

/// A calibration of the other kind.
CalibratedLaw bucket_law_of(const Calibration& calibration, const CalibratedBuckets& buckets) {
  constexpr BytesPerSecond kReference = 1 * kGbit / kSecond;  // Only fixes the unit of networks.
  CalibratedLaw law{.name = calibration.name,
                    .fabric = stream_bound(buckets.law, kReference),
                    .noise_floor = buckets.noise_floor,
                    .noise_exposed = buckets.noise_exposed,
                    .reference_network = kReference,
                    .buckets = buckets};
  const std::size_t count = law_names(law.fabric).size();
  law.covariance.assign(count, std::vector<double>(count));
  for (const Constant& constant : calibration.constants) {
    law.fitted = law.fitted || constant.identified;
  }
  return law;
}

}  // namespace

const KnownJob* CalibratedLaw::known_job(const std::string& job, Bytes gradients) const {
  constexpr double kSameSize = 0.05;  // Counting buffers or padding changes less than this.
  const auto found = jobs.find(job);
  if (found == jobs.end() || !found->second.gradients) return nullptr;
  const Bytes difference = gradients - *found->second.gradients;
  const Bytes most = kSameSize * *found->second.gradients;
  return difference <= most && -1 * difference <= most ? &found->second : nullptr;
}

JobLaw law_of(const KnownJob* known) { return known == nullptr ? JobLaw{} : known->law; }

Result<CalibratedLaw> calibrated_law(const Calibration& calibration) {
  const auto buckets = calibrated_buckets(calibration);
  if (!buckets.ok()) return buckets.error();
  if (*buckets) return bucket_law_of(calibration, **buckets);
  const Constants constants(calibration);
  CalibratedLaw law{.name = calibration.name};
  std::string missing;
  const auto take = [&](const char* scope, const char* name) -> const Constant* {
    const Constant* found = constants.find(scope, name);
    if (found == nullptr && missing.empty()) missing = fmt::format("{} of {}", name, scope);
    return found;
  };
  for (const auto& [name, field] : law_names(FabricLaw{})) {
    const Constant* constant = take("fabric", name);
    if (constant == nullptr) continue;
    law.fabric.*field = constant->value;
    law.fitted = law.fitted || constant->identified;
  }
  for (const auto& [name, field] : law_names(JobLaw{})) {
    const Constant* constant = constants.find("job", name);
    if (constant != nullptr) law.job_deviation.*field = constant->prior_deviation.value_or(0);
  }
  if (const Constant* constant = take("noise", "noise_floor")) law.noise_floor = constant->value;
  if (const Constant* constant = take("noise", "noise_exposed")) {
    law.noise_exposed = constant->value;
  }
  if (!missing.empty()) {
    return bad_input(fmt::format("the calibration {} lacks the constant {}", law.name, missing));
  }
  const Status reference = read_reference(constants, law);
  if (!reference.ok()) return reference.error();
  // Calibrations from before facts were thought of have the rate alone.
  law.facts = calibration.fabric.value_or(FabricFacts{.network = law.reference_network});
  law.servers_fitted = constants.find("fabric", "server_cost")->identified;
  const Constant* dispersion = constants.find("noise", "dispersion");
  if (dispersion != nullptr) law.dispersion = dispersion->value;
  const auto width = [&](const char* name) {
    const Constant* constant = constants.find("noise", name);
    return constant == nullptr || constant->value <= 0 ? 1.0 : constant->value;
  };
  law.unseen = {.below = width("unseen_below"), .above = width("unseen_above")};
  for (const Constant& constant : calibration.constants) {
    if (constant.scope.starts_with(kJobScope)) read_job(constant, law);
  }
  for (const auto& [row_name, row_field] : law_names(FabricLaw{})) {
    auto& row = law.covariance.emplace_back();
    for (const auto& [name, field] : law_names(FabricLaw{})) {
      row.push_back(constants.covariance("fabric", row_name, name));
    }
  }
  return law;
}

FabricPrior carried_over(const CalibratedLaw& law, const NetworkKnowledge& knowledge,
                         const FabricFacts& facts) {
  // Hosts differ as much as the jobs of one host do: half of the prior stays.
  constexpr double kHostWeight = 0.87;
  const FabricTransfer transfer =
      fabric_transfer(knowledge, law.facts, facts, knowledge.physics.distance.cluster);
  const FabricPrior physical = fabric_prior(knowledge, facts);
  FabricPrior prior{.mean = transferred(law.fabric, transfer), .deviation = physical.deviation};
  std::size_t i = 0;
  for (const auto& [name, field] : law_names(law.fabric)) {
    const double weight = weight_of(transfer, field).value_or(kHostWeight);
    const double left = (1 - weight * weight) * std::pow(physical.deviation.*field, 2);
    prior.deviation.*field = std::sqrt(weight * weight * law.covariance[i][i] + left);
    ++i;
  }
  return prior;
}

double cost_log_deviation(const CalibratedLaw& law, const KnownJob* known,
                          const LawQuestion& question) {
  const JobLaw own = law_of(known);
  const double deviation = deviation_of(law, known, question, &JobLaw::cost);
  const auto at = [&](double distance) {
    JobLaw moved = own;
    moved.cost += distance * deviation;
    return std::log(question.time(law.fabric, moved).in(kSecond));
  };
  const double mean = at(0);
  return std::max(std::abs(at(kNearStep) - mean) / kNearStep,
                  (at(kEightInTen) - mean) / kEightInTen);
}

LogSpread log_spread(const CalibratedLaw& law, const KnownJob* known, const LawQuestion& question) {
  const JobLaw own = law_of(known);
  const auto fabric_names = law_names(law.fabric);
  const auto job_names = law_names(own);
  std::vector<std::vector<double>> correlation = law.covariance;
  std::vector<double> deviations = correlate(correlation);
  for (const auto& [name, field] : job_names) {
    const bool known_bytes = field == &JobLaw::size;
    deviations.push_back(known_bytes ? 0 : deviation_of(law, known, question, field));
  }
  const auto log_time = [&](std::span<const double> moved) {
    FabricLaw fabric = law.fabric;
    JobLaw job = own;
    std::size_t i = 0;
    for (const auto& [name, field] : fabric_names) {
      fabric.*field += moved[i] * deviations[i];
      ++i;
    }
    for (const auto& [name, field] : job_names) {
      job.*field += moved[i] * deviations[i];
      ++i;
    }
    return std::log(question.time(fabric, job).in(kSecond));
  };
  const LogSpread spread = log_spread(log_time, deviations.size(), correlation);
  const Seconds mean = question.time(law.fabric, own);
  const LogSpread whole = spread.with(std::sqrt(noise_variance(law, known, question, mean)));
  // One worker shows nothing of what held-out jobs did on several.
  if (known != nullptr || question.workers == 1) return whole;
  return {.below = whole.below * std::pow(law.unseen.below, question.weight),
          .above = whole.above * std::pow(law.unseen.above, question.weight)};
}

std::vector<std::vector<double>> lower_root(const std::vector<std::vector<double>>& covariance) {
  const std::size_t size = covariance.size();
  std::vector<std::vector<double>> root(size, std::vector<double>(size, 0));
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column <= row; ++column) {
      double left = covariance[row][column];
      for (std::size_t k = 0; k < column; ++k) left -= root[row][k] * root[column][k];
      if (row == column) {
        root[row][row] = left > 0 ? std::sqrt(left) : 0;
      } else if (root[column][column] > 0) {
        root[row][column] = left / root[column][column];
      }
    }
  }
  return root;
}

LawSampler::LawSampler(const CalibratedLaw& law, const KnownJob* known)
    : fabric_(law.fabric), own_(law_of(known)), root_(lower_root(law.covariance)) {
  for (const auto& [name, field] : law_names(JobLaw{})) {
    if (field == &JobLaw::size) continue;  // The bytes of gradients are known.
    deviation_.*field =
        known == nullptr ? law.dispersion * law.job_deviation.*field : known->deviation.*field;
  }
}

LawDraw LawSampler::draw(Random& random) const {
  LawDraw drawn{fabric_, own_};
  std::vector<double> normals;
  for (std::size_t i = 0; i < root_.size(); ++i) normals.push_back(random.normal());
  std::size_t row = 0;
  for (const auto& [name, field] : law_names(FabricLaw{})) {
    for (std::size_t k = 0; k <= row; ++k) drawn.fabric.*field += root_[row][k] * normals[k];
    ++row;
  }
  for (const auto& [name, field] : law_names(JobLaw{})) {
    drawn.own.*field += deviation_.*field * random.normal();
  }
  return drawn;
}

}  // namespace stint
