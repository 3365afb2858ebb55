/// \file
/// How what was observed is written in JSON, and read again.
#pragma once

#include "emulator/machine/launch.hpp"
#include "emulator/observe/finding.hpp"

#include <nlohmann/json_fwd.hpp>

namespace emulator {

using Json = nlohmann::ordered_json;

void to_json(Json& json, const Dim3& extents); ///< [8192, 1, 1]
void from_json(const Json& json, Dim3& extents);
void to_json(Json& json, const Counters& counters); ///< {"l1tex__…": 4194304, …}
Json nonzero(const Counters& counters);             ///< the same without those that are 0
void to_json(Json& json, const Party& party);
void to_json(Json& json, const Finding& finding);
void from_json(const Json& json, Party& party);
void from_json(const Json& json, Finding& finding);

} // namespace emulator
