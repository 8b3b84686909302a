#include "provider/agent/agent_protocol.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <type_traits>
#include <utility>

#include "base/codec.h"
#include "base/sha256.h"
#include "base/text.h"

namespace stint {

std::span<const EnumName<ProcessRole>> names_of(ProcessRole /*type*/) {
  static constexpr EnumName<ProcessRole> kNames[] = {{ProcessRole::kWorker, "worker"},
                                                     {ProcessRole::kReceiver, "receiver"}};
  return kNames;
}

std::span<const EnumName<AgentRefusal>> names_of(AgentRefusal /*type*/) {
  static constexpr EnumName<AgentRefusal> kNames[] = {{AgentRefusal::kProtocol, "protocol"},
                                                      {AgentRefusal::kMachine, "machine"},
                                                      {AgentRefusal::kSecret, "secret"},
                                                      {AgentRefusal::kAttempt, "attempt"},
                                                      {AgentRefusal::kMalformed, "malformed"}};
  return kNames;
}

namespace {

constexpr FieldRules kNumber{.range = Range::kNotNegative};
constexpr FieldRules kProcess{.range = Range::kNotNegative, .max = kProcessesMax - 1};
constexpr FieldRules kRank{.range = Range::kNotNegative};
constexpr int kSignalMax = 31;
constexpr std::size_t kInputMax = 4096;  // Bytes; less than a pipe takes at once.
constexpr std::size_t kNameMax = 256;    // Bytes of names, nonces and marks of a hello.

/// The number of members that are there; a message has exactly one.
template <class... Members>
int count_of(const Members&... members) {
  return (0 + ... + (members.has_value() ? 1 : 0));
}

}  // namespace

template <class Walk>
void describe(Walk& walk, Like<Walk, AgentHello>& it) {
  walk.field("protocol", it.protocol, "Version of the protocol.");
  walk.field("version", it.version, "Version of the runner's program.");
  walk.field("run", it.run, "Name of the run.");
  walk.field("machine", it.machine, "Name of the machine in the run.");
  walk.field("attempt", it.attempt, "Attempt of the run.", kNumber);
  walk.field("session", it.session, "Random name of the session.");
  walk.field("nonce", it.nonce, "Random text of this stream.");
  walk.field("secret", it.secret, "Secret of the run, over trusted streams.");
  walk.field("agent", it.agent, "The agent that was spoken with before.");
  walk.field("heard", it.heard, "Last of its news.", kNumber);
}

std::string problem(const AgentHello& it) {
  for (const std::string* text : {&it.version, &it.run, &it.machine, &it.session, &it.nonce}) {
    if (text->size() > kNameMax) return fmt::format("has a name of more than {} bytes", kNameMax);
    // Lines tell the parts of a proof apart.
    if (text->find('\n') != std::string::npos) return "has a name of several lines";
  }
  if (it.session.empty() || it.nonce.empty()) return "needs a session and a nonce";
  return "";
}

template <class Walk>
void describe(Walk& walk, Like<Walk, AgentTerms>& it) {
  walk.number("lease_s", it.lease, kSecond, "Time without a renewal until the work ends.",
              Range::kPositive);
  walk.number("grace_s", it.grace, kSecond, "Time to save.", Range::kNotNegative);
  walk.field("release", it.release, "Command that gives the machine back.");
  walk.field("metadata", it.metadata, "ADDRESS:PORT of the metadata service.");
  walk.field("interpreter", it.interpreter, "Python to look for PyTorch with.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ProcessStart>& it) {
  walk.field("process", it.process, "Number on the machine.", kProcess);
  walk.field("role", it.role, "What it is for.");
  walk.field("attempt", it.attempt, "Attempt of the run.", kNumber);
  walk.field("rank", it.rank, "Rank among all workers.", kRank);
  walk.field("words", it.words, "Program and arguments.");
  walk.field("variables", it.variables, "Environment, NAME=value.");
  walk.field("inherited", it.inherited, "Variables of the agent to pass on.");
  walk.field("folder", it.folder, "Working folder.");
  walk.field("mark", it.mark, "Returned with its news.");
  walk.field("input", it.input, "Line on its standard input.");
}

std::string problem(const ProcessStart& it) {
  if (it.words.empty() || it.words[0].empty()) return "needs a program";
  const auto null = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  if (std::any_of(it.words.begin(), it.words.end(), null) ||
      std::any_of(it.variables.begin(), it.variables.end(), null) || null(it.folder)) {
    return "has a null character in a word";
  }
  if (it.input && (it.input->size() > kInputMax || it.input->find('\n') != std::string::npos)) {
    return fmt::format("has an input that is not one line of at most {} bytes", kInputMax);
  }
  const bool assigned =
      std::all_of(it.variables.begin(), it.variables.end(), [](const std::string& text) {
        const std::size_t equals = text.find('=');
        return equals != 0 && equals != std::string::npos;
      });
  return assigned ? "" : "has a variable that is not NAME=value";
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ProcessTell>& it) {
  walk.field("process", it.process, "Number on the machine.", kProcess);
  walk.field("message", it.message, "The message.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ProcessSignal>& it) {
  walk.field("process", it.process, "Number on the machine.", kProcess);
  walk.field("signal", it.signal, "Signal.", {.range = Range::kPositive, .max = kSignalMax});
}

template <class Walk>
void describe(Walk& walk, Like<Walk, AgentOrder>& it) {
  walk.field("number", it.number, "Number in the session.", kNumber);
  walk.field("hello", it.hello, "Begins a stream.");
  walk.field("proof", it.proof, "Proof of the secret.");
  walk.field("heard", it.heard, "Acknowledges news.", kNumber);
  walk.field("renew", it.renew, "Begins the lease anew.");
  walk.field("terms", it.terms, "Terms of the lease.");
  walk.field("start", it.start, "Starts a process.");
  walk.field("tell", it.tell, "Message to a worker.");
  walk.field("signal", it.signal, "Signal to a process.");
  walk.field("end", it.end, "Kills a process.", kProcess);
  walk.field("leave", it.leave, "Ends the agent.");
}

std::string problem(const AgentOrder& it) {
  const int control = count_of(it.hello, it.proof, it.heard, it.renew);
  const int numbered = count_of(it.terms, it.start, it.tell, it.signal, it.end, it.leave);
  if (control + numbered != 1) return "must have exactly one order";
  if ((numbered == 1) != (it.number > 0)) return "has a wrong number";
  return "";
}

template <class Walk>
void describe(Walk& walk, Like<Walk, AgentWelcome>& it) {
  walk.field("protocol", it.protocol, "Version of the protocol.");
  walk.field("version", it.version, "Version of the agent's program.");
  walk.field("agent", it.agent, "Random name of the agent.");
  walk.field("nonce", it.nonce, "Random text of this stream.");
  walk.field("proof", it.proof, "Proof of the secret.");
}

std::string problem(const AgentWelcome& it) {
  const bool fits = it.agent.size() <= kNameMax && it.nonce.size() <= kNameMax;
  return fits && !it.agent.empty() ? "" : "has a wrong name";
}

template <class Walk>
void describe(Walk& walk, Like<Walk, AgentRefused>& it) {
  walk.field("cause", it.cause, "What was wrong.");
  walk.field("reason", it.reason, "The same as a sentence.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ProcessStanding>& it) {
  walk.field("process", it.process, "Number on the machine.", kProcess);
  walk.field("role", it.role, "What it is for.");
  walk.field("attempt", it.attempt, "Attempt of its start.", kNumber);
  walk.field("rank", it.rank, "Rank at its start.", kRank);
  walk.field("pid", it.pid, "Process id on the machine.", {.range = Range::kPositive});
  walk.field("mark", it.mark, "Mark of its start.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, AgentJoined>& it) {
  walk.field("heard", it.heard, "Last order that the agent has.", kNumber);
  walk.field("acknowledged", it.acknowledged, "Last of its news that a runner has.", kNumber);
  walk.field("processes", it.processes, "What runs.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ProcessSaid>& it) {
  walk.field("process", it.process, "Number on the machine.", kProcess);
  walk.field("attempt", it.attempt, "Attempt of its start.", kNumber);
  walk.field("message", it.message, "The message.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ProcessLog>& it) {
  walk.field("process", it.process, "Number on the machine.", kProcess);
  walk.field("attempt", it.attempt, "Attempt of its start.", kNumber);
  walk.field("error", it.error, "Whether it is of the standard error.");
  walk.field("line", it.line, "The line.");
  walk.field("lost", it.lost, "Lines dropped before it.", kNumber);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ProcessEnded>& it) {
  walk.field("process", it.process, "Number on the machine.", kProcess);
  walk.field("attempt", it.attempt, "Attempt of its start.", kNumber);
  walk.field("code", it.code, "Exit code, 128 and more for signals.", {.max = 255});
  walk.field("reason", it.reason, "Why it did not start.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, MachineNotice>& it) {
  walk.field("source", it.source, "Who says so.");
  walk.number("left_s", it.left, kSecond, "Time until the loss.", Range::kNotNegative);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, AgentNews>& it) {
  walk.field("number", it.number, "Number of the agent's news.", kNumber);
  walk.field("welcome", it.welcome, "Answers a hello.");
  walk.field("refused", it.refused, "Ends a stream.");
  walk.field("joined", it.joined, "Answers a proof.");
  walk.field("heard", it.heard, "Acknowledges orders.", kNumber);
  walk.field("facts", it.facts, "What the machine is.");
  walk.field("started", it.started, "A process that runs.");
  walk.field("said", it.said, "Message of a worker.");
  walk.field("log", it.log, "Line that a process printed.");
  walk.field("ended", it.ended, "End of a process.");
  walk.field("notice", it.notice, "Notice of an interruption.");
  walk.field("leaving", it.leaving, "Why the agent ends.");
  walk.field("problem", it.problem, "What could not be done.");
}

std::string problem(const AgentNews& it) {
  const int control = count_of(it.welcome, it.refused, it.joined, it.heard);
  const int numbered =
      count_of(it.facts, it.started, it.said, it.log, it.ended, it.notice, it.leaving, it.problem);
  if (control + numbered != 1) return "must have exactly one piece of news";
  if ((numbered == 1) != (it.number > 0)) return "has a wrong number";
  return "";
}

namespace {

template <class Message>
std::string line_of(const Message& message) {
  return to_text(WriteWalk::write_noun(message), JsonStyle::kLine) + "\n";
}

template <class Message>
Result<Message> message_in(std::string_view line, const char* source) {
  if (line.size() > kAgentLineMax) {
    return bad_input(fmt::format("{}: a line of more than {} bytes", source, kAgentLineMax));
  }
  const auto json = parse_json(line, source, 1, kAgentValuesMax);
  if (!json.ok()) return json.error();
  Trail trail{.source = source};
  Message message;
  ReadWalk::read_noun(*json, message, trail);
  if (!trail.ok()) return bad_input(*trail.error);
  return message;
}

}  // namespace

std::string to_line(const AgentOrder& order) { return line_of(order); }

std::string to_line(const AgentNews& news) { return line_of(news); }

Result<AgentOrder> read_order(std::string_view line) {
  return message_in<AgentOrder>(line, "order");
}

Result<AgentNews> read_news(std::string_view line) { return message_in<AgentNews>(line, "news"); }

int depth_of(const Json& json) {
  int inside = 0;
  if (const auto* array = json.as<Json::Array>()) {
    for (const Json& item : *array) inside = std::max(inside, depth_of(item));
    return inside + 1;
  }
  if (const auto* object = json.as<Json::Object>()) {
    for (const Json::Member& member : *object) inside = std::max(inside, depth_of(member.second));
    return inside + 1;
  }
  return 0;
}

std::optional<Json> read_worker_message(std::string_view line) {
  if (line.size() > kWorkerMessageMax) return std::nullopt;
  auto json = parse_json(line, "worker", 1, kWorkerValuesMax);
  if (!json.ok() || json->as<Json::Object>() == nullptr) return std::nullopt;
  if (depth_of(*json) > kWorkerDepthMax) return std::nullopt;
  return std::move(*json);
}

std::optional<std::string> other_protocol(std::string_view line) {
  const auto json = parse_json(line, "hello", 1, kAgentValuesMax);
  const Json* hello = json.ok() ? json->find("hello") : nullptr;
  const Json* mark = hello == nullptr ? nullptr : hello->find("protocol");
  const std::string* text = mark == nullptr ? nullptr : mark->as<std::string>();
  if (text == nullptr || *text == kAgentProtocol) return std::nullopt;
  return *text;
}

std::string agent_proof(std::string_view secret, AgentSide side, const AgentHello& hello,
                        std::string_view agent_nonce) {
  const std::string text =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n", kAgentProtocol,
                  side == AgentSide::kAgent ? "agent" : "runner", hello.run, hello.machine,
                  hello.attempt, hello.session, hello.nonce, agent_nonce);
  return to_hex(hmac_sha256(secret, text));
}

}  // namespace stint
