#include "layout_counters.hpp"

namespace layout_counters {

TEST(Lesson17TileOnEmulator, has_the_wavefronts_that_follow_from_its_words) {
    expect_wavefronts({
        // As published.
        {"lesson17", "setRowReadCol", "", 32, 1024, 32},
        {"lesson17", "setRowReadColDyn", "", 32, 1024, 32},
    });
}

} // namespace layout_counters
