#include "emulator/cli/lines.hpp"

#include <nlohmann/json.hpp>

namespace emulate {

using emulator::nonzero;

namespace {

const char* name_of(ListingKind kind) {
    switch (kind) {
    case ListingKind::source: return "cuda";
    case ListingKind::ptx: return "ptx";
    case ListingKind::lost: break;
    }
    return "not found";
}

Json hottest_columns(const Hottest& hottest, const LineCounts& counts) {
    Json names = Json::array();
    for (std::size_t i = 0; i < line_columns().size(); ++i)
        if (hottest.is_hot(i, counts)) names.push_back(line_columns()[i].id);
    return names;
}

/// Those of the machine code.
void add_machine_code(Json& json, const LineCounts& counts) {
    json["instructions_sm_90"] = counts.machine_instructions;
    json["data_pipe_passes"] = counts.data_pipe_passes;
}

Json listing_as_json(const Listing& listing, const Hottest& hottest, bool has_machine_code) {
    Json json{{"function", listing.function}, {"source", name_of(listing.kind)}};
    json["file"] = listing.file.empty() ? Json(nullptr) : Json(listing.file);
    json["newer_than_program"] = listing.is_stale;
    json["lines"] = Json::array();
    for (const ListedLine& line : listing.lines) {
        Json entry{{"line", line.number}, {"text", line.text}};
        if (line.counts) {
            entry["counters"] = nonzero(line.counts->counted);
            entry["ideal"] = nonzero(line.counts->ideal);
            if (has_machine_code) add_machine_code(entry, *line.counts);
            entry["hottest"] = hottest_columns(hottest, *line.counts);
        }
        json["lines"].push_back(std::move(entry));
    }
    return json;
}

} // namespace

Json lines_as_json(const std::vector<KernelLines>& kernels) {
    Json json = Json::array();
    for (const KernelLines& kernel : kernels) {
        Json entry{{"kernel", kernel.kernel}, {"name", kernel.name}, {"launches", kernel.launches}};
        entry["counters"] = nonzero(kernel.total.counted);
        entry["ideal"] = nonzero(kernel.total.ideal);
        const bool has_machine_code = kernel.no_machine_code.empty();
        if (has_machine_code)
            add_machine_code(entry, kernel.total);
        else
            entry["no_sm_90"] = kernel.no_machine_code;
        entry["functions"] = Json::array();
        for (const Listing& listing : kernel.listings)
            entry["functions"].push_back(listing_as_json(listing, Hottest(kernel), has_machine_code));
        json.push_back(std::move(entry));
    }
    return json;
}

} // namespace emulate
