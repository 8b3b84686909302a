#include "run/worker_orders.h"

#include <fmt/format.h>
#include <utility>

#include "base/check.h"
#include "run/run_folder.h"

namespace stint {
namespace {

Json whole(std::int64_t number) { return Json(Json::Value{number}); }

Json whole(std::size_t number) { return whole(static_cast<std::int64_t>(number)); }

Json order(const char* kind, Json facts) {
  Json json;
  json.add(kind, std::move(facts));
  return json;
}

}  // namespace

Json train_order(const TrainOrder& it, std::size_t rank) {
  CHECK(rank < it.shares.size());
  CHECK(it.micro_batches.size() == it.shares.size());
  Json::Array shares;
  for (const int share : it.shares) shares.emplace_back(share);
  Json facts;
  facts.add("attempt", it.attempt);
  facts.add("rank", whole(rank));
  facts.add("world", whole(it.shares.size()));
  facts.add("master", Json(it.master));
  facts.add("port", it.port);
  facts.add("shares", Json(std::move(shares)));
  facts.add("micro_batch", it.micro_batches[rank]);
  if (it.checkpoint) facts.add("checkpoint", *it.checkpoint);
  if (it.training) {
    facts.add("batch", it.training->batch);
    facts.add("steps", whole(it.training->steps));
    facts.add("gain", Json(it.training->gain));
    facts.add("rate", Json(it.training->rate));
    facts.add("noise_every", it.training->noise_every);
  }
  return order("train", std::move(facts));
}

Json save_order(int attempt, std::int64_t step, Json place, bool halt) {
  Json facts;
  facts.add("attempt", attempt);
  facts.add("step", whole(step));
  facts.add("place", std::move(place));
  if (halt) facts.add("halt", Json(true));
  return order("save", std::move(facts));
}

Json end_order() { return order("end", Json(Json::Object{})); }

Json checkpoint_at(const Checkpoint& checkpoint, Json place) {
  Json::Array checksums;
  for (const CheckpointShard& shard : checkpoint.shards) {
    checksums.push_back(whole(static_cast<std::int64_t>(shard.checksum)));
  }
  Json json;
  json.add("step", whole(checkpoint.step));
  json.add("shards", whole(checkpoint.shards.size()));
  json.add("checksums", Json(std::move(checksums)));
  json.add("place", std::move(place));
  return json;
}

Json folder_place(const std::string& folder) {
  Json json;
  json.add("folder", Json(folder));
  return json;
}

Json receivers_place(const std::vector<ReceiverAddress>& receivers, const RunRecord& record) {
  Json::Array addresses;
  for (const ReceiverAddress& it : receivers) {
    addresses.emplace_back(Json::Array{Json(it.address), Json(it.port)});
  }
  Json json;
  json.add("receivers", Json(std::move(addresses)));
  json.add("secret", Json(record.secret));
  json.add("run", Json(record.name));
  return json;
}

std::vector<std::string> order_variables(const RunRecord& record, const RunMachines& machines,
                                         const std::string& run, int share) {
  std::vector<std::string> variables = {fmt::format("STINT_RUN={}", record.name),
                                        fmt::format("STINT_BATCH_SIZE={}", share),
                                        fmt::format("STINT_GLOBAL_BATCH={}", record.global_batch),
                                        fmt::format("STINT_STEPS={}", record.steps),
                                        "STINT_CHECKPOINT_DIR=" + script_folder(run),
                                        "STINT_SCRIPT_NOTES=" + script_notes_path(run)};
  if (record.compute != RunCompute::kPacedReal) return variables;
  variables.push_back(fmt::format("STINT_PACE={}", job_path(run)));
  variables.push_back(fmt::format("STINT_PACE_DEVICE={}", machines.device.value_or("")));
  variables.push_back(fmt::format("STINT_PACE_SPEED={}", machines.speed));
  return variables;
}

}  // namespace stint
