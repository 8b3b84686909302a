#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/local/doctor.h"
#include "cli/views/view.h"
#include "cloud/cluster_status.h"

namespace stint {

inline std::span<const EnumName<Finding::Level>> names_of(Finding::Level /*type*/) {
  static constexpr EnumName<Finding::Level> kNames[] = {{Finding::Level::kGood, "ok"},
                                                        {Finding::Level::kAdvice, "advice"},
                                                        {Finding::Level::kBroken, "broken"}};
  return kNames;
}

}  // namespace stint

namespace stint::cli {

/// `stint version`.
struct VersionView {
  static constexpr const char* kSchema = "stint.version/1";
  static constexpr const char* kTitle = "The version of the program";
  std::string version;
  std::string compiler;
  std::vector<std::string> schemas;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, VersionView>& it) {
  walk.field("version", it.version, "Number of the version.");
  walk.field("compiler", it.compiler, "Compiler that built the program.");
  walk.field("schemas", it.schemas, "Documents that the program reads or writes.", kList);
}

struct FindingView {
  Finding::Level level = Finding::Level::kGood;
  std::string feature;
  std::string detail;
  std::optional<std::string> fix;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, FindingView>& it) {
  walk.field("level", it.level, "Whether the feature works.");
  walk.field("feature", it.feature, "Feature that was examined.");
  walk.field("detail", it.detail, "Result of the examination.");
  walk.field("fix", it.fix, "Command that repairs it.");
}

/// `stint doctor`.
struct DoctorView {
  static constexpr const char* kSchema = "stint.doctor/1";
  static constexpr const char* kTitle = "What this machine lacks, by feature";
  std::vector<FindingView> findings;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, DoctorView>& it) {
  walk.field("findings", it.findings, "Findings, one for each requirement of a feature.", kList);
}

/// `stint local list`.
struct ClustersView {
  static constexpr const char* kSchema = "stint.clusters/1";
  static constexpr const char* kTitle = "The emulated clusters that are up";
  std::vector<ClusterStatus> clusters;
  std::vector<std::string> dead;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, ClustersView>& it) {
  walk.document("clusters", it.clusters, kClusterSchema, "Clusters that are up, with their bills.");
  walk.field("dead", it.dead, "Names of clusters whose keeper is gone.", kList);
}

/// `stint local clean`.
struct CleaningView {
  static constexpr const char* kSchema = "stint.cleaning/1";
  static constexpr const char* kTitle = "What was removed of dead clusters";
  std::vector<std::string> removed;
  std::vector<std::string> alive;
  std::vector<std::string> kept;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, CleaningView>& it) {
  walk.field("removed", it.removed, "Names of clusters that were removed.", kList);
  walk.field("alive", it.alive, "Names of clusters that are up and were left alone.", kList);
  walk.field("kept", it.kept, "Clusters that could not be removed, with the reason.", kList);
}

/// An all-reduce of `stint probe network`.
struct ProbedSumView {
  std::vector<std::string> vms;
  Bytes bytes;
  bool pair = false;
  Seconds median;
  Seconds spread;
  int count = 1;
  BytesPerSecond bus;
  Seconds predicted;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, ProbedSumView>& it) {
  constexpr Range kRange = Range::kNotNegative;
  walk.field("vms", it.vms, "Names of the VMs that took part.", kList);
  walk.number("bytes", it.bytes, kByte, "Payload of one VM.", kRange);
  walk.field("pair", it.pair, "Whether the row compares pairs of VMs.");
  walk.number("median_s", it.median, kSecond, "Median time.", kRange);
  walk.number("spread_s", it.spread, kSecond, "Robust standard deviation of the time.", kRange);
  walk.field("count", it.count, "Number of measurements.", kCount);
  walk.number("bus_bytes_per_s", it.bus, kByte / kSecond, "Rate of each network card.", kRange);
  walk.number("predicted_s", it.predicted, kSecond, "Time that the calibration predicts.", kRange);
}

struct ProbeSpreadView {
  std::optional<double> repeats;
  std::optional<double> time;
  std::optional<double> pairs;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, ProbeSpreadView>& it) {
  walk.field("repeats", it.repeats, "Spread from one all-reduce to the next.", kCount);
  walk.field("time", it.time, "Spread from one round to another.", kCount);
  walk.field("pairs", it.pairs, "Spread from one pair of VMs to another.", kCount);
}

struct ProbeCalibrationView {
  std::string name;
  Date date;
  int age_days = 0;
  double mape = 0;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, ProbeCalibrationView>& it) {
  walk.field("name", it.name, "Name of the calibration.");
  walk.field("date", it.date, "Date of the fit.");
  walk.field("age_days", it.age_days, "Days since the fit.");
  walk.field("mape", it.mape, "Mean absolute relative error of the predictions.", kCount);
}

/// `stint probe network`.
struct ProbeView {
  static constexpr const char* kSchema = "stint.probe/1";
  static constexpr const char* kTitle = "A measured network against its calibration";
  std::string cluster;
  std::vector<ProbedSumView> sums;
  ProbeSpreadView spread;
  ProbeCalibrationView calibration;
  std::optional<double> folded_mape;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, ProbeView>& it) {
  walk.field("cluster", it.cluster, "Cluster, in the notation of --cluster.");
  walk.field("sums", it.sums, "All-reduces that were timed.", kList);
  walk.field("spread", it.spread, "Standard deviations of the logarithm of the time.");
  walk.field("calibration", it.calibration, "Calibration that predicted the times.");
  walk.field("folded_mape", it.folded_mape,
             "Mean absolute relative error with this probe in the calibration, VM counts held out "
             "in turn.",
             kCount);
}

}  // namespace stint::cli
