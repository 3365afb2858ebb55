// Integer intrinsics of the CUDA headers: what nvcc makes of each is decoded by corpus_test.cpp.

#include <cstdint>

#include <cuda_runtime.h>

using int128 = __int128;
using uint128 = unsigned __int128;

template <class T> __global__ void arithmetic(T* x, T a, T b, T c) {
    x[0] = a + b;
    x[1] = a - b;
    x[2] = a * b + c;
    x[3] = a / b;
    x[4] = a % b;
    x[5] = a << (b & 31);
    x[6] = a >> (b & 31);
    x[7] = (a & b) | (~a ^ c);
    x[8] = a < b ? a : b;
    x[9] = a > b ? a : c;
    x[10] = -a;
    x[11] = a / 7;
    x[12] = a % 1000;
    x[13] = (a & b & c) ? b : c;
    x[14] = a > b ? a - b : b - a;
    x[15] = static_cast<T>(static_cast<float>(a) * 1.5f) + static_cast<T>(static_cast<double>(b) * 1.5);
}
template __global__ void arithmetic(signed char*, signed char, signed char, signed char);
template __global__ void arithmetic(unsigned char*, unsigned char, unsigned char, unsigned char);
template __global__ void arithmetic(short*, short, short, short);
template __global__ void arithmetic(unsigned short*, unsigned short, unsigned short, unsigned short);
template __global__ void arithmetic(int*, int, int, int);
template __global__ void arithmetic(unsigned int*, unsigned int, unsigned int, unsigned int);
template __global__ void arithmetic(long long*, long long, long long, long long);
template __global__ void arithmetic(unsigned long long*, unsigned long long, unsigned long long,
                                    unsigned long long);

// Carries: sums and products of 128 bits.
template <class T> __global__ void wide(T* x, T a, T b, T c) {
    x[0] = a + b;
    x[1] = a - b;
    x[2] = a * b + c;
    x[3] = a << 3;
    x[4] = a >> 5;
    x[5] = a < b ? a : c;
    x[6] = -a;
    x[7] = static_cast<T>(static_cast<double>(a)) + static_cast<T>(static_cast<float>(b));
    x[8] = (a & b) ^ ~c;
}
template __global__ void wide(int128*, int128, int128, int128);
template __global__ void wide(uint128*, uint128, uint128, uint128);
__global__ void divides_wide(uint128* x, uint128 a, uint128 b) {
    x[0] = a / b;
    x[1] = a % b;
}
__global__ void divides_wide(int128* x, int128 a, int128 b) {
    x[0] = a / b;
    x[1] = a % b;
}

__global__ void intrinsics(int* x, unsigned int* u, long long* l, unsigned long long* ul, int a, int b, int c,
                           unsigned int ua, unsigned int ub, unsigned int uc, long long la, long long lb,
                           unsigned long long ula, unsigned long long ulb) {
    x[0] = __mulhi(a, b);
    u[0] = __umulhi(ua, ub);
    l[0] = __mul64hi(la, lb);
    ul[0] = __umul64hi(ula, ulb);
    x[1] = __mul24(a, b);
    u[1] = __umul24(ua, ub);
    u[2] = __sad(a, b, ua);
    u[3] = __usad(ua, ub, uc);
    x[2] = __hadd(a, b);
    x[3] = __rhadd(a, b);
    u[4] = __uhadd(ua, ub);
    u[5] = __urhadd(ua, ub);
    x[4] = __clz(a) + __clzll(la) + __ffs(a) + __ffsll(la) + __popc(ua) + __popcll(ula);
    u[6] = __brev(ua);
    ul[1] = __brevll(ula);
    u[7] = __byte_perm(ua, ub, uc);
    u[8] = __funnelshift_l(ua, ub, uc);
    u[9] = __funnelshift_lc(ua, ub, uc);
    u[10] = __funnelshift_r(ua, ub, uc);
    u[11] = __funnelshift_rc(ua, ub, uc);
    x[5] = __dp4a(a, b, c);
    u[12] = __dp4a(ua, ub, uc);
    x[6] = __dp2a_lo(a, b, c);
    x[7] = __dp2a_hi(a, b, c);
    u[13] = __dp2a_lo(ua, ub, uc);
    u[14] = __dp2a_hi(ua, ub, uc);
    x[8] = __dp4a(make_char4(a, b, c, 1), make_char4(b, a, 1, c), c);
    x[9] = min(a, b) + max(a, c) + abs(a);
    l[1] = min(la, lb) + max(la, lb) + llabs(la);
    u[15] = __fns(ua, ub, a);
    u[16] = min(max(a, b), c);
}

__global__ void video(unsigned int* u, unsigned int a, unsigned int b, unsigned int c) {
    u[0] =
        __vadd2(a, b) + __vadd4(a, b) + __vaddss2(a, b) + __vaddss4(a, b) + __vaddus2(a, b) + __vaddus4(a, b);
    u[1] =
        __vsub2(a, b) + __vsub4(a, b) + __vsubss2(a, b) + __vsubss4(a, b) + __vsubus2(a, b) + __vsubus4(a, b);
    u[2] = __vabs2(a) + __vabs4(a) + __vabsss2(a) + __vabsss4(a) + __vneg2(a) + __vneg4(a) + __vnegss2(a) +
           __vnegss4(a);
    u[3] = __vabsdiffs2(a, b) + __vabsdiffs4(a, b) + __vabsdiffu2(a, b) + __vabsdiffu4(a, b);
    u[4] =
        __vavgs2(a, b) + __vavgs4(a, b) + __vavgu2(a, b) + __vavgu4(a, b) + __vhaddu2(a, b) + __vhaddu4(a, b);
    u[5] = __vcmpeq2(a, b) + __vcmpeq4(a, b) + __vcmpges2(a, b) + __vcmpges4(a, b) + __vcmpgeu2(a, b) +
           __vcmpgeu4(a, b) + __vcmplts2(a, b) + __vcmpltu4(a, b) + __vcmpne2(a, b) + __vcmpne4(a, b);
    u[6] = __vmaxs2(a, b) + __vmaxs4(a, b) + __vmaxu2(a, b) + __vmaxu4(a, b) + __vmins2(a, b) +
           __vmins4(a, b) + __vminu2(a, b) + __vminu4(a, b);
    u[7] = __vsads2(a, b) + __vsads4(a, b) + __vsadu2(a, b) + __vsadu4(a, b);
    u[8] = __vseteq2(a, b) + __vseteq4(a, b) + __vsetges2(a, b) + __vsetgtu4(a, b) + __vsetles4(a, b) +
           __vsetltu2(a, b) + __vsetne4(a, b);
    u[9] = __vimax3_s32(a, b, c) + __vimin3_u32(a, b, c) + __vimax3_s16x2(a, b, c) + __vimin3_u16x2(a, b, c) +
           __vimax_s32_relu(a, b) + __vimin_s16x2_relu(a, b) + __viaddmax_s32(a, b, c) +
           __viaddmin_u32(a, b, c) + __viaddmax_s16x2(a, b, c) + __viaddmin_u16x2(a, b, c) +
           __viaddmax_s16x2_relu(a, b, c) + __vimax3_s16x2_relu(a, b, c);
    bool high, low;
    u[10] = __vibmax_s16x2(a, b, &high, &low);
    u[11] = high + 2 * low;
    u[12] = __vibmin_u32(a, b, &high);
    u[13] = high;
}
