/// How records are written as JSON, and read again.
///
/// The records. They also have "process", the process's number.
///   {"record": "process", "program": "/home/me/lesson03"}
///   {"record": "launch", "launch": 0, "kernel": "reduce3", "name": "reduce3(int const*, int*)",
///    "grid": [8192,1,1], "block": [256,1,1], "dynamic_shared_bytes": 1024, "counters": {…} or "error": "…"}
///   and, if there is such traffic (ptx/grading.hpp), "uncounted": {"local memory": "ld.local.u32"}
///   {"record": "other launch", …the same…}: a launch that was not selected
///   {"record": "running", "launch": 0, "name": "reduce3(int const*, int*)"}: a launch begins. Written in
///    case it never ends. With "somebody": …a Party's members…, a thread's location in a long launch
///   {"record": "finding", "launch": 0 or null, …a Finding's members…}
///   {"record": "refused launch"}: a launch that was rejected before it began; it has no number
///   {"record": "refusal", "function"}: the emulator does not support that API function, or, if empty, cannot
///    run a launched kernel
///   {"record": "error", "text": "…"}: a message that the emulator printed on stderr
///   {"record": "cut off"}, alone: the file could not be written
///   and the recorders' records: {"record": "lines", "launch": 0, …}, {"record": "accesses", …},
///   {"record": "replay", …},
///   {"record": "time", …}, {"record": "machine code", …}
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
