#include "vectors.hpp"

#define MPFR_USE_INTMAX_T
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace emulator::vectors {

namespace {

using std::uint32_t, std::uint64_t, std::int32_t, std::int64_t;
using i128 = __int128;

// ---- operands ----

/// Numbers that look random and are the same in every run.
class Numbers {
public:
    explicit Numbers(const std::string& name) {
        for (const char c : name) state_ = state_ * 31 + static_cast<unsigned char>(c);
    }
    uint64_t next() {
        state_ += 0x9E37'79B9'7F4A'7C15;
        uint64_t x = state_;
        x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9;
        x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EB;
        return x ^ (x >> 31);
    }

private:
    uint64_t state_ = 0;
};

/// A binary format of IEEE 754's kind.
struct Format {
    int bits, significand; ///< with the hidden bit: its precision

    int exponent_bits() const { return bits - significand; }
    int bias() const { return (1 << (exponent_bits() - 1)) - 1; }
    uint64_t infinity() const { return ((uint64_t{1} << exponent_bits()) - 1) << (significand - 1); }
    uint64_t sign() const { return uint64_t{1} << (bits - 1); }
    uint64_t mask() const { return sign() | (sign() - 1); }
    uint64_t one() const { return static_cast<uint64_t>(bias()) << (significand - 1); }
    bool is_nan(uint64_t value) const { return (value & (sign() - 1)) > infinity(); }
    bool is_subnormal(uint64_t value) const {
        return (value & (sign() - 1)) < uint64_t{1} << (significand - 1);
    }
};
constexpr Format f16{16, 11}, bf16{16, 8}, f32{32, 24}, f64{64, 53};

Format format_of(Domain domain) {
    switch (domain) {
    case Domain::f16:
    case Domain::f16x2: return f16;
    case Domain::bf16:
    case Domain::bf16x2: return bf16;
    case Domain::f64: return f64;
    default: return f32;
    }
}

std::vector<uint64_t> float_edges(const Format& f) {
    const uint64_t least = uint64_t{1} << (f.significand - 1), one = f.one();
    std::vector<uint64_t> edges;
    for (const uint64_t magnitude :
         {uint64_t{0}, uint64_t{1}, least - 1, least, least + 1, one - 1, one, one + 1, one + least,
          one + 2 * least, one - least, f.infinity() - 1, f.infinity()})
        for (const uint64_t sign : {uint64_t{0}, f.sign()}) edges.push_back(magnitude | sign);
    edges.push_back(f.infinity() | uint64_t{1} << (f.significand - 2)); // a quiet NaN
    return edges;
}

std::vector<uint64_t> integer_edges() {
    std::vector<uint64_t> edges{0,
                                1,
                                2,
                                7,
                                ~0ull,
                                ~1ull,
                                0x5555'5555'5555'5555,
                                0x1234'5678'9ABC'DEF0,
                                0x7FFF'7FFF'8000'8000,
                                0x0080'FF7F'0100'FF80};
    for (const int bit : {7, 8, 15, 16, 23, 31, 32, 63}) {
        edges.push_back(uint64_t{1} << bit);
        edges.push_back((uint64_t{1} << bit) - 1);
    }
    return edges;
}

/// Exponents near each other, so that sums cancel, or anything at all.
uint64_t random_float(Numbers& numbers, const Format& f) {
    const uint64_t bits = numbers.next();
    if (numbers.next() % 4 == 0) return bits & f.mask();
    const auto exponent = static_cast<uint64_t>(f.bias()) - 6 + numbers.next() % 13;
    return (bits & (f.sign() | ((uint64_t{1} << (f.significand - 1)) - 1))) | exponent << (f.significand - 1);
}

uint64_t random_operand(Numbers& numbers, Domain domain, const std::vector<uint64_t>& edges, bool edge) {
    if (edge) return edges[numbers.next() % edges.size()];
    if (domain == Domain::integers)
        return numbers.next() >> (numbers.next() % 4 == 0 ? numbers.next() % 64 : 0);
    return random_float(numbers, format_of(domain));
}

bool is_packed(Domain domain) { return domain == Domain::f16x2 || domain == Domain::bf16x2; }

// ---- floating point, by MPFR ----

constexpr std::pair<const char*, mpfr_rnd_t> roundings[] = {
    {".rn", MPFR_RNDN}, {".rz", MPFR_RNDZ}, {".rm", MPFR_RNDD}, {".rp", MPFR_RNDU}};

struct Modifiers {
    mpfr_rnd_t rounding = MPFR_RNDN;
    bool ftz = false, sat = false, relu = false;
};

class Number {
public:
    explicit Number(int precision) { mpfr_init2(value_, precision); }
    ~Number() { mpfr_clear(value_); }
    Number(const Number&) = delete;
    Number& operator=(const Number&) = delete;
    operator mpfr_ptr() { return value_; } // NOLINT: it is one

private:
    mpfr_t value_;
};

void set_bits(mpfr_ptr number, uint64_t bits, const Format& f) {
    const uint64_t magnitude = bits & (f.sign() - 1);
    const int sign = (bits & f.sign()) != 0 ? -1 : 1;
    if (f.is_nan(bits)) return mpfr_set_nan(number);
    if (magnitude == f.infinity()) return mpfr_set_inf(number, sign);
    if (magnitude == 0) return mpfr_set_zero(number, sign);
    const uint64_t hidden = uint64_t{1} << (f.significand - 1);
    const uint64_t significand = f.is_subnormal(bits) ? magnitude : (magnitude & (hidden - 1)) | hidden;
    const int exponent = std::max(static_cast<int>(magnitude >> (f.significand - 1)), 1);
    mpfr_set_uj_2exp(number, significand, exponent - f.bias() - (f.significand - 1), MPFR_RNDN);
    if (sign < 0) mpfr_neg(number, number, MPFR_RNDN);
}

uint64_t bits_of(mpfr_ptr number, const Format& f) {
    const uint64_t sign = mpfr_signbit(number) != 0 ? f.sign() : 0;
    if (mpfr_zero_p(number)) return sign;
    if (mpfr_inf_p(number)) return sign | f.infinity();
    const int exponent = std::max(static_cast<int>(mpfr_get_exp(number)), 2 - f.bias()); // value < 2^exponent
    mpfr_mul_2si(number, number, f.significand - exponent, MPFR_RNDN);
    mpfr_abs(number, number, MPFR_RNDN);
    const uint64_t significand = mpfr_get_uj(number, MPFR_RNDN);
    const int biased = exponent - 2 + f.bias();                              // not below 0
    return sign | (significand + (uint64_t(biased) << (f.significand - 1))); // the hidden bit counts one up
}

uint64_t canonical_nan(const Format& f) {
    if (f.bits == 64) return 0x7FF8'0000'0000'0000;
    return f.sign() - 1; // the device's: all ones except the sign
}

/// `operation(result, a, b, c, rounding)` is one of MPFR's, which rounds once.
template <class Operation>
uint64_t rounded(const Format& f, const Modifiers& modifiers, uint64_t a, uint64_t b, uint64_t c,
                 Operation operation) {
    const auto read = [&](uint64_t bits) { // .ftz: a subnormal number is a zero of its sign
        bits &= f.mask();
        return modifiers.ftz && f.is_subnormal(bits) ? bits & f.sign() : bits;
    };
    Number x(f.significand), y(f.significand), z(f.significand), result(f.significand);
    mpfr_set_emin(mpfr_get_emin_min()); // operands and results are set without a bound
    mpfr_set_emax(mpfr_get_emax_max());
    set_bits(x, read(a), f);
    set_bits(y, read(b), f);
    set_bits(z, read(c), f);
    operation(result, x, y, z, modifiers.rounding);
    const bool is_tiny = mpfr_regular_p(static_cast<mpfr_ptr>(result)) != 0 &&
                         mpfr_get_exp(result) < 2 - f.bias(); // value < 2^exponent
    mpfr_set_emin(3 - f.bias() - f.significand);
    mpfr_set_emax(f.bias() + 1);
    const int inexact = operation(result, x, y, z, modifiers.rounding);
    mpfr_subnormalize(result, mpfr_check_range(result, inexact, modifiers.rounding), modifiers.rounding);
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    if (mpfr_nan_p(static_cast<mpfr_ptr>(result))) return modifiers.sat ? 0 : canonical_nan(f);
    uint64_t bits = bits_of(result, f);
    if (modifiers.ftz && is_tiny) bits &= f.sign(); // before it lost bits to a subnormal number's exponent
    if (modifiers.sat) bits = (bits & f.sign()) != 0 ? 0 : std::min(bits, f.one());
    return modifiers.relu && (bits & f.sign()) != 0 ? 0 : bits;
}

// ---- the table ----

char register_of(int bits) { return bits == 64 ? 'd' : bits == 32 ? 'r' : 'h'; }

class Table {
public:
    std::vector<Form> forms;

    void add(const std::string& instruction, char result, const std::string& sources, Domain domain,
             std::function<uint64_t(const Operands&)> expected) {
        forms.push_back({instruction, result, sources, domain, std::move(expected)});
    }

    /// With all types: `T` is what the operands are read as, the result is cut to it.
    template <class T, class Reference>
    void integer(const std::string& opcode, int count, Reference reference) {
        const std::string type = (std::is_signed_v<T> ? ".s" : ".u") + std::to_string(8 * sizeof(T));
        const char kind = register_of(8 * sizeof(T));
        add(opcode + type, kind, std::string(static_cast<std::size_t>(count), kind), Domain::integers,
            [=](const Operands& o) {
                using Bits = std::make_unsigned_t<T>;
                return uint64_t{static_cast<Bits>(reference(
                    i128{static_cast<T>(o.a)}, i128{static_cast<T>(o.b)}, i128{static_cast<T>(o.c)}))};
            });
    }
    template <class Reference> void all_integers(const std::string& opcode, int count, Reference reference) {
        integer<std::uint16_t>(opcode, count, reference);
        integer<std::int16_t>(opcode, count, reference);
        wide_integers(opcode, count, reference);
    }
    template <class Reference> void wide_integers(const std::string& opcode, int count, Reference reference) {
        integer<uint32_t>(opcode, count, reference);
        integer<int32_t>(opcode, count, reference);
        integer<uint64_t>(opcode, count, reference);
        integer<int64_t>(opcode, count, reference);
    }

    template <class Operation>
    void real(const std::string& instruction, Domain domain, int count, Modifiers modifiers,
              Operation operation) {
        const Format f = format_of(domain);
        const char kind = is_packed(domain) ? 'r' : register_of(f.bits);
        add(instruction, kind, std::string(static_cast<std::size_t>(count), kind), domain,
            [=](const Operands& o) {
                const uint64_t low = rounded(f, modifiers, o.a, o.b, o.c, operation);
                if (!is_packed(domain)) return low;
                return rounded(f, modifiers, o.a >> 16, o.b >> 16, o.c >> 16, operation) << 16 | low;
            });
    }

    /// All modifiers of add, sub, mul, fma, div, rcp and sqrt. Halves have the first four.
    template <class Operation>
    void real_everywhere(const std::string& opcode, int count, bool has_halves, Operation operation) {
        for (const auto& [name, rounding] : roundings) {
            real(opcode + name + ".f64", Domain::f64, count, {rounding}, operation);
            for (const bool ftz : {false, true})
                for (const bool sat : {false, true}) {
                    if (sat && !has_halves) continue; // div, rcp and sqrt have no .sat
                    real(opcode + name + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + ".f32", Domain::f32,
                         count, {rounding, ftz, sat}, operation);
                }
        }
        if (!has_halves) return;
        for (const Domain domain : {Domain::f16, Domain::f16x2, Domain::bf16, Domain::bf16x2}) {
            const bool is_f16 = format_of(domain).significand == f16.significand;
            const std::string type = std::string(is_f16 ? ".f16" : ".bf16") + (is_packed(domain) ? "x2" : "");
            real(opcode + ".rn" + type, domain, count, {}, operation);
            if (opcode == "fma") real("fma.rn.relu" + type, domain, count, {.relu = true}, operation);
            if (!is_f16) continue;
            real(opcode + ".rn.ftz" + type, domain, count, {.ftz = true}, operation);
            real(opcode + ".rn.sat" + type, domain, count, {.sat = true}, operation);
            real(opcode + ".rn.ftz.sat" + type, domain, count, {.ftz = true, .sat = true}, operation);
        }
    }
};

i128 magnitude(i128 value) { return value < 0 ? -value : value; }

void add_integers(Table& table) {
    table.all_integers("add", 2, [](i128 a, i128 b, i128) { return a + b; });
    table.all_integers("sub", 2, [](i128 a, i128 b, i128) { return a - b; });
    table.all_integers("mul.lo", 2, [](i128 a, i128 b, i128) {
        return static_cast<i128>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
    });
    table.all_integers("mad.lo", 3, [](i128 a, i128 b, i128 c) {
        return static_cast<i128>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b) +
                                 static_cast<unsigned __int128>(c));
    });
    table.all_integers("min", 2, [](i128 a, i128 b, i128) { return std::min(a, b); });
    table.all_integers("max", 2, [](i128 a, i128 b, i128) { return std::max(a, b); });
    table.all_integers("sad", 3, [](i128 a, i128 b, i128 c) { return c + magnitude(a - b); });
    table.integer<int32_t>(
        "add.sat", 2, [](i128 a, i128 b, i128) { return std::clamp<i128>(a + b, INT32_MIN, INT32_MAX); });
    table.integer<int32_t>(
        "sub.sat", 2, [](i128 a, i128 b, i128) { return std::clamp<i128>(a - b, INT32_MIN, INT32_MAX); });
    table.integer<std::int16_t>("mul.hi", 2, [](i128 a, i128 b, i128) { return a * b >> 16; });
    table.integer<std::uint16_t>("mul.hi", 2, [](i128 a, i128 b, i128) { return a * b >> 16; });
    table.integer<int32_t>("mul.hi", 2, [](i128 a, i128 b, i128) { return a * b >> 32; });
    table.integer<uint32_t>("mul.hi", 2, [](i128 a, i128 b, i128) { return a * b >> 32; });
    table.integer<int64_t>("mul.hi", 2, [](i128 a, i128 b, i128) { return a * b >> 64; });
    table.integer<uint64_t>("mul.hi", 2, [](i128 a, i128 b, i128) {
        return static_cast<i128>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b) >> 64);
    });
    table.integer<int32_t>("mad.hi", 3, [](i128 a, i128 b, i128 c) { return (a * b >> 32) + c; });
    table.integer<uint32_t>("mad.hi", 3, [](i128 a, i128 b, i128 c) { return (a * b >> 32) + c; });
    table.integer<int32_t>("neg", 1, [](i128 a, i128, i128) { return -a; });
    table.integer<int64_t>("neg", 1, [](i128 a, i128, i128) { return -a; });
    table.integer<int32_t>("abs", 1, [](i128 a, i128, i128) { return magnitude(a); });
    table.integer<int64_t>("abs", 1, [](i128 a, i128, i128) { return magnitude(a); });
    for (const bool is_max : {false, true}) {
        const std::string opcode = is_max ? "max" : "min";
        const auto choose = [=](int a, int b) { return is_max ? std::max(a, b) : std::min(a, b); };
        table.add(opcode + ".s32.relu", 'r', "rr", Domain::integers, [=](const Operands& o) -> uint64_t {
            return static_cast<uint32_t>(
                std::max(choose(static_cast<int32_t>(o.a), static_cast<int32_t>(o.b)), 0));
        });
        const auto packed = [&](const std::string& type, bool is_signed, bool relu) {
            table.add(opcode + type, 'r', "rr", Domain::integers, [=](const Operands& o) -> uint64_t {
                uint64_t result = 0;
                for (const int shift : {0, 16}) {
                    const auto part = [&](uint64_t value) -> int {
                        const auto bits = static_cast<std::uint16_t>(value >> shift);
                        return is_signed ? static_cast<std::int16_t>(bits) : bits;
                    };
                    const int chosen = choose(part(o.a), part(o.b));
                    result |= uint64_t{static_cast<std::uint16_t>(relu ? std::max(chosen, 0) : chosen)}
                              << shift;
                }
                return result;
            });
        };
        packed(".u16x2", false, false);
        packed(".s16x2", true, false);
        packed(".s16x2.relu", true, true);
    }
    for (const char* type : {".u16x2", ".s16x2"})
        table.add(std::string("add") + type, 'r', "rr", Domain::integers, [](const Operands& o) -> uint64_t {
            return ((o.a & 0xFFFF) + (o.b & 0xFFFF)) % 0x10000 |
                   ((o.a >> 16 & 0xFFFF) + (o.b >> 16 & 0xFFFF)) % 0x10000 << 16;
        });
    for (const int parts : {2, 4})
        for (const bool is_signed : {false, true})
            for (const bool adds : {false, true}) {
                const std::string type = is_signed ? ".s32" : ".u32";
                table.add("vabsdiff" + std::to_string(parts) + type + type + type + (adds ? ".add" : ""), 'r',
                          "rrr", Domain::integers, [=](const Operands& o) -> uint64_t {
                              const int bits = 32 / parts;
                              const int64_t range = int64_t{1} << bits;
                              uint64_t packed = 0;
                              int64_t sum = 0;
                              for (int k = 0; k < parts; ++k) {
                                  const auto part = [&](uint64_t value) {
                                      const int64_t low =
                                          static_cast<int64_t>(value >> (bits * k)) & (range - 1);
                                      return is_signed && low >= range / 2 ? low - range : low;
                                  };
                                  const int64_t difference = std::abs(part(o.a) - part(o.b));
                                  packed |= static_cast<uint64_t>(difference & (range - 1)) << (bits * k);
                                  sum += difference;
                              }
                              return adds ? static_cast<uint32_t>(o.c + static_cast<uint64_t>(sum)) : packed;
                          });
            }
}

void add_bits(Table& table) {
    table.add("popc.b32", 'r', "r", Domain::integers, [](const Operands& o) -> uint64_t {
        return static_cast<uint64_t>(__builtin_popcount(static_cast<uint32_t>(o.a)));
    });
    table.add("popc.b64", 'r', "d", Domain::integers,
              [](const Operands& o) -> uint64_t { return static_cast<uint64_t>(__builtin_popcountll(o.a)); });
    table.add("clz.b32", 'r', "r", Domain::integers, [](const Operands& o) -> uint64_t {
        const auto a = static_cast<uint32_t>(o.a);
        return a == 0 ? 32 : static_cast<uint64_t>(__builtin_clz(a));
    });
    table.add("clz.b64", 'r', "d", Domain::integers, [](const Operands& o) -> uint64_t {
        return o.a == 0 ? 64 : static_cast<uint64_t>(__builtin_clzll(o.a));
    });
    table.add("brev.b32", 'r', "r", Domain::integers, [](const Operands& o) {
        uint64_t result = 0;
        for (int k = 0; k < 32; ++k) result |= (o.a >> k & 1) << (31 - k);
        return result;
    });
    table.add("prmt.b32", 'r', "rrr", Domain::integers, [](const Operands& o) {
        const uint64_t bytes = (o.b & 0xFFFF'FFFF) << 32 | (o.a & 0xFFFF'FFFF);
        uint64_t result = 0;
        for (int k = 0; k < 4; ++k) {
            const uint64_t selector = o.c >> (4 * k) & 0xF, byte = bytes >> (8 * (selector & 7)) & 0xFF;
            result |= ((selector & 8) == 0 ? byte : byte >= 0x80 ? 0xFFull : 0) << (8 * k);
        }
        return result;
    });
    for (const bool left : {false, true})
        for (const bool wraps : {false, true})
            table.add(std::string("shf.") + (left ? "l" : "r") + (wraps ? ".wrap" : ".clamp") + ".b32", 'r',
                      "rrr", Domain::integers, [=](const Operands& o) {
                          const uint64_t both = (o.b & 0xFFFF'FFFF) << 32 | (o.a & 0xFFFF'FFFF);
                          const uint64_t c = o.c & 0xFFFF'FFFF,
                                         n = wraps ? c % 32 : std::min<uint64_t>(c, 32);
                          return (left ? (n == 32 ? both << 32 : both << n) >> 32 : both >> n) & 0xFFFF'FFFF;
                      });
    for (const bool a_signed : {false, true})
        for (const bool b_signed : {false, true}) {
            const auto type = [](bool is_signed) { return is_signed ? ".s32" : ".u32"; };
            const auto part = [](uint64_t value, int bits, int k, bool is_signed) {
                const int64_t low = static_cast<int64_t>(value >> (bits * k)) & ((int64_t{1} << bits) - 1);
                return is_signed && low >> (bits - 1) != 0 ? low - (int64_t{1} << bits) : low;
            };
            table.add(std::string("dp4a") + type(a_signed) + type(b_signed), 'r', "rrr", Domain::integers,
                      [=](const Operands& o) -> uint64_t {
                          auto sum = static_cast<int64_t>(o.c & 0xFFFF'FFFF);
                          for (int k = 0; k < 4; ++k)
                              sum += part(o.a, 8, k, a_signed) * part(o.b, 8, k, b_signed);
                          return static_cast<uint32_t>(sum);
                      });
            for (const bool high : {false, true})
                table.add(std::string("dp2a") + (high ? ".hi" : ".lo") + type(a_signed) + type(b_signed), 'r',
                          "rrr", Domain::integers, [=](const Operands& o) -> uint64_t {
                              auto sum = static_cast<int64_t>(o.c & 0xFFFF'FFFF);
                              for (int k = 0; k < 2; ++k)
                                  sum +=
                                      part(o.a, 16, k, a_signed) * part(o.b, 8, k + (high ? 2 : 0), b_signed);
                              return static_cast<uint32_t>(sum);
                          });
        }
}

void add_floating_point(Table& table) {
    table.real_everywhere("add", 2, true, [](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b, mpfr_ptr, mpfr_rnd_t mode) {
        return mpfr_add(r, a, b, mode);
    });
    table.real_everywhere("sub", 2, true, [](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b, mpfr_ptr, mpfr_rnd_t mode) {
        return mpfr_sub(r, a, b, mode);
    });
    table.real_everywhere("mul", 2, true, [](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b, mpfr_ptr, mpfr_rnd_t mode) {
        return mpfr_mul(r, a, b, mode);
    });
    table.real_everywhere("fma", 3, true,
                          [](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b, mpfr_ptr c, mpfr_rnd_t mode) {
                              return mpfr_fma(r, a, b, c, mode);
                          });
    table.real_everywhere("div", 2, false, [](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b, mpfr_ptr, mpfr_rnd_t mode) {
        return mpfr_div(r, a, b, mode);
    });
    table.real_everywhere("rcp", 1, false, [](mpfr_ptr r, mpfr_ptr a, mpfr_ptr, mpfr_ptr, mpfr_rnd_t mode) {
        return mpfr_ui_div(r, 1, a, mode);
    });
    table.real_everywhere("sqrt", 1, false, [](mpfr_ptr r, mpfr_ptr a, mpfr_ptr, mpfr_ptr, mpfr_rnd_t mode) {
        return mpfr_sqrt(r, a, mode);
    });
}

// ---- conversions ----

struct IntegerType {
    const char* name;
    int bits;
    bool is_signed;

    i128 value_of(uint64_t pattern) const {
        const i128 low = pattern & static_cast<uint64_t>((i128{1} << bits) - 1);
        return is_signed && low >> (bits - 1) != 0 ? low - (i128{1} << bits) : low;
    }
    i128 least() const { return is_signed ? -(i128{1} << (bits - 1)) : 0; }
    i128 greatest() const { return least() + (i128{1} << bits) - 1; }
    uint64_t cut(i128 value) const {
        return static_cast<uint64_t>(value) & static_cast<uint64_t>((i128{1} << bits) - 1);
    }
};
constexpr IntegerType integer_types[] = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
                                         {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};

struct FloatType {
    const char* name;
    Format format;
    Domain domain;
};
constexpr FloatType float_types[] = {
    {"f16", f16, Domain::f16}, {"f32", f32, Domain::f32}, {"f64", f64, Domain::f64}};

uint64_t from_integer(const Format& f, mpfr_rnd_t rounding, i128 value) {
    return rounded(f, {rounding}, 0, 0, 0, [=](mpfr_ptr r, mpfr_ptr, mpfr_ptr, mpfr_ptr, mpfr_rnd_t mode) {
        return value < 0 ? mpfr_set_sj(r, static_cast<intmax_t>(value), mode)
                         : mpfr_set_uj(r, static_cast<uintmax_t>(value), mode);
    });
}

/// Clamped; the PTX ISA defines the result for a NaN.
uint64_t to_integer(const Format& f, const IntegerType& to, mpfr_rnd_t rounding, bool ftz, uint64_t bits) {
    bits &= f.mask();
    if (ftz && f.is_subnormal(bits)) bits &= f.sign();
    if (f.is_nan(bits)) return f.bits != 64 && to.bits != 64 ? 0 : uint64_t{1} << (to.bits - 1);
    Number value(f.significand), whole(80);
    set_bits(value, bits, f);
    mpfr_rint(whole, value, rounding);
    if (mpfr_cmp_d(whole, -0x1p66) < 0) return to.cut(to.least());
    if (mpfr_cmp_d(whole, 0x1p66) > 0) return to.cut(to.greatest());
    // In two parts: it may need more than 64 bits.
    Number high(80);
    mpfr_div_2ui(high, whole, 32, MPFR_RNDD);
    mpfr_floor(high, high);
    const i128 upper = mpfr_get_sj(high, MPFR_RNDD);
    mpfr_mul_2ui(high, high, 32, MPFR_RNDN);
    mpfr_sub(whole, whole, high, MPFR_RNDN);
    const i128 exact = upper * (i128{1} << 32) + mpfr_get_sj(whole, MPFR_RNDN);
    return to.cut(std::clamp(exact, to.least(), to.greatest()));
}

uint64_t narrowed(const Format& from, const Format& to, mpfr_rnd_t rounding, uint64_t bits) {
    bits &= from.mask();
    if (from.is_nan(bits) && from.bits == 64) { // keeps its sign and what there is room for
        const int lost = from.significand - to.significand;
        const uint64_t quiet = to.infinity() | uint64_t{1} << (to.significand - 2);
        return ((bits & from.sign()) != 0 ? to.sign() : 0) | quiet |
               (bits >> lost & ((uint64_t{1} << (to.significand - 1)) - 1));
    }
    return rounded(to, {rounding}, 0, 0, 0, [&](mpfr_ptr r, mpfr_ptr, mpfr_ptr, mpfr_ptr, mpfr_rnd_t mode) {
        Number value(from.significand);
        const mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
        mpfr_set_emin(mpfr_get_emin_min());
        mpfr_set_emax(mpfr_get_emax_max());
        set_bits(value, bits, from);
        mpfr_set_emin(least);
        mpfr_set_emax(most);
        return mpfr_set(r, value, mode);
    });
}

void add_conversions(Table& table) {
    for (const FloatType& real : float_types)
        for (const IntegerType& integer : integer_types) {
            const std::string to_real = std::string(".") + real.name + '.' + integer.name,
                              to_whole = std::string(".") + integer.name + '.' + real.name;
            const char wide = register_of(real.format.bits), whole = register_of(integer.bits);
            for (const auto& [mode, rounding] : roundings) {
                table.add(std::string("cvt") + mode + to_real, wide, {whole}, Domain::integers,
                          [&real, &integer, r = rounding](const Operands& o) {
                              return from_integer(real.format, r, integer.value_of(o.a));
                          });
                for (const bool ftz : {false, true}) {
                    if (ftz && real.format.bits != 32) continue;
                    table.add(std::string("cvt") + mode + 'i' + (ftz ? ".ftz" : "") + to_whole, whole, {wide},
                              real.domain, [&real, &integer, r = rounding, ftz](const Operands& o) {
                                  return to_integer(real.format, integer, r, ftz, o.a);
                              });
                }
            }
        }
    for (const auto& [mode, rounding] : roundings)
        table.add(std::string("cvt") + mode + ".f32.f64", 'r', "d", Domain::f64,
                  [r = rounding](const Operands& o) { return narrowed(f64, f32, r, o.a); });
    for (const auto& [mode, rounding] : {roundings[0], roundings[1]})
        for (const bool is_bf16 : {false, true})
            table.add(std::string("cvt") + mode + (is_bf16 ? ".bf16.f32" : ".f16.f32"), 'h', "r", Domain::f32,
                      [r = rounding, is_bf16](const Operands& o) {
                          return narrowed(f32, is_bf16 ? bf16 : f16, r, o.a);
                      });
}

std::string name_of(char kind, int number) {
    return (kind == 'd' ? "%rd" : kind == 'r' ? "%r" : kind == 'h' ? "%rs" : "%p") + std::to_string(number);
}

} // namespace

const std::vector<Form>& forms() {
    static const std::vector<Form> all = [] {
        Table table;
        add_integers(table);
        add_bits(table);
        add_floating_point(table);
        add_conversions(table);
        return table.forms;
    }();
    return all;
}

std::vector<Operands> operands_of(const Form& form) {
    Numbers numbers(form.instruction);
    const bool packed = is_packed(form.domain);
    const std::vector<uint64_t> edges =
        form.domain == Domain::integers ? integer_edges() : float_edges(format_of(form.domain));
    std::vector<Operands> result;
    for (const uint64_t a : edges)
        for (const uint64_t b : edges) result.push_back({a, b, edges[numbers.next() % edges.size()]});
    while (result.size() < 2048 || result.size() % threads_per_block != 0) {
        const auto one = [&] { return random_operand(numbers, form.domain, edges, numbers.next() % 8 == 0); };
        result.push_back({one(), one(), one()});
    }
    if (packed) // the upper numbers: those of another case
        for (std::size_t i = 0; i < result.size(); ++i) {
            const Operands& other = result[(7 * i + 3) % result.size()];
            result[i].a |= (other.a & 0xFFFF) << 16;
            result[i].b |= (other.b & 0xFFFF) << 16;
            result[i].c |= (other.c & 0xFFFF) << 16;
        }
    return result;
}

std::string module_text(const Form& form) {
    std::ostringstream text;
    text << ".version 8.0\n.target sm_90\n.address_size 64\n"
            ".visible .entry k(.param .u64 operands, .param .u64 results)\n{\n"
            ".reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
            "mov.u32 %r4, %tid.x; mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ntid.x; mad.lo.u32 %r4, %r5, %r6, "
            "%r4;\n"
            "ld.param.u64 %rd4, [operands]; ld.param.u64 %rd5, [results];\n"
            "mul.wide.u32 %rd6, %r4, 24; add.u64 %rd4, %rd4, %rd6; mul.wide.u32 %rd6, %r4, 8; add.u64 %rd5, "
            "%rd5, "
            "%rd6;\n";
    for (int k = 1; k <= 3; ++k)
        text << "ld.global.u64 %rd" << k << ", [%rd4+" << 8 * (k - 1) << "]; cvt.u32.u64 %r" << k << ", %rd"
             << k << "; cvt.u16.u64 %rs" << k << ", %rd" << k << ";\n";
    text << form.instruction << ' ' << name_of(form.result, 0);
    for (std::size_t k = 0; k < form.sources.size(); ++k)
        text << ", " << name_of(form.sources[k], static_cast<int>(k) + 1);
    text << ";\n";
    if (form.result == 'h') text << "cvt.u64.u16 %rd0, %rs0;\n";
    if (form.result == 'r') text << "cvt.u64.u32 %rd0, %r0;\n";
    if (form.result == 'p') text << "selp.u64 %rd0, 1, 0, %p0;\n";
    text << "st.global.u64 [%rd5], %rd0;\nret;\n}\n";
    return text.str();
}

uint64_t comparable(const Form& form, uint64_t result) {
    const bool is_real = form.domain == Domain::f64 && !form.instruction.starts_with("cvt");
    return is_real && f64.is_nan(result) ? canonical_nan(f64) : result;
}

uint64_t digest(const Form& form, const uint64_t* results, std::size_t count) {
    uint64_t value = 0xCBF2'9CE4'8422'2325;
    for (std::size_t i = 0; i < count; ++i) {
        const uint64_t bits = comparable(form, results[i]);
        for (int shift = 0; shift < 64; shift += 8)
            value = (value ^ (bits >> shift & 0xFF)) * 0x100'0000'01B3;
    }
    return value;
}

} // namespace emulator::vectors
