#pragma once

#include <optional>
#include <string>

#include "base/units.h"
#include "catalog/catalog.h"
#include "measure/tables/case_table.h"

namespace stint {

// What a published case leaves to general knowledge. Every fact that the case does not state itself
// comes with a sentence about it.

/// A figure, with a note where it is an assumption.
template <class T>
struct CaseFact {
  T value;
  std::string assumed = {};  // Empty: the case states it.
};

/// The gradients that the workers sum: four bytes for each parameter, two where training is in fp16
/// throughout; what the case states ("model size stated 203 MB"), else the parameters of a known
/// model. Absent: the model is not known.
std::optional<CaseFact<Bytes>> gradients_of(const PublishedCase& it);

/// The samples of one worker in one micro-step: as stated, else the default of the benchmark that
/// the task names. Absent: not known.
std::optional<CaseFact<int>> batch_of(const PublishedCase& it);

/// Samples of the whole training, for times to train: "14064 steps", or epochs of a known data set.
std::optional<double> samples_to_train(const PublishedCase& it);

/// Whether parameter servers carry the gradients.
bool has_servers(const PublishedCase& it);

/// Whether these servers run on the VMs of the workers and get one sum of each VM. Every NIC then
/// carries what it carries in an all-reduce: 2 (n - 1)/n of the gradients each way for n VMs.
bool servers_get_sums(const PublishedCase& it);

/// What the collectors of the cases warn of, as a clause; empty for most cases.
std::string warning_about(const PublishedCase& it);

/// The network between VMs as the case states it: its rate ("25 Gbit/s", "100Gbps nominal, 10 Gbps
/// observed" is what was observed) and transport. Parts that it does not state are absent.
Network stated_network(const PublishedCase& it);

/// The GPU of the catalogue that the case means by "V100-16GB", "A100-SXM4-80GB" or "Pascal (model
/// not stated)"; null when there is none.
const Gpu* gpu_of_case(const Catalog& catalog, const PublishedCase& it);

/// The VM type of a case: the catalogue's where `machines` names one, else one with the GPUs that
/// the case says; with the network that the case states. Absent with a reason: the GPU is not in
/// the catalogue.
Result<CaseFact<VmType>> vm_type_of(const Catalog& catalog, const PublishedCase& it);

}  // namespace stint
