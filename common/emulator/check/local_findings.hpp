/// The findings of one host thread, before they are merged with those of the others.
#pragma once

#include "emulator/machine/finding.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace emulator {

/// A broken kernel breaks the same rule a million times. Findings with the same `Key` are counted here,
/// without a lock and without building their text again.
template <class Key> class LocalFindings {
public:
    explicit LocalFindings(Findings& all) : all_(all) {}
    LocalFindings(const LocalFindings&) = delete;
    LocalFindings& operator=(const LocalFindings&) = delete;

    /// Hands over to the others.
    ~LocalFindings() {
        for (Finding& finding : findings_) all_.add(std::move(finding));
    }

    /// Found `count` times more. `describe()` returns the finding when it is the first of its key.
    template <class Describe> void add(const Key& key, std::uint64_t count, Describe describe) {
        const auto [place, is_new] = index_.try_emplace(key, findings_.size());
        if (is_new) {
            findings_.push_back(describe());
            findings_.back().count = count;
        } else {
            findings_[place->second].count += count;
        }
    }

private:
    Findings& all_;
    std::vector<Finding> findings_; // in the order in which they were first found
    std::map<Key, std::size_t> index_;
};

} // namespace emulator
