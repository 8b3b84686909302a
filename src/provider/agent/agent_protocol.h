#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/units.h"
#include "provider/agent/machine_facts.h"

/// The protocol between a runner and the agent on one of its machines: lines of JSON in both
/// directions of a stream, one message a line.
///
///   runner: hello            who calls, for which run and machine, and a nonce
///   agent:  welcome          a nonce, and a proof that it knows the secret of the run; or refused
///   runner: proof            the same of the runner; nothing is done before
///   agent:  joined           what runs here, and the last order that it has
///   both:   numbered messages; heard N acknowledges all up to N
///   runner: renew            the lease begins anew
///
/// A numbered message is kept until it is acknowledged, and sent again on the next stream where it
/// was not, so that each is acted upon once and in order. Orders are numbered by session, which is
/// one object of a runner; news by agent, which is one process. A session ends the sessions of
/// lower attempts: they are refused from then on.
namespace stint {

inline constexpr const char* kAgentProtocol = "stint.agent/1";

// Limits of one message. A worker's message travels inside another one, hence less of it.
inline constexpr std::size_t kAgentLineMax = 1U << 20U;        // Bytes, without the newline.
inline constexpr std::size_t kAgentValuesMax = 100'000;        // As parse_json counts them.
inline constexpr std::size_t kWorkerMessageMax = 512U << 10U;  // Bytes.
inline constexpr std::size_t kWorkerValuesMax = 90'000;
inline constexpr int kWorkerDepthMax = 32;
inline constexpr std::size_t kLogLineMax = 64U << 10U;  // Bytes; longer lines come in pieces.
inline constexpr int kProcessesMax = 1'024;             // At once on a machine.

// From the runner.

struct AgentHello {
  std::string protocol = kAgentProtocol;
  std::string version = {};  // Of the program that calls.
  std::string run = {};
  std::string machine = {};
  std::int64_t attempt = 0;                // Of the run; each runner has a higher one.
  std::string session = {};                // Random; one object of a runner.
  std::string nonce = {};                  // Random; one stream.
  std::optional<std::string> secret = {};  // Only over a stream that is trusted.
  std::optional<std::string> agent = {};   // The agent that was spoken with before,
  std::int64_t heard = 0;                  // and the last of its news that are here.
};

/// How long an agent works without its runner, and what it does then.
struct AgentTerms {
  Seconds lease = 120 * kSecond;                // From one renewal to the end of the work.
  Seconds grace = 30 * kSecond;                 // For workers to save once they were asked to.
  std::vector<std::string> release = {};        // A command that gives the machine back.
  std::optional<std::string> metadata = {};     // ADDRESS:PORT to ask for notices.
  std::optional<std::string> interpreter = {};  // Python whose torch is looked for.
};

enum class ProcessRole {
  kWorker,   // It has a control socket, and is asked to save before the machine is lost.
  kReceiver  // It keeps checkpoints as long as it can.
};

/// A program to start. It leads its own process group and ends with the agent.
struct ProcessStart {
  int process = 0;  // Its number among those of the machine; free when the last of it has ended.
  ProcessRole role = ProcessRole::kWorker;
  std::int64_t attempt = 0;  // Of the run; an older one than the session's is refused.
  int rank = 0;
  std::vector<std::string> words = {};      // A first word "stint" is the agent's own program.
  std::vector<std::string> variables = {};  // "NAME=value".
  std::vector<std::string> inherited = {};  // Names of the agent's variables it gets beside the
                                            // usual ones.
  std::string folder = {};                  // Empty: the agent's.
  std::string mark = {};                    // Of the runner; returned with its news.
  std::optional<std::string> input = {};    // A line on its standard input.
};

/// A message to a worker's control socket.
struct ProcessTell {
  int process = 0;
  Json message = {};
};

struct ProcessSignal {
  int process = 0;
  int signal = 0;  // To its group.
};

/// One message of a runner: exactly one of the members from `hello` on.
struct AgentOrder {
  std::int64_t number = 0;  // 0: not numbered, as hello, proof, renew and heard are.
  std::optional<AgentHello> hello = {};
  std::optional<std::string> proof = {};
  std::optional<std::int64_t> heard = {};
  std::optional<bool> renew = {};
  std::optional<AgentTerms> terms = {};
  std::optional<ProcessStart> start = {};
  std::optional<ProcessTell> tell = {};
  std::optional<ProcessSignal> signal = {};
  std::optional<int> end = {};     // Kills the process and its group.
  std::optional<bool> leave = {};  // Ends everything and exits, without the release command.
};

// From the agent.

struct AgentWelcome {
  std::string protocol = kAgentProtocol;
  std::string version = {};
  std::string agent = {};  // Random; one process.
  std::string nonce = {};
  std::string proof = {};
};

enum class AgentRefusal {
  kProtocol,  // Of another version; a newer binary helps.
  kMachine,   // The agent is another run's, or another machine's.
  kSecret,    // It is wrong, or missing.
  kAttempt,   // A runner of a higher attempt has taken over.
  kMalformed  // A message that is none.
};

struct AgentRefused {
  AgentRefusal cause = AgentRefusal::kMalformed;
  std::string reason = {};
};

/// A process that runs.
struct ProcessStanding {
  int process = 0;
  ProcessRole role = ProcessRole::kWorker;
  std::int64_t attempt = 0;
  int rank = 0;
  std::int64_t pid = 0;
  std::string mark = {};
};

struct AgentJoined {
  std::int64_t heard = 0;         // The last order of this session that it has.
  std::int64_t acknowledged = 0;  // The last of its news that a runner has.
  std::vector<ProcessStanding> processes = {};
};

/// A message of a worker.
struct ProcessSaid {
  int process = 0;
  std::int64_t attempt = 0;  // Of its start.
  Json message = {};
};

struct ProcessLog {
  int process = 0;
  std::int64_t attempt = 0;
  bool error = false;  // Printed to the standard error.
  std::string line = {};
  std::int64_t lost = 0;  // Lines that were dropped before this one.
};

/// The end of a process, or why it could not be started.
struct ProcessEnded {
  int process = 0;
  std::int64_t attempt = 0;
  int code = 0;  // As in shells: 128 and more for signals.
  std::optional<std::string> reason = {};
};

/// The machine will be lost.
struct MachineNotice {
  std::string source = {};           // "ec2", "gcp", "azure" or "signal".
  std::optional<Seconds> left = {};  // Absent: not said.
};

/// One message of an agent: exactly one of the members from `welcome` on.
struct AgentNews {
  std::int64_t number = 0;  // 0: not numbered, as welcome, refused, joined and heard are.
  std::optional<AgentWelcome> welcome = {};
  std::optional<AgentRefused> refused = {};
  std::optional<AgentJoined> joined = {};
  std::optional<std::int64_t> heard = {};
  std::optional<MachineFacts> facts = {};
  std::optional<ProcessStanding> started = {};
  std::optional<ProcessSaid> said = {};
  std::optional<ProcessLog> log = {};
  std::optional<ProcessEnded> ended = {};
  std::optional<MachineNotice> notice = {};
  std::optional<std::string> leaving = {};  // Why the agent ends.
  std::optional<std::string> problem = {};  // An order that could not be done.
};

/// A message as a line, which ends in a newline.
std::string to_line(const AgentOrder& order);
std::string to_line(const AgentNews& news);

/// Reads a line without its newline. Bad input says what is wrong with it.
Result<AgentOrder> read_order(std::string_view line);
Result<AgentNews> read_news(std::string_view line);

/// A worker's message, if it is one that can be passed on: an object within the limits above.
std::optional<Json> read_worker_message(std::string_view line);

/// Levels of nesting: 0 for a plain value, 1 for an object of those.
int depth_of(const Json& json);

/// Whether the line is a hello of another version of the protocol, and its mark.
std::optional<std::string> other_protocol(std::string_view line);

enum class AgentSide { kAgent, kRunner };

/// The text by which a side proves the secret on one stream: HMAC-SHA-256 under the secret, as
/// hexadecimal digits, of the lines
///
///   stint.agent/1, agent or runner, run, machine, attempt, session, runner's nonce, agent's nonce
std::string agent_proof(std::string_view secret, AgentSide side, const AgentHello& hello,
                        std::string_view agent_nonce);

}  // namespace stint
