#include "provider/asked_provider.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "base/clock.h"
#include "base/codec.h"

namespace stint {
namespace {

constexpr const char* kCallSchema = "stint.engine-call/1";
constexpr const char* kAnswerSchema = "stint.engine-answer/1";
constexpr const char* kEnded = "the process that asks for machines ended";
constexpr std::size_t kAnswerMax = 64U << 20U;  // More than a list of 100,000 machines.

template <class Noun>
std::string line_of(const Noun& noun, const char* schema) {
  return to_text(encode(noun, schema), JsonStyle::kLine) + "\n";
}

EngineAnswer read_answer(std::string_view line) {
  auto json = parse_json(line, "engine");
  if (!json.ok()) return {.error = json.error().message};
  auto answer = decode<EngineAnswer>(*json, kAnswerSchema, "engine");
  if (!answer.ok()) return {.error = answer.error().message};
  return std::move(answer->noun);
}

/// Makes the calls that arrive, until the socket closes.
int serve(const Engine& engine, int socket) {
  while (true) {
    const std::string line = read_line(socket, 1e9 * kSecond);
    if (line.empty()) return 0;
    const auto json = parse_json(line, "call");
    if (!json.ok()) return 1;
    const auto call = decode<EngineCall>(*json, kCallSchema, "call");
    if (!call.ok()) return 1;
    if (!write_all(socket, line_of(perform(engine, call->noun), kAnswerSchema))) return 0;
  }
}

}  // namespace

AskedProvider::AskedProvider(const Engine& engine, EnginePace pace)
    : engine_(engine), pace_(pace), desk_(pace), both_(::epoll_create1(EPOLL_CLOEXEC)) {}

AskedProvider::~AskedProvider() {
  for (Asker& asker : askers_) end(asker);
}

void AskedProvider::request(const MachineOrder& order) {
  desk_.request(order);
  ask_next(EngineLane::kOrders);
}

void AskedProvider::release(const std::string& name) {
  desk_.release(name);
  ask_next(EngineLane::kOrders);
}

ProviderNews AskedProvider::observe() {
  for (const EngineLane lane : kEngineLanes) hear(lane);
  for (const EngineLane lane : kEngineLanes) ask_next(lane);
  return desk_.take_news();
}

Result<pid_t> AskedProvider::spawn(const std::string& name, Command command) {
  return engine_.spawn(name, std::move(command));
}

Status AskedProvider::start(Asker& asker) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return failed(fmt::format("cannot create a socket: {}", std::strerror(errno)));
  }
  asker.socket = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);
  const auto child = fork_child(
      [&](int /*report*/) {
        close_all_but({theirs.get()});
        return serve(engine_, theirs.get());
      },
      {.group = ProcessGroup::kOwn, .death_signal = SIGKILL});
  if (!child.ok()) return child.error();
  asker.pid = child->pid;
  ::fcntl(asker.socket.get(), F_SETFL, O_NONBLOCK);
  epoll_event readable{};
  readable.events = EPOLLIN;
  ::epoll_ctl(both_.get(), EPOLL_CTL_ADD, asker.socket.get(), &readable);
  return {};
}

void AskedProvider::end(Asker& asker) const {
  if (asker.pid > 0) kill_group(asker.pid);
  asker.pid = -1;
  asker.socket.close();
  asker.heard.clear();
}

void AskedProvider::hear(EngineLane lane) {
  Asker& asker = of(lane);
  if (asker.pid < 0) return;
  char bytes[65536];
  ssize_t got = 1;
  while (got > 0 && asker.heard.size() < kAnswerMax) {
    got = ::recv(asker.socket.get(), bytes, sizeof bytes, 0);
    if (got > 0) asker.heard.append(bytes, static_cast<std::size_t>(got));
  }
  const bool ended = got >= 0 || (errno != EAGAIN && errno != EINTR);
  const std::size_t newline = asker.heard.find('\n');
  if (asker.answer_by && newline != std::string::npos) {
    asker.answer_by.reset();
    desk_.answered(lane, read_answer(std::string_view(asker.heard).substr(0, newline)),
                   boot_time());
    asker.heard.erase(0, newline + 1);
  }
  if (ended) return give_up(lane, kEnded);
  if (!asker.answer_by || !asker.answer_by->passed()) return;
  give_up(lane, fmt::format("no answer within {:g} s", pace_.patience.in(kSecond)));
}

/// Ends the process of the lane; the next call has another one.
void AskedProvider::give_up(EngineLane lane, const std::string& why) {
  Asker& asker = of(lane);
  end(asker);
  if (!std::exchange(asker.answer_by, std::nullopt)) return;
  desk_.answered(lane, {.error = why}, boot_time());
}

void AskedProvider::ask_next(EngineLane lane) {
  Asker& asker = of(lane);
  if (asker.answer_by) return;
  const auto call = desk_.next(lane, boot_time());
  if (!call) return;
  asker.answer_by = Deadline(pace_.patience);
  const Status started = asker.pid > 0 ? Status() : start(asker);
  if (!started.ok()) return give_up(lane, started.error().message);
  // A call is short beside the room of a socket that nothing waits in.
  if (!write_all(asker.socket.get(), line_of(*call, kCallSchema))) give_up(lane, kEnded);
}

}  // namespace stint
