# cmake -D NM=… -D OURS=… -D REAL=… -P compare_exports.cmake: checks that each library in the folder OURS exports what
# the toolkit's library REAL exports, and otherwise only the emulator's own interface. For CUDA 12 it also exports what other
# versions of 12 do.
function(exported_symbols library result)
    execute_process(COMMAND ${NM} -D --defined-only ${library} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL " [TBDRW] [^@\n]+" symbols "${lines}")
    list(TRANSFORM symbols REPLACE "^ . " "")
    set(${result} ${symbols} PARENT_SCOPE)
endfunction()

get_filename_component(name ${REAL} NAME)
file(GLOB_RECURSE libraries ${OURS}/${name})
if(NOT libraries)
    message(FATAL_ERROR "there is no ${name} in ${OURS}")
endif()
exported_symbols(${REAL} real)
if(name STREQUAL libcudart.so.12) # only programs that were compiled with CUDA 11's headers call these
    list(REMOVE_ITEM real cudaGetDeviceProperties cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_ptsz)
endif()
foreach(library IN LISTS libraries)
    exported_symbols(${library} ours)
    set(missing ${real})
    list(REMOVE_ITEM missing ${ours})
    set(extra ${ours})
    list(REMOVE_ITEM extra ${real} emulator_last_launch_counters emulator_last_launch_estimate)
    list(FILTER extra EXCLUDE REGEX "^cu[A-Z]") # the driver's, for libcuda.so.1
    if(missing OR (extra AND NOT name STREQUAL libcudart.so.12))
        message(FATAL_ERROR "${library}\nmissing: ${missing}\nnot in the toolkit's library: ${extra}")
    endif()
endforeach()
list(LENGTH real count)
message("${count} symbols in ${libraries}")
