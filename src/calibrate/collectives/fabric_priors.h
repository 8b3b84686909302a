#pragma once

#include <array>

namespace stint {

/// The prior of a constant of the law: its logarithm is normal.
struct ConstantPrior {
  const char* scope;
  const char* name;
  double value;
  double deviation;
  double max;  // Of the constant.
};

inline constexpr double kNoMax = 1e9;

// Latencies: a kernel's launch is some 8 µs, a hop over NVLink some 3 µs, over PCIe through the
// host's memory 8 µs, over RDMA 25 µs and over TCP 170 µs (as inside steps, see fabrics.json: no
// table has collectives over TCP), each within a factor of 2.7 at two deviations. Efficiencies:
// what nccl-tests reach at gigabytes; NVSwitch reduces in the switch from NVLink 4 on, which makes
// the bus bandwidth exceed the link's. Blend: between the perfect pipeline (1/2) and none (1). A
// mesh of m + 1 accelerators gives two of them 1/m of the lanes (exponent 1) or, where lanes are
// doubled, more. The loss of doubling VMs is a few per cent.
inline constexpr std::array<ConstantPrior, 20> kFabricPriors{{
    {"collectives", "launch", 8e-6, 0.5, kNoMax},
    {"collectives", "mesh_exponent", 0.8, 0.3, kNoMax},
    {"collectives", "mesh_all_to_all", 0.6, 0.3, 1},
    {"collectives", "tree_efficiency", 0.92, 0.03, 1},
    {"collectives", "loss_per_doubling", 0.02, 0.7, 0.5},
    {"collectives: switched", "latency", 3e-6, 0.5, kNoMax},
    {"collectives: switched", "efficiency", 0.9, 0.1, kNoMax},
    {"collectives: switched", "blend", 0.65, 0.15, 1},
    {"collectives: mesh", "latency", 3e-6, 0.5, kNoMax},
    {"collectives: mesh", "efficiency", 0.88, 0.1, 1},
    {"collectives: mesh", "blend", 0.65, 0.15, 1},
    {"collectives: pcie", "latency", 8e-6, 0.5, kNoMax},
    {"collectives: pcie", "efficiency", 0.6, 0.3, 1},
    {"collectives: pcie", "blend", 0.65, 0.15, 1},
    {"collectives: tcp", "latency", 1.68e-4, 0.5, kNoMax},
    {"collectives: tcp", "efficiency", 0.9, 0.1, 1},
    {"collectives: tcp", "blend", 0.71, 0.15, 1},
    {"collectives: rdma", "latency", 2.5e-5, 0.5, kNoMax},
    {"collectives: rdma", "efficiency", 0.88, 0.1, 1},
    {"collectives: rdma", "blend", 0.71, 0.15, 1},
}};

/// Nanoseconds that a processor takes to copy a byte that came over TCP; no table has rows that
/// would tell. Single flows of 8 GB/s are among the fastest that hosts reach.
inline constexpr double kTcpHostCost = 0.12;

/// How far one network over TCP differs from another in ln of its cost: Pollux's costs six times
/// what the constants say, Gavel's hardly more.
inline constexpr double kTcpSpread = 1.0;

}  // namespace stint
