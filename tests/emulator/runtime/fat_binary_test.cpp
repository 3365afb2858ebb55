#include "fat_binary_builder.hpp"

#include "emulator/error.hpp"
#include "emulator/runtime/fat_binary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <array>
#include <random>

using namespace emulator;
using testing::HasSubstr;

namespace {

const std::string ptx =
    "\n.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry nothing()\n{\nret;\n}\n"
    "// a line that compresses well, a line that compresses well, a line that compresses well\n";

constexpr std::uint64_t lz4_flag = 0x2000, zstd_flag = 0x8000;

EntryBuilder plain(std::uint32_t target, const std::string& text) {
    return {.target = target, .payload = bytes_of(text)};
}

/// An entry of compressed bytes, padded to eight as nvcc does.
EntryBuilder compressed(std::uint64_t flag, Bytes payload, std::size_t uncompressed_bytes) {
    EntryBuilder entry{.flags = flag,
                       .compressed_bytes = static_cast<std::uint32_t>(payload.size()),
                       .uncompressed_bytes = uncompressed_bytes,
                       .payload = std::move(payload)};
    entry.payload.resize((entry.payload.size() + 7) / 8 * 8);
    return entry;
}

EntryBuilder lz4(const std::string& text) {
    Bytes payload(LZ4_compressBound(static_cast<int>(text.size())));
    payload.resize(LZ4_compress_default(text.data(), reinterpret_cast<char*>(payload.data()),
                                        static_cast<int>(text.size()), static_cast<int>(payload.size())));
    return compressed(lz4_flag, std::move(payload), text.size());
}

EntryBuilder zstd(const std::string& text) {
    Bytes payload(ZSTD_compressBound(text.size()));
    payload.resize(ZSTD_compress(payload.data(), payload.size(), text.data(), text.size(), 3));
    return compressed(zstd_flag, std::move(payload), text.size());
}

/// The text of the entry that the emulator would run; "" if there is none.
std::string text_to_run(const Bytes& fat_binary) {
    const auto entries = ptx_entries(fat_binary);
    const PtxEntry* entry = best_entry(entries);
    return entry ? ptx_text(*entry) : "";
}

std::string text_to_run(const EntryBuilder& entry) {
    return text_to_run(fat_binary_bytes(std::array{entry}));
}

void expect_error(const EntryBuilder& entry, const std::string& words) {
    try {
        const std::string text = text_to_run(entry);
        FAIL() << "no error, but this text: " << text;
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(words));
        EXPECT_EQ(error.failure(), Failure::invalid_ptx);
    }
}

unsigned int chosen_target(std::initializer_list<std::uint32_t> targets) {
    std::vector<EntryBuilder> entries;
    for (const auto target : targets) entries.push_back(plain(target, ptx));
    const Bytes fat_binary = fat_binary_bytes(entries);
    const auto found = ptx_entries(fat_binary);
    const PtxEntry* best = best_entry(found);
    return best ? best->target : 0;
}

} // namespace

TEST(FatBinary, gives_uncompressed_text) { EXPECT_EQ(text_to_run(plain(90, ptx)), ptx); }

TEST(FatBinary, ends_the_text_at_its_nul) {
    EXPECT_EQ(text_to_run(plain(90, ptx + std::string(7, '\0'))), ptx);
}

TEST(FatBinary, decompresses_lz4) { EXPECT_EQ(text_to_run(lz4(ptx)), ptx); }

TEST(FatBinary, decompresses_zstd) { EXPECT_EQ(text_to_run(zstd(ptx)), ptx); }

TEST(FatBinary, reads_longer_entry_headers) {
    EntryBuilder entry = plain(90, ptx);
    entry.header_bytes = 80;
    EXPECT_EQ(text_to_run(entry), ptx);
}

TEST(FatBinary, skips_machine_code) {
    const EntryBuilder code{.kind = 2,
                            .payload = bytes_of("\x7f"
                                                "ELF and so on")};
    EXPECT_EQ(text_to_run(fat_binary_bytes(std::array{code, plain(80, ptx), code})), ptx);
    EXPECT_TRUE(ptx_entries(fat_binary_bytes(std::array{code})).empty());
}

TEST(FatBinary, tells_for_which_targets_it_has_machine_code) {
    EntryBuilder machine_code = plain(80, "not PTX");
    machine_code.kind = 2;
    EntryBuilder other = machine_code;
    other.target = 90;
    const Bytes both = fat_binary_bytes(std::array{machine_code, plain(75, ptx), other});
    EXPECT_THAT(machine_code_targets(both), testing::ElementsAre(80, 90));
    EXPECT_THAT(machine_code_targets(fat_binary_bytes({})), testing::IsEmpty());
}

TEST(FatBinary, may_be_empty) { EXPECT_TRUE(ptx_entries(fat_binary_bytes({})).empty()); }

TEST(FatBinary, chooses_the_highest_target_up_to_90_else_the_lowest_above) {
    EXPECT_EQ(chosen_target({75, 90, 80}), 90u);
    EXPECT_EQ(chosen_target({75, 100, 80}), 80u);
    EXPECT_EQ(chosen_target({100, 52}), 52u);
    EXPECT_EQ(chosen_target({120, 100, 103}), 100u);
    EXPECT_EQ(chosen_target({}), 0u);
}

TEST(FatBinary, refuses_a_wrong_magic_number_and_a_wrong_version) {
    Bytes bytes = fat_binary_bytes(std::array{plain(90, ptx)});
    put(bytes, 4, std::uint16_t{2});
    EXPECT_THROW(ptx_entries(bytes), Error);
    put(bytes, 4, std::uint16_t{1});
    put(bytes, 0, std::uint32_t{0x464C457F});
    EXPECT_THROW(ptx_entries(bytes), Error);
}

TEST(FatBinary, refuses_headers_shorter_than_they_are) {
    EntryBuilder entry = plain(90, ptx);
    entry.header_bytes = 63;
    expect_error(entry, "longer than what is left");
    entry.header_bytes = 0; // would never get past this entry
    expect_error(entry, "longer than what is left");
}

TEST(FatBinary, refuses_sizes_that_wrap_around) {
    Bytes bytes = fat_binary_bytes(std::array{plain(90, ptx)});
    put(bytes, 16 + 8, UINT64_MAX - 63); // entry: header + size = 0
    EXPECT_THROW(ptx_entries(bytes), Error);
    bytes = fat_binary_bytes(std::array{plain(90, ptx)});
    put(bytes, 8, UINT64_MAX - 15); // fat binary: the same
    EXPECT_THROW(ptx_entries(bytes), Error);
}

TEST(FatBinary, refuses_more_compressed_bytes_than_there_are) {
    for (EntryBuilder entry : {lz4(ptx), zstd(ptx)}) {
        entry.compressed_bytes = static_cast<std::uint32_t>(entry.payload.size() + 1);
        expect_error(entry, "longer than its entry");
    }
}

TEST(FatBinary, refuses_a_text_of_another_size_than_the_header_says) {
    for (const int difference : {-1, 1, 1000}) {
        EntryBuilder entry = lz4(ptx);
        entry.uncompressed_bytes += difference;
        expect_error(entry, "LZ4");
        entry = zstd(ptx);
        entry.uncompressed_bytes += difference;
        expect_error(entry, "zstd");
    }
}

TEST(FatBinary, refuses_absurd_sizes_before_it_asks_for_memory) {
    for (EntryBuilder entry : {lz4(ptx), zstd(ptx)})
        for (const std::uint64_t size :
             {std::uint64_t{1} << 32, UINT64_MAX, (std::uint64_t{256} << 20) + 1}) {
            entry.uncompressed_bytes = size;
            expect_error(entry, "256 MiB");
        }
}

TEST(FatBinary, refuses_damaged_compressed_bytes) {
    expect_error(compressed(lz4_flag, bytes_of("this is not LZ4 at all, is it?"), 100), "LZ4");
    expect_error(compressed(zstd_flag, bytes_of("this is not zstd at all, is it?"), 100), "zstd");
    expect_error(compressed(lz4_flag, {}, 100), "LZ4");
    expect_error(compressed(zstd_flag, {}, 100), "zstd");
}

// Each prefix is copied to memory of exactly its size, so that a sanitizer sees any read past its end.
TEST(FatBinary, refuses_every_truncation) {
    for (const EntryBuilder& entry : {plain(90, ptx), lz4(ptx), zstd(ptx)}) {
        const Bytes whole = fat_binary_bytes(std::array{plain(75, ptx), entry});
        ASSERT_EQ(text_to_run(whole), ptx);
        for (std::size_t size = 0; size < whole.size(); ++size) {
            const Bytes prefix(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
            EXPECT_THROW(ptx_entries(prefix), Error) << size << " of " << whole.size() << " bytes";
        }
    }
}

TEST(FatBinary, survives_every_flipped_bit) {
    for (const EntryBuilder& entry : {plain(90, ptx), lz4(ptx), zstd(ptx)}) {
        Bytes bytes = fat_binary_bytes(std::array{entry});
        for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
            const auto flip = [&] { bytes[bit / 8] ^= std::byte{1} << (bit % 8); };
            flip();
            try {
                text_to_run(bytes); // a text or an error: either will do
            } catch (const Error&) {
            }
            flip();
        }
        EXPECT_EQ(text_to_run(bytes), ptx);
    }
}

TEST(FatBinary, survives_noise) {
    std::mt19937 random(42);
    for (int round = 0; round < 2000; ++round) {
        Bytes bytes = fat_binary_bytes(std::array{zstd(ptx), lz4(ptx)});
        for (std::size_t i = 4; i < bytes.size(); ++i)
            if (random() % 16 == 0) bytes[i] = static_cast<std::byte>(random());
        try {
            text_to_run(bytes);
        } catch (const Error&) {
        }
    }
}

namespace {

struct Wrapper {
    std::uint32_t magic = 0x466243B1, version = 1;
    const void* fat_binary = nullptr;
    const void* const* translation_units = nullptr;
};

std::string text_behind(const Wrapper& wrapper, std::size_t index = 0) {
    const auto found = fat_binaries(&wrapper);
    return text_to_run(Bytes(found.at(index).begin(), found.at(index).end()));
}

} // namespace

TEST(FatBinaryWrapper, leads_to_its_fat_binary) {
    const Bytes bytes = fat_binary_bytes(std::array{zstd(ptx)});
    const Wrapper wrapper{.fat_binary = bytes.data()};
    EXPECT_EQ(fat_binaries(&wrapper).size(), 1u);
    EXPECT_EQ(text_behind(wrapper), ptx);
}

// In version 1 the last field is a file name, or anything.
TEST(FatBinaryWrapper, ignores_the_list_in_version_1) {
    const Bytes bytes = fat_binary_bytes(std::array{plain(90, ptx)});
    const Wrapper wrapper{.fat_binary = bytes.data(),
                          .translation_units = reinterpret_cast<const void* const*>(0x1234)};
    EXPECT_EQ(fat_binaries(&wrapper).size(), 1u);
}

TEST(FatBinaryWrapper, leads_to_every_translation_unit_in_version_2) {
    const Bytes linked = fat_binary_bytes(std::array{EntryBuilder{.kind = 2, .payload = bytes_of("code")}});
    const Bytes first = fat_binary_bytes(std::array{plain(90, "first")}),
                second = fat_binary_bytes(std::array{lz4(ptx)});
    const std::array<const void*, 3> list{first.data(), second.data(), nullptr};
    const Wrapper wrapper{.version = 2, .fat_binary = linked.data(), .translation_units = list.data()};
    ASSERT_EQ(fat_binaries(&wrapper).size(), 3u);
    EXPECT_EQ(text_behind(wrapper, 0), "");
    EXPECT_EQ(text_behind(wrapper, 1), "first");
    EXPECT_EQ(text_behind(wrapper, 2), ptx);
}

TEST(FatBinaryWrapper, refuses_what_is_none) {
    Bytes bytes = fat_binary_bytes(std::array{plain(90, ptx)});
    EXPECT_THROW(text_behind({.magic = 0x466243B0, .fat_binary = bytes.data()}), Error);
    EXPECT_THROW(text_behind({.version = 0, .fat_binary = bytes.data()}), Error);
    EXPECT_THROW(text_behind({.version = 3, .fat_binary = bytes.data()}), Error);
    EXPECT_THROW(text_behind({.fat_binary = nullptr}), Error);
    put(bytes, 8, UINT64_MAX);
    EXPECT_THROW(text_behind({.fat_binary = bytes.data()}), Error);
    put(bytes, 0, std::uint32_t{0});
    EXPECT_THROW(text_behind({.fat_binary = bytes.data()}), Error);
}
