#include "predict/law_sample.h"

#include <cmath>

namespace stint {

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
