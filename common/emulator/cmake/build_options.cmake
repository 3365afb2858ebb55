# Compiler options of the emulator, and of the tutorial around it.

# GCC 12 wrongly warns of overlapping copies when a literal and a std::string are concatenated (GCC bug 105329). Clang
# does not know GCC's pragmas, and needs none.
set(false_warnings $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas>)

# GCC begins to collect garbage at a gigabyte, not at 128 MB: an eighth of its time less, and about a tenth more memory.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1000000>
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<CXX_COMPILER_ID:GNU>>:-Xcompiler=--param=ggc-min-heapsize=1000000>)

# For code that takes longer to compile than it ever runs; RelWithDebInfo is the preset sanitize's.
set(COMPILED_FAST "" CACHE STRING "More options of the compiler for such code")
set(compiled_fast $<$<CONFIG:Release>:-Og> $<$<CONFIG:RelWithDebInfo>:-O0> ${COMPILED_FAST})

# compile_as_one(<target>): compiles its files in one piece, or in a few (UNITY_GROUP), in less than half the time.
option(COMPILE_AS_ONE "Compile each library in one piece. OFF: file by file, for whoever edits one" ON)
function(compile_as_one target)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${COMPILE_AS_ONE} UNITY_BUILD_BATCH_SIZE 0)
endfunction()
