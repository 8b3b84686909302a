#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "checkpoint/shard_file.h"

/// What receivers of checkpoints and those who send to them say to each other:
///
///   receiver: stint.receiver/1 NONCE
///   client:   PROOF                                  as proof_of has it; a wrong one is not
///   answered client:   put STEP NUMBER COUNT LENGTH CHECKSUM  and the bytes of the shard receiver:
///   kept                                   in memory and on the disk; or "refused REASON" client:
///   get STEP NUMBER COUNT receiver: here LENGTH CHECKSUM                   and the bytes; or
///   "missing" client:   drop STEP receiver: dropped                                or "refused
///   REASON"
///
/// Each is a line; numbers are decimal.
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

/// Reads a line without its end; bad input says what is wrong with it.
Result<ReceiverRequest> parse_request(std::string_view line);

/// With its end.
std::string to_line(const ReceiverRequest& request);

/// What "here" says of the shard that follows.
struct HereAnswer {
  std::int64_t bytes = 0;
  std::uint32_t checksum = 0;
};

Result<HereAnswer> parse_here(std::string_view line);
std::string to_line(const HereAnswer& answer);

}  // namespace stint
