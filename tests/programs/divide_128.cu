#include "program.hpp"

// Division of __int128, signed and unsigned, of operands of all lengths.
namespace divide_128 {

struct Operands {
    __int128 dividend, divisor;
};

struct Quotients {
    __int128 quotient, remainder;
    unsigned __int128 unsigned_quotient, unsigned_remainder;

    bool operator==(const Quotients& other) const {
        return quotient == other.quotient && remainder == other.remainder &&
               unsigned_quotient == other.unsigned_quotient && unsigned_remainder == other.unsigned_remainder;
    }
    explicit operator double() const { return static_cast<double>(quotient); }
};

__host__ __device__ Quotients divide(Operands operands) {
    using Unsigned = unsigned __int128;
    const auto dividend = static_cast<Unsigned>(operands.dividend),
               divisor = static_cast<Unsigned>(operands.divisor);
    return {operands.dividend / operands.divisor, operands.dividend % operands.divisor, dividend / divisor,
            dividend % divisor};
}

__global__ void divide_all(const Operands* operands, Quotients* quotients, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) quotients[i] = divide(operands[i]);
}

int main() {
    constexpr int n = 5'000;
    std::mt19937_64 engine(42);
    const auto any = [&] { // of 1 to 128 bits
        return (static_cast<__int128>(engine()) << 64 | engine()) >> engine() % 128;
    };
    std::vector<Operands> operands(n);
    std::vector<Quotients> expected;
    for (Operands& one : operands) {
        one = {any(), any()};
        if (one.divisor == 0 || one.divisor == -1) one.divisor = 1; // the least number has no quotient by -1
        expected.push_back(divide(one));
    }
    const Device<Operands> device_operands(operands);
    const Device<Quotients> quotients(n);
    divide_all<<<(n + 127) / 128, 128>>>(device_operands.data(), quotients.data(), n);
    return verify(quotients.copy_back(), expected);
}

} // namespace divide_128
