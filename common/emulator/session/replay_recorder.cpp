#include "emulator/session/replay_recorder.hpp"

#include "emulator/machine/loaded_module.hpp"
#include "emulator/memory/global_memory.hpp"
#include "emulator/program/names.hpp"
#include "emulator/session/records.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace emulator {
namespace {

constexpr std::size_t piece_bytes = 4096;
constexpr std::size_t max_launches = 100, max_bytes = 32 << 20;

/// Why a page cannot run a launch, or must not become so large.
struct Refusal {
    std::string why;
};

std::string base64(const std::byte* bytes, std::size_t count) {
    constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((count + 2) / 3 * 4);
    for (std::size_t k = 0; k < count; k += 3) {
        const std::size_t left = std::min<std::size_t>(3, count - k);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i)
            bits = bits << 8 | (i < left ? std::to_integer<std::uint32_t>(bytes[k + i]) : 0);
        for (std::size_t i = 0; i < 4; ++i) text += i <= left ? digits[bits >> (18 - 6 * i) & 63] : '=';
    }
    return text;
}

/// Where the variables of the kernel's module begin; 0 if it has none.
std::uint64_t module_address(const LoadedModule& module) {
    std::uint64_t first = 0;
    for (const auto& [name, address] : module.addresses())
        first = first == 0 ? address : std::min(first, address);
    return first;
}

/// Whether the variable holds what its module says. Then PTX that takes the module's place may say otherwise.
bool is_initial(const LoadedModule& module, std::string_view variable, const Allocation& allocation) {
    const ptx::Variable& declared = *module.ptx().variable(variable);
    if (declared.bytes != allocation.bytes) return false;
    std::vector<std::byte> initial(allocation.bytes);
    module.write_initial_value(declared, initial.data());
    return std::equal(initial.begin(), initial.end(), reinterpret_cast<const std::byte*>(allocation.address));
}

} // namespace

Watcher* ReplayRecorder::begin(const ObservedLaunch& launch) {
    if (launch.selected && !refused_) {
        try {
            pending_[launch.number] = record_of(launch);
        } catch (const Refusal& refusal) {
            refused_ = true;
            pending_[launch.number] = {{"refusal", refusal.why}};
        }
    }
    return &written_;
}

std::vector<Json> ReplayRecorder::end(const ObservedLaunch& launch) {
    const auto pending = pending_.extract(launch.number);
    if (!pending) return {};
    Json record{{"record", "replay"}};
    record.update(pending.mapped());
    return {std::move(record)};
}

Json ReplayRecorder::record_of(const ObservedLaunch& launch) {
    const auto& [number, kernel, configuration, selected, parameters, memory, takes_turns] = launch;
    if (++launches_ > max_launches)
        throw Refusal{"more than " + std::to_string(max_launches) +
                      " launches: choose some with --kernel or --launch"};
    if (kernel.uses_heap())
        throw Refusal{kernel.readable_name() + " calls malloc or new, which a page cannot run again"};

    Json record = Json::object();
    record["kernel"] = kernel.name();
    record["name"] = short_name(kernel.readable_name());
    const std::string& ptx = kernel.module().ptx().text;
    const auto [module, is_new] = modules_.emplace(ptx, modules_.size());
    if (is_new) new_modules_[std::to_string(module->second)] = ptx;
    record["module"] = module->second;
    record["module_address"] = module_address(kernel.module());
    record["grid"] = configuration.grid;
    record["block"] = configuration.block;
    record["shared"] = configuration.dynamic_shared_bytes;
    if (configuration.cluster) record["cluster"] = *configuration.cluster;
    record["cooperative"] = configuration.cooperative;
    record["takes_turns"] = takes_turns;
    record["call_stack_bytes"] = configuration.call_stack_bytes;
    record["parameters"] = Json::array();
    for (const Parameter& one : kernel.parameters())
        record["parameters"].push_back(base64(parameters.data() + one.offset, one.bytes));
    record["memory"] = memory_of(launch);
    record["modules"] = std::exchange(new_modules_, Json::object());
    record["pieces"] = std::exchange(new_pieces_, Json::array());
    return record;
}

Json ReplayRecorder::memory_of(const ObservedLaunch& launch) {
    Json all = Json::array();
    const LoadedModule& module = launch.kernel.module();
    std::map<std::uint64_t, std::string_view> variables;
    for (const auto& [name, address] : module.addresses()) variables[address] = name;
    for (const Allocation* const one : launch.memory.allocations()) {
        if (one->address < replay_first_address || one->end() > replay_last_address)
            throw Refusal{describe(*one) +
                          ": a page has room for 1 GiB of device memory, freed memory included, and for none "
                          "of the host's (cudaHostRegister)"};
        const bool is_tracked = written_.stretch(one->address).written != nullptr;
        Json allocation = Json::object();
        allocation["address"] = one->address;
        const auto found = variables.find(one->address);
        const bool is_own = found != variables.end();
        if (is_own) allocation["variable"] = found->second;
        allocation["bytes"] = one->bytes;
        allocation["origin"] = one->origin;
        allocation["writable"] = one->writable;
        allocation["host_writes"] = !is_tracked;
        allocation["unwritten"] = is_tracked ? unwritten_of(one->address) : Json::array();
        allocation["contents"] =
            is_own && is_initial(module, found->second, *one)
                ? Json::array()
                : contents_of(reinterpret_cast<const std::byte*>(one->address), one->bytes);
        all.push_back(std::move(allocation));
    }
    return all;
}

Json ReplayRecorder::contents_of(const std::byte* first, std::size_t bytes) {
    std::vector<std::pair<std::uint32_t, std::int64_t>> runs;
    for (std::size_t k = 0; k < bytes; k += piece_bytes) {
        const std::size_t count = std::min(piece_bytes, bytes - k);
        const std::uint32_t piece =
            number_of_piece(std::string(reinterpret_cast<const char*>(first) + k, count));
        if (!runs.empty()) {
            auto& [last, number] = runs.back();
            if (piece == last && (number < 0 || number == 1)) {
                number = number == 1 ? -2 : number - 1;
                continue;
            }
            if (number > 0 && piece == last + number) {
                ++number;
                continue;
            }
        }
        runs.emplace_back(piece, 1);
    }
    return runs;
}

/// Bytes in a struct's padding count as written: no read of them is an error.
Json ReplayRecorder::unwritten_of(std::uint64_t address) {
    const WrittenBytes& written = *written_.stretch(address).written;
    Json runs = Json::array();
    if (written.is_complete()) return runs;
    const auto is_missing = [&](std::uint64_t place) {
        return !written.is_written(place) && !written.is_padding(place);
    };
    for (std::uint64_t place = 0; place < written.size(); ++place) {
        if (!is_missing(place)) continue;
        const std::uint64_t first = place;
        while (place < written.size() && is_missing(place)) ++place;
        runs.push_back({first, place - first});
        make_room(sizeof first);
    }
    return runs;
}

std::uint32_t ReplayRecorder::number_of_piece(std::string piece) {
    const auto [found, is_new] = pieces_.try_emplace(std::move(piece), pieces_.size());
    if (!is_new) return found->second;
    const std::string& bytes = found->first;
    make_room(bytes.size());
    new_pieces_.push_back(base64(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()));
    return found->second;
}

void ReplayRecorder::make_room(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ > max_bytes)
        throw Refusal{
            "the launches find more than " + std::to_string(max_bytes >> 20) +
            " MiB of different contents in device memory: run the program with less data, or choose "
            "launches with --kernel or --launch"};
}

} // namespace emulator
