#include "emulator/machine/finding.hpp"

#include <utility>

namespace emulator {

void Findings::add(Finding finding) {
    std::string key = finding.checker + '\n' + finding.kind + '\n' + finding.kernel;
    for (const Party& party : finding.parties)
        key += '\n' + party.role + '\n' + party.operation + (party.where.empty() ? party.ptx : party.where);
    if (finding.parties.empty()) key += '\n' + finding.message;
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = index_.try_emplace(std::move(key), findings_.size());
    if (is_new)
        findings_.push_back(std::move(finding));
    else
        findings_[place->second].count += finding.count;
}

std::vector<Finding> Findings::list() const {
    const std::lock_guard lock(mutex_);
    return findings_;
}

std::vector<Finding> Findings::take() {
    const std::lock_guard lock(mutex_);
    index_.clear();
    return std::exchange(findings_, {});
}

} // namespace emulator
