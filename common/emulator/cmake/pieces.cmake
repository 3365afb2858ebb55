# How execute/ and the hot part of machine/ are compiled: in pieces of about the same size (UNITY_GROUP). No two files of a piece
# share a name in their unnamed namespaces.
set(hot_machine_sources machine/block.cpp machine/warp.cpp machine/call_stack.cpp machine/convergence_groups.cpp
    machine/counting.cpp machine/memory_traffic.cpp)
set(floating_point execute/floating_point.cpp execute/rounding.cpp execute/convert.cpp execute/fp8.cpp execute/fp16.cpp
    execute/logic.cpp execute/video.cpp execute/b128.cpp)
set(integer execute/integer.cpp execute/async_copy.cpp execute/builtins.cpp execute/compare.cpp execute/control.cpp)
set(memory execute/memory.cpp execute/address_resolution.cpp execute/atomic.cpp execute/carry.cpp execute/mbarrier.cpp)
set(warp execute/warp.cpp ${hot_machine_sources})
