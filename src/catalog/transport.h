#pragma once

#include <span>

#include "base/codec.h"

namespace stint {

/// What carries the traffic of a training job between VMs. A VM with a faster transport has TCP as
/// well; the catalogue names the fastest one.
enum class Transport { kTcp, kGpuDirectTcpx, kGpuDirectTcpxo, kEfa, kInfiniBand, kRoce };

inline std::span<const EnumName<Transport>> names_of(Transport /*type*/) {
  static constexpr EnumName<Transport> kNames[] = {{Transport::kTcp, "tcp"},
                                                   {Transport::kGpuDirectTcpx, "gpudirect-tcpx"},
                                                   {Transport::kGpuDirectTcpxo, "gpudirect-tcpxo"},
                                                   {Transport::kEfa, "efa"},
                                                   {Transport::kInfiniBand, "infiniband"},
                                                   {Transport::kRoce, "roce"}};
  return kNames;
}

/// Transports whose costs follow one law: over TCP the processor copies every byte and a flow has a
/// limit of its own; by remote direct memory access (RDMA) the NIC moves the bytes.
enum class TransportFamily { kTcp, kRdma };

inline std::span<const EnumName<TransportFamily>> names_of(TransportFamily /*type*/) {
  static constexpr EnumName<TransportFamily> kNames[] = {{TransportFamily::kTcp, "tcp"},
                                                         {TransportFamily::kRdma, "rdma"}};
  return kNames;
}

/// The law that `transport` follows. GPUDirect-TCPX and TCPXO count as RDMA: the NIC writes their
/// payload into the memory of the GPU, and no processor copies it.
constexpr TransportFamily family_of(Transport transport) {
  return transport == Transport::kTcp ? TransportFamily::kTcp : TransportFamily::kRdma;
}

}  // namespace stint
