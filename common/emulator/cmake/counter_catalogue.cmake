# counter_catalogue: #include <counter_catalogue.hpp>, generated from common/counters.json.
#
# In that file each counter has an id, as programs call it; the name that Nsight Compute has for it (ptx__…: it has none); its
# row and its label in the lessons' tables ("": it has no row); a short name, for an exercise's goals; whether it is exact, or
# counted on PTX; and whether it is rare, so that a table leaves it out where it is 0.
set(catalogue ${CMAKE_CURRENT_LIST_DIR}/../../counters.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${catalogue})
file(READ ${catalogue} json)
string(JSON count LENGTH "${json}")
math(EXPR last "${count} - 1")
set(entries "")
foreach(k RANGE ${last})
    foreach(member id name row label exact rare)
        string(JSON ${member} GET "${json}" ${k} ${member})
    endforeach()
    if(row AND NOT exact)
        string(APPEND row " (PTX)")
    endif()
    string(TOLOWER "${rare}" rare) # CMake says ON
    if(rare STREQUAL "on")
        set(rare true)
    else()
        set(rare false)
    endif()
    string(APPEND entries " \\\n    COUNTER(${id}, \"${name}\", \"${row}\", \"${label}\", ${rare})")
endforeach()
set(folder ${CMAKE_CURRENT_BINARY_DIR}/catalogue)
file(CONFIGURE OUTPUT ${folder}/counter_catalogue.hpp @ONLY CONTENT [[
/// \file
/// Made from common/counters.json: the counters of a kernel launch.
#pragma once

/// COUNTER(id, name in Nsight Compute, row, label, is rare), once for each of them.
#define COUNTER_CATALOGUE(COUNTER)@entries@

/// Their names.
namespace counter_name {
#define COUNTER_NAME(id, name, row, label, is_rare) inline constexpr const char* id = name;
COUNTER_CATALOGUE(COUNTER_NAME)
#undef COUNTER_NAME
} // namespace counter_name
]])
add_library(counter_catalogue INTERFACE)
target_include_directories(counter_catalogue INTERFACE ${folder})
