/// \file
/// How what was observed is written in JSON, and read again.
///
/// The records. They all have "process" too, its number.
///   {"record": "process", "program": "/home/me/lesson03"}
///   {"record": "launch", "launch": 0, "kernel": "reduce3", "name": "reduce3(int const*, int*)",
///    "grid": [8192,1,1], "block": [256,1,1], "dynamic_shared_bytes": 1024, "counters": {…} or "error": "…"}
///   {"record": "other launch", …the same…}: one that was not asked for
///   {"record": "running", "launch": 0, "name": "reduce3(int const*, int*)"}: a launch begins; for the case
///    that it does not end. With "somebody": …a Party's members…, who is where in one that takes long
///   {"record": "finding", "launch": 0 or null, …a Finding's members…}
///   {"record": "refused launch"}: one that has not begun, and is not among those that are numbered
///   {"record": "refusal", "function"}: the emulator does not support that function of the API, or, where it
///   is
///       empty, cannot run the kernel of a launch
///   {"record": "error", "text": "…"}: what the emulator printed on stderr
///   {"record": "cut off"}, alone: the file could not be written
///   and those of the recorders: {"record": "lines", "launch": 0, …}, {"record": "accesses", …}
#pragma once

#include "emulator/machine/finding.hpp"
#include "emulator/machine/launch.hpp"

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
