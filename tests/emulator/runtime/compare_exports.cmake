# cmake -D NM=… -D OURS=… -D REAL=… -P compare_exports.cmake: whether OURS exports what the toolkit's library REAL exports,
# and nothing else but the emulator's own interface.
function(exported_symbols library result)
    execute_process(COMMAND ${NM} -D --defined-only ${library} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL " [TBDRW] [^@\n]+" symbols "${lines}")
    list(TRANSFORM symbols REPLACE "^ . " "")
    set(${result} ${symbols} PARENT_SCOPE)
endfunction()

exported_symbols(${OURS} ours)
exported_symbols(${REAL} real)

set(missing ${real})
list(REMOVE_ITEM missing ${ours})
set(extra ${ours})
list(REMOVE_ITEM extra ${real} emulator_last_launch_counters)
if(missing OR extra)
    message(FATAL_ERROR "missing: ${missing}\nnot in the toolkit's library: ${extra}")
endif()
list(LENGTH real count)
message("${count} symbols")
