#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "measure/tables/collective_tables.h"
#include "predict/collective_law.h"

namespace stint {

/// A row of a table of collectives as a collective on a fabric.
struct CollectiveCase {
  std::string system;      // Hardware and software that share what is learned of them.
  std::string collective;  // As the table names it.
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Fabric fabric;
  bool rate_unknown = false;  // The line rate, or inside one VM the link's, is a guess.
  bool many_jobs = false;     // A median over jobs, which differ at the same size.
  Bytes payload;              // As nccl-tests counts it.
  Bytes stated;               // As the table counts it.
  // The value of the table's column for a time T is factor · T, or factor / T when `inverse`.
  double factor = 1;  // For T in seconds.
  bool inverse = false;
  std::optional<double> value;  // Measured.
  std::string note;             // Why there is no prediction; empty: there is one.
};

/// The value of the table's column for a time.
double value_of(const CollectiveCase& it, Seconds time);

/// The time that a measured value stands for.
std::optional<Seconds> measured_time(const CollectiveCase& it);

/// The same cluster and collective, whatever the size.
bool same_curve(const CollectiveCase& a, const CollectiveCase& b);

/// Time at the nominal rates, without latency.
Seconds line_rate_time(const CollectiveCase& it);

/// The case of `row` with the figures of `catalog`: links of its GPU or VM type, network of the VM
/// type, of the network's text, or of the largest VM type with that GPU. A figure that is unknown
/// is replaced by a middle one and marked; an unknown collective or VM type is noted.
CollectiveCase collective_case(const CollectiveMeasurement& row, const Catalog& catalog);

}  // namespace stint
