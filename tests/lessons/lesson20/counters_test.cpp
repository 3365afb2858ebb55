#include "layout_counters.hpp"

namespace layout_counters {

TEST(Lesson20TileOnEmulator, has_the_wavefronts_that_follow_from_its_words) {
    expect_wavefronts({
        // As published.
        {"lesson20", "setRowReadCol", "", 16, 256, 16},
        {"lesson20", "setRowReadColDyn", "", 16, 256, 16},
    });
}

} // namespace layout_counters
