#include "ladder_counters.hpp"

namespace ladder_counters {

// reduce8. A request is 32 vectors of 16 bytes: 512 bytes, 16 sectors, a quarter of the requests and the same
// sectors. n ints from the offset K on are a head of h = (4 - K mod 4) mod 4 ints up to a 16-byte boundary,
// v = (n - h) / 4 vectors, and a tail of up to 3 ints. The body takes ceil(v / 32) requests; where it does
// not begin on a 32-byte boundary each full one touches 17 sectors. Head and tail are a request each, of one
// sector.
//   2^20 ints    K = 0   v = 2^18                     8192 requests of 16              8192    131,072
//                K = 4   v = 2^18, at byte 16         8192 requests of 17              8192    139,264
//                K = 1   h = 3, v = 2^18 - 1, at byte 16, tail of 1
//                                                     8191 of 17, one of 31 vectors, which end on a
//                                                     boundary (16 + 31 x 16 = 512): 16
//                                                     and 1 + 1                        8194    139,265
//                K = 5   h = 3, v = 2^18 - 1, at byte 32, tail of 1
//                                                     8191 of 16, one of 15.5: 16
//                                                     and 1 + 1                        8194    131,074
//   900 ints     v = 225                              7 of 16 and one of 1                8        113
//   65 ints      v = 16, tail of 1                    one of 8 and 1                      2          9
// reduce7 with K = 1: each request of 128 bytes begins off a boundary and touches 5 sectors, 32,768 x 5 =
// 163,840.
TEST(Lesson08FirstPass, has_the_counters_that_follow_from_its_access_pattern) {
    expect_counters({
        {"lesson08", "reduce7", mega, 256, 1056, 131'072, 32'768, shuffles_256},
        {"lesson08", "reduce7", mega, 256, 1056, 163'840, 32'768, shuffles_256, 1},
        {"lesson08", "reduce8", mega, 256, 512, 131'072, 8192, shuffles_256},
        {"lesson08", "reduce8", mega, 256, 512, 139'265, 8194, shuffles_256, 1},
        {"lesson08", "reduce8", mega, 256, 512, 139'264, 8192, shuffles_256, 4},
        {"lesson08", "reduce8", mega, 256, 512, 131'074, 8194, shuffles_256, 5},
        {"lesson08", "reduce8", mega, 256, 512, 131'072, 8192, shuffles_256, 8},
        {"lesson08", "reduce8", 900, 128, 1, 113, 8, shuffles_128},
        {"lesson08", "reduce8", 65, 32, 1, 9, 2, shuffles_32},
    });
}

TEST(Lesson08Divergence, follows_from_the_conditions) {
    expect_divergence({
        {"lesson08", "reduce8", 10 * 512},
    });
}

} // namespace ladder_counters
