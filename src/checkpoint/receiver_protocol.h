#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "checkpoint/shard_file.h"

/// The protocol between receivers of checkpoints and their clients:
///
///   receiver: stint.receiver/1 NONCE
///   client:   PROOF                                  see proof_of; a wrong one is not answered
///   client:   put STEP NUMBER COUNT LENGTH CHECKSUM  and the bytes of the shard
///   receiver: kept                                   in memory and on disk; or "refused REASON"
///   client:   get STEP NUMBER COUNT
///   receiver: here LENGTH CHECKSUM                   and the bytes; or "missing"
///   client:   drop STEP
///   receiver: dropped                                or "refused REASON"
///
/// Each message is a line; numbers are decimal.
namespace stint {

inline constexpr std::string_view kReceiverGreeting = "stint.receiver/1 ";
inline constexpr std::size_t kNonceBytes = 16;
inline constexpr std::size_t kProofDigits = 64;
inline constexpr std::size_t kReceiverLineMax = 256;                    // Bytes.
inline constexpr std::int64_t kShardBytesMax = std::int64_t{64} << 30;  // 64 GiB.
inline constexpr std::int64_t kShardCountMax = 65536;
inline constexpr std::int64_t kStepMax = 1'000'000'000'000'000;

struct PutRequest {
  ShardName shard;
  std::int64_t bytes = 0;
  std::uint32_t checksum = 0;
};

struct GetRequest {
  ShardName shard;
};

struct DropRequest {
  std::int64_t step = 0;
};

using ReceiverRequest = std::variant<PutRequest, GetRequest, DropRequest>;

/// Reads a line without its newline; bad input names the error.
Result<ReceiverRequest> parse_request(std::string_view line);

/// The line with its newline.
std::string to_line(const ReceiverRequest& request);

/// The announcement of a shard that follows.
struct HereAnswer {
  std::int64_t bytes = 0;
  std::uint32_t checksum = 0;
};

Result<HereAnswer> parse_here(std::string_view line);
std::string to_line(const HereAnswer& answer);

}  // namespace stint
