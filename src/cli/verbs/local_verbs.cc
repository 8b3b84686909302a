#include <algorithm>
#include <fmt/format.h>

#include "app/local/local_cases.h"
#include "base/json.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "cli/render/render_local.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

const OptionSpec kNameOption = {
    .name = "--name", .value = "NAME", .help = "Name of the cluster (default: the only one)."};

constexpr int kPortMax = 65'535;

Result<Seconds> notice_of(const Invocation& invocation) {
  if (!invocation.has("--notice")) return 120 * kSecond;
  const auto notice = parse_quantity<Seconds>(invocation.get("--notice"));
  if (!notice.ok()) return bad_usage("--notice: " + notice.error().message);
  if (*notice < Seconds{}) return bad_usage("--notice must be zero or more");
  return *notice;
}

Result<LocalUpRequest> up_request(const Invocation& invocation) {
  if (!invocation.has("--cluster")) {
    return bad_usage(
        "--cluster is required. For example: stint local up --cluster '4x local.small'");
  }
  LocalUpRequest request{.cluster = invocation.get("--cluster"),
                         .life = invocation.get("--life"),
                         .pool = invocation.get("--pool")};
  if (invocation.has("--name")) request.name = invocation.get("--name");
  const auto seed = count_of(invocation, "--seed", kIntMax);
  if (!seed.ok()) return seed.error();
  request.seed = static_cast<std::uint64_t>(seed->value_or(1));
  const auto notice = notice_of(invocation);
  if (!notice.ok()) return notice.error();
  request.notice = *notice;
  if (invocation.has("--quota")) {
    request.processors = parse_double(invocation.get("--quota"));
    if (!request.processors) {
      return bad_usage("--quota must be a number of processors, for example 0.5");
    }
  }
  return request;
}

void print_cluster(const Invocation& invocation, const ClusterStatus& status) {
  print_answer(invocation, invocation.output() == "json"
                               ? to_text(encode(status, kClusterSchema), JsonStyle::kPretty) + "\n"
                               : text_of(status, invocation.out_terminal));
}

ExitCode up(const Invocation& invocation) {
  const auto request = up_request(invocation);
  if (!request.ok()) return report(invocation, "local up", request.error());
  const auto answer = local_up(invocation.environment, *request);
  if (!answer.ok()) return report(invocation, "local up", answer.error());
  print_warnings(invocation, answer->warnings);
  print_cluster(invocation, answer->status);
  say(invocation,
      fmt::format("The emulation is accurate while VMs x rate is at most 4 Gbit/s and messages are "
                  "above 1 MB. Next: stint local exec --name {} -- hostname",
                  answer->status.name));
  return kExitOk;
}

ExitCode list(const Invocation& invocation) {
  const auto answer = local_list(invocation.environment);
  if (!answer.ok()) return report(invocation, "local list", answer.error());
  if (invocation.output() == "json") {
    print_answer(invocation,
                 to_text(json_of(answer->clusters, answer->dead), JsonStyle::kPretty) + "\n");
    return kExitOk;
  }
  for (const ClusterStatus& status : answer->clusters) print_cluster(invocation, status);
  if (answer->clusters.empty()) {
    say(invocation, "No cluster is up. Create one: stint local up --cluster '4x local.small'");
  }
  if (!answer->dead.empty()) {
    say(invocation,
        fmt::format("Leftovers of clusters without a keeper: {}. Remove them: stint local clean",
                    join(answer->dead, ", ")));
  }
  return kExitOk;
}

ExitCode preempt_vm(const Invocation& invocation) {
  const auto notice = notice_of(invocation);
  if (!notice.ok()) return report(invocation, "local preempt", notice.error());
  const auto status = local_preempt(invocation.environment, invocation.get("--name"),
                                    invocation.arguments[0], *notice);
  if (!status.ok()) return report(invocation, "local preempt", status.error());
  print_cluster(invocation, *status);
  return kExitOk;
}

ExitCode add(const Invocation& invocation) {
  const auto answer = local_add(invocation.environment, {.name = invocation.get("--name"),
                                                         .vm = invocation.arguments[0],
                                                         .type = invocation.arguments[1]});
  if (!answer.ok()) return report(invocation, "local add", answer.error());
  print_warnings(invocation, answer->warnings);
  print_cluster(invocation, answer->status);
  return kExitOk;
}

ExitCode release(const Invocation& invocation) {
  const auto status =
      local_release(invocation.environment, invocation.get("--name"), invocation.arguments[0]);
  if (!status.ok()) return report(invocation, "local release", status.error());
  print_cluster(invocation, *status);
  return kExitOk;
}

ExitCode reshape(const Invocation& invocation) {
  const auto network = parse_quantity<BytesPerSecond>(invocation.arguments[1]);
  if (!network.ok()) {
    return report(invocation, "local reshape", bad_usage("RATE: " + network.error().message));
  }
  const auto status = local_reshape(invocation.environment, invocation.get("--name"),
                                    invocation.arguments[0], *network);
  if (!status.ok()) return report(invocation, "local reshape", status.error());
  print_cluster(invocation, *status);
  return kExitOk;
}

ExitCode down(const Invocation& invocation) {
  const auto status = local_down(invocation.environment, invocation.get("--name"));
  if (!status.ok()) return report(invocation, "local down", status.error());
  print_cluster(invocation, *status);
  return kExitOk;
}

ExitCode clean(const Invocation& invocation) {
  const auto cleaning = local_clean(invocation.environment);
  if (!cleaning.ok()) return report(invocation, "local clean", cleaning.error());
  if (invocation.output() == "json") {
    print_answer(invocation, to_text(json_of(*cleaning), JsonStyle::kPretty) + "\n");
  } else {
    for (const std::string& name : cleaning->removed) {
      print_answer(invocation, fmt::format("removed the leftovers of {}\n", name));
    }
    for (const std::string& name : cleaning->alive) {
      say(invocation, fmt::format("{} is up; end it with: stint local down --name {}", name, name));
    }
    if (cleaning->removed.empty() && cleaning->kept.empty()) say(invocation, "Nothing to remove.");
  }
  if (cleaning->kept.empty()) return kExitOk;
  return report(invocation, "local clean", failed(join(cleaning->kept, "; ")));
}

ExitCode exec(const Invocation& invocation) {
  const auto port = count_of(invocation, "--port", kPortMax);
  if (!port.ok()) return report(invocation, "local exec", port.error());
  const ExecRequest request{.command = invocation.arguments,
                            .vms = invocation.list("--vms"),
                            .port = port->value_or(29500)};
  const auto print = [&](std::string_view vm, bool error, std::string_view line) {
    std::FILE* stream = error ? invocation.err : invocation.out;
    const std::string text = fmt::format("{}: {}\n", vm, line);
    std::fwrite(text.data(), 1, text.size(), stream);
    std::fflush(stream);
  };
  const auto code = local_exec(invocation.environment, invocation.get("--name"), request, print);
  if (!code.ok()) return report(invocation, "local exec", code.error());
  return static_cast<ExitCode>(*code);
}

Verb up_verb() {
  return {.path = "local up",
          .group = VerbGroup::kMachines,
          .summary = "Create a small cloud of VMs on this computer.",
          .details =
              "Each VM is a set of namespaces with a NIC of its type's rate and a metadata service "
              "like EC2's. Nothing is visible from outside, and 'stint local down' removes "
              "everything. Root is not needed if the kernel lets users create namespaces. The "
              "emulation is accurate while the rates of the VMs add up to at most 4 Gbit/s; more "
              "than 16 is refused.",
          .options = {{.name = "--cluster",
                       .value = "CLUSTER",
                       .help = "VMs of the cluster: '4x local.small', '2x local.fast:spot + "
                               "local.small'; none: no VMs yet."},
                      {.name = "--name",
                       .value = "NAME",
                       .help = "Name of the cluster (default: local)."},
                      {.name = "--life",
                       .value = "LIFE",
                       .help = "Lifetime of spot VMs: until-down (default), hazard:MEAN as in "
                               "hazard:30m, or trace:FILE of availability."},
                      {.name = "--seed", .value = "N", .help = "Seed of the hazard (default: 1)."},
                      {.name = "--notice",
                       .value = "TIME",
                       .help = "Spot interruption notice (default: 120s)."},
                      {.name = "--pool",
                       .value = "FILE",
                       .help = "Table of spot capacity and price over time: "
                               "at_s,spot[,price_factor][,unannounced]."},
                      {.name = "--quota", .value = "N", .help = "Processors per VM, 0.1 or more."}},
          .outputs = {"table", "json"},
          .examples = {{"stint local up --cluster '4x local.small'", "Four VMs at 100 Mbit/s."},
                       {"stint local up --cluster '2x local.fast:spot' --life hazard:10m",
                        "Two spot VMs with a mean lifetime of ten minutes."}},
          .run = up};
}

Verb exec_verb() {
  return {.path = "local exec",
          .group = VerbGroup::kMachines,
          .summary = "Run a program on each VM of the emulated cloud.",
          .details =
              "Each process gets MASTER_ADDR, MASTER_PORT, RANK, LOCAL_RANK, WORLD_SIZE, NODE_RANK "
              "and GLOO_SOCKET_IFNAME for PyTorch, and AWS_EC2_METADATA_SERVICE_ENDPOINT. If one "
              "process fails, all are killed, and its exit code is that of the verb.",
          .arguments = {{.name = "COMMAND", .help = "Program to run, after --.", .several = true}},
          .options = {kNameOption,
                      {.name = "--vms",
                       .value = "LIST",
                       .help = "VMs to run on, in the order of their ranks (default: all).",
                       .list = true},
                      {.name = "--port", .value = "N", .help = "MASTER_PORT (default: 29500)."}},
          .examples = {{"stint local exec -- /usr/bin/python3 train.py", "A DDP job on all VMs."},
                       {"stint local exec --vms vm1,vm2 -- ip addr", "A command on two of them."}},
          .run = exec};
}

Verb add_verb() {
  return {.path = "local add",
          .group = VerbGroup::kMachines,
          .summary = "Rent one more VM in an emulated cluster.",
          .details =
              "A spot VM is refused if the pool of --pool has no capacity. A name is never reused "
              "in a cluster, since released VMs stay on its bill.",
          .arguments = {{.name = "VM", .help = "Name of the new VM: vm5."},
                        {.name = "TYPE", .help = "VM type: local.small, local.fast:spot."}},
          .options = {kNameOption},
          .outputs = {"table", "json"},
          .examples = {{"stint local add vm5 local.small", "An on-demand VM."},
                       {"stint local add vm6 local.fast:spot --name mine", "A spot VM."}},
          .run = add};
}

}  // namespace

std::vector<Verb> local_verbs() {
  return {up_verb(),
          {.path = "local list",
           .group = VerbGroup::kMachines,
           .summary = "List emulated clusters, their VMs and their bills.",
           .outputs = {"table", "json"},
           .examples = {{"stint local list", "All clusters."},
                        {"stint local list -o json", "As JSON."}},
           .run = list},
          exec_verb(),
          add_verb(),
          {.path = "local release",
           .group = VerbGroup::kMachines,
           .summary = "Release a VM of an emulated cluster.",
           .arguments = {{.name = "VM", .help = "VM to release: vm1."}},
           .options = {kNameOption},
           .outputs = {"table", "json"},
           .examples = {{"stint local release vm2", "Release vm2 now."},
                        {"stint local release vm2 -o json", "Also print the bill as JSON."}},
           .run = release},
          {.path = "local reshape",
           .group = VerbGroup::kMachines,
           .summary = "Change the network rate of an emulated VM.",
           .arguments = {{.name = "VM", .help = "VM to change: vm1."},
                         {.name = "RATE", .help = "Rate in each direction: 30Mbit/s."}},
           .options = {kNameOption},
           .outputs = {"table", "json"},
           .examples = {{"stint local reshape vm2 30Mbit/s", "Make one VM slow."},
                        {"stint local reshape vm2 1Gbit/s --name mine",
                         "A VM of one of several clusters."}},
           .run = reshape},
          {.path = "local preempt",
           .group = VerbGroup::kMachines,
           .summary = "Interrupt an emulated VM, with a notice like EC2's.",
           .details = "The notice appears in the VM's metadata at once. After it, the VM's "
                      "processes are killed and its network is removed.",
           .arguments = {{.name = "VM", .help = "VM to interrupt: vm1."}},
           .options = {kNameOption,
                       {.name = "--notice",
                        .value = "TIME",
                        .help = "Interruption notice (default: 120s); 0s interrupts now."}},
           .outputs = {"table", "json"},
           .examples = {{"stint local preempt vm2", "In two minutes."},
                        {"stint local preempt vm2 --notice 0s", "Without notice."}},
           .run = preempt_vm},
          {.path = "local down",
           .group = VerbGroup::kMachines,
           .summary = "End an emulated cluster and remove it.",
           .options = {kNameOption},
           .outputs = {"table", "json"},
           .examples = {{"stint local down", "The only cluster."},
                        {"stint local down --name mine", "One of several clusters."}},
           .run = down},
          {.path = "local clean",
           .group = VerbGroup::kMachines,
           .summary = "Remove the leftovers of crashed emulated clusters.",
           .details = "Reads the journals of clusters whose keeper process is gone. Clusters that "
                      "are up, and anything that no journal names, are left alone.",
           .outputs = {"table", "json"},
           .examples = {{"stint local clean", "After a crash."},
                        {"stint local clean -o json", "As JSON."}},
           .run = clean}};
}

}  // namespace stint::cli
