#include "cli/verbs/receive_verb.h"

#include <cstdio>
#include <fmt/format.h>

#include "app/run/receive_shards.h"
#include "base/text.h"
#include "cli/verbs/quantity_option.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "receive";
constexpr int kPortMax = 65535;

Result<ReceiveRequest> request_of(const Invocation& invocation) {
  ReceiveRequest request{.folder = invocation.get("--folder")};
  if (request.folder.empty()) return bad_usage("--folder is missing: where do the shards go?");
  const auto port = parse_int(invocation.get("--port"));
  if (!port || *port < 0 || *port > kPortMax) {
    return bad_usage(fmt::format("--port must be a whole number from 0 to {}, not '{}'", kPortMax,
                                 printable(invocation.get("--port"))));
  }
  request.port = *port;
  const auto memory = quantity_of<Bytes>(invocation, "--memory");
  if (!memory.ok()) return memory.error();
  request.memory = memory->value_or(request.memory);
  return request;
}

ExitCode run(const Invocation& invocation) {
  const auto request = request_of(invocation);
  if (!request.ok()) return report(invocation, kVerb, request.error());
  const Status ended = receive_shards(*request, [&](int port) {
    print_answer(invocation, fmt::format("listening {}\n", port));
    std::fflush(invocation.out);
  });
  return ended.ok() ? kExitOk : report(invocation, kVerb, ended.error());
}

}  // namespace

Verb receive_verb() {
  return {
      .path = kVerb,
      .summary = "Keep checkpoints for workers; used by 'stint run' itself.",
      .details =
          "'stint run' starts it on the machines that hold checkpoints; there is no need to call "
          "it by hand. The first line of standard input is the secret of the run; whoever does "
          "not know it is sent away. When workers may come it prints 'listening PORT'. Shards "
          "are on the disk before they count as kept, and are found again by the next one that "
          "is given the same folder. It ends when it is killed.",
      .options = {{.name = "--folder", .value = "FOLDER", .help = "Where the shards go."},
                  {.name = "--port", .value = "N", .help = "To listen on; 0: any that is free."},
                  {.name = "--memory",
                   .value = "SIZE",
                   .help = "For the newest shards, which are given without the disk (default: "
                           "4GiB)."}},
      .examples = {{"stint receive --folder shards --port 0", "On any port."},
                   {"stint receive --folder shards --port 7070 --memory 16GiB",
                    "One that holds large checkpoints."}},
      .run = run};
}

}  // namespace stint::cli
