/// Device memory that frees itself.
#pragma once

#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

namespace harness {

/// The value of each byte of poisoned memory. A kernel hardly ever writes it by accident, nor is it a likely
/// sum.
inline constexpr unsigned char poison_byte = 0xA5;

namespace detail {
void* allocate(std::size_t bytes);
void release(void* memory) noexcept;
void copy_to_device(void* device, const void* host, std::size_t bytes);
void copy_to_host(void* host, const void* device, std::size_t bytes);
void copy_on_device(void* to, const void* from, std::size_t bytes);
void poison(void* device, std::size_t bytes);
} // namespace detail

/// Owns an array of `size` elements in device memory.
template <class T> class DeviceBuffer {
public:
    /// Allocates without initializing.
    /// \throws DeviceError if too little device memory is free; the message says how much is
    explicit DeviceBuffer(std::size_t size)
        : size_(size), data_(static_cast<T*>(detail::allocate(byte_count(size)))) {}
    DeviceBuffer(DeviceBuffer&& other) noexcept
        : size_(std::exchange(other.size_, 0)), data_(std::exchange(other.data_, nullptr)) {}
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        std::swap(size_, other.size_);
        std::swap(data_, other.data_);
        return *this;
    }
    ~DeviceBuffer() { detail::release(data_); }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return size_ * sizeof(T); }

    /// Fills the buffer with poison_byte. Called before each run, it reveals elements that no kernel wrote.
    void poison() { detail::poison(data_, bytes()); }

    /// Copies `values`, a vector or an array of T, to the elements from `first` on. They must fit.
    template <class Values> void write(const Values& values, std::size_t first = 0) {
        const T* elements = std::data(values);
        detail::copy_to_device(data_ + first, elements, std::size(values) * sizeof(T));
    }

    /// Copies all elements of `other`, which has the same size. Restores the input of an in-place kernel
    /// before a run.
    void write(const DeviceBuffer& other) { write_from_device(other.data_, size_); }

    /// Copies `count` elements from device memory to the first ones. They must fit.
    void write_from_device(const T* values, std::size_t count) {
        detail::copy_on_device(data_, values, count * sizeof(T));
    }

    /// Waits for the device and returns `count` elements from `first` on.
    std::vector<T> read(std::size_t first, std::size_t count) const {
        std::vector<T> values(count);
        detail::copy_to_host(values.data(), data_ + first, count * sizeof(T));
        return values;
    }

    /// Waits for the device and returns all elements.
    std::vector<T> read() const { return read(0, size_); }

private:
    /// Saturates on overflow: no device has SIZE_MAX bytes.
    static std::size_t byte_count(std::size_t size) {
        constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
        return size > most / sizeof(T) ? most : size * sizeof(T);
    }

    std::size_t size_;
    T* data_;
};

} // namespace harness
