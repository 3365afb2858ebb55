/// Kernel launches. A launch returns after the kernel has ended, unless that waits for the host or for other launches.

#include "emulator/runtime/api/parts.hpp"
#include "emulator/runtime/api_call.hpp"
#include "emulator/runtime/observation.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

using namespace emulator;
using namespace emulator::abi;

namespace {

/// The grid, block, shared memory and stream of a `<<< >>>` on the way to the host stub that launches.
struct PushedConfiguration {
    dim3 grid, block;
    std::size_t shared_bytes;
    void* stream;
    PushedConfiguration* below; ///< a stack: the arguments of a launch may contain another launch
};

/// Not an object with a destructor: main's thread destroys those before it runs atexit() functions and static
/// destructors, which may also launch.
thread_local PushedConfiguration* pending_configuration = nullptr;

/// The kernel's parameter buffer: copies the value of each argument to where the PTX declares its parameter.
std::vector<std::byte> parameter_buffer(const Kernel& kernel, void* const* arguments) {
    std::vector<std::byte> buffer(kernel.parameter_bytes());
    require(arguments || kernel.parameters().empty());
    for (std::size_t i = 0; const Parameter& parameter : kernel.parameters()) {
        require(arguments[i]);
        std::memcpy(buffer.data() + parameter.offset, arguments[i++], parameter.bytes);
    }
    return buffer;
}

/// The errors of an H100 with CUDA 13.0, in its order. What run() reports is left to it, unless the kernel runs later,
/// in a graph.
void check_against_kernel(const Kernel& kernel, const LaunchConfiguration& configuration,
                          std::size_t shared_bytes, bool runs_later) {
    const auto threads = configuration.block.count();
    const auto bound = kernel.max_threads_per_block();
    const std::string launched_with = kernel.readable_name() + ": launched with ";
    if (threads > bound && threads <= DeviceLimits::threads_per_block)
        throw ApiError(cudaErrorInvalidValue, launched_with + std::to_string(threads) +
                                                  " threads per block; its __launch_bounds__ allow " +
                                                  std::to_string(bound));
    try {
        check_extents(kernel, configuration);
    } catch (const Error& error) {
        if (runs_later) throw ApiError(cudaErrorInvalidValue, error.what());
        return;
    }
    const bool has_room = shared_bytes <= configuration.dynamic_shared_limit;
    if (runs_later || !has_room) check_cluster(kernel, configuration);
    if (!has_room)
        throw ApiError(
            configuration.cooperative ? cudaErrorCooperativeLaunchTooLarge : cudaErrorInvalidValue,
            launched_with + std::to_string(shared_bytes) + " bytes of dynamic shared memory; " +
                std::to_string(configuration.dynamic_shared_limit) + " are allowed, or more after\n" +
                "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)");
    const std::uint64_t room = blocks_on_device(kernel, configuration);
    if (configuration.cooperative && configuration.grid.count() > room && room != 0)
        throw ApiError(cudaErrorCooperativeLaunchTooLarge,
                       launched_with + std::to_string(configuration.grid.count()) +
                           " blocks that may wait for each other; the device holds " + std::to_string(room) +
                           " of them at once");
}

/// Whether CUDA reports this failure at the launch, not at a later call, and lets later launches run
/// normally.
bool is_launch_error(Failure failure) {
    return failure == Failure::invalid_ptx || failure == Failure::unsupported ||
           failure == Failure::unknown_symbol || failure == Failure::out_of_memory ||
           failure == Failure::invalid_cluster;
}

/// Whether a card could have run the kernel.
bool is_refusal(cudaError_t error) {
    return error == cudaErrorNotSupported || error == cudaErrorInvalidPtx ||
           error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidKernelImage;
}

/// Runs a part of a launch. The device remembers an error that is due to the emulator.
template <class Part> auto noting_refusal(Device& device, Part part) {
    try {
        return part();
    } catch (const ApiError& error) {
        if (is_refusal(error.code())) note_refusal(device, error.code());
        throw;
    } catch (const Error& error) {
        const cudaError_t code = error_code(error.failure());
        if (is_refusal(code)) note_refusal(device, code);
        throw;
    }
}

/// A kernel that has passed the checks, on its device.
class DeviceLaunch final : public RunningLaunch {
public:
    DeviceLaunch(Device& device, const Kernel& kernel, LaunchConfiguration configuration,
                 std::span<const std::byte> parameters, bool takes_turns = false)
        : device_(device), last_(Runtime::instance().last_launches[device.number]) {
        if (const auto set = device.limits.find(cudaLimitStackSize); set != device.limits.end())
            configuration.call_stack_bytes =
                std::max(configuration.call_stack_bytes, static_cast<std::uint32_t>(set->second));
        device.memory.operations().rename("kernel " + kernel.readable_name());
        last_.counters.reset();
        number_ = ++last_.number;
        GlobalMemory& memory = device.memory.global();
        run_part([&] {
            Observation* const observation = Observation::instance();
            launch_ =
                observation
                    ? observation->begin_launch(kernel, configuration, parameters, memory, takes_turns)
                    : begin_launch(kernel, configuration, parameters, memory, {.takes_turns = takes_turns});
        });
    }

    bool run_for(std::uint64_t instructions) override {
        bool has_ended = true;
        run_part([&] {
            has_ended = launch_->run_for(instructions);
            if (has_ended && number_ == last_.number) last_.counters = launch_->counters();
        });
        return has_ended;
    }
    bool spins() override { return launch_->spins(); }
    std::string place() const override { return launch_->place(); }
    const Counters& counters() const override { return launch_->counters(); }

private:
    template <class Part> void run_part(Part part) {
        noting_refusal(device_, [&] {
            try {
                part();
            } catch (const Error& error) {
                if (error.failure() == Failure::invalid_configuration)
                    throw ApiError(cudaErrorInvalidValue, error.what());
                if (is_launch_error(error.failure())) throw;
                report(error.what());
                Runtime::instance().fault = error_code(error.failure());
            }
        });
    }

    Device& device_;
    Runtime::LastLaunch& last_;
    std::uint64_t number_;
    std::unique_ptr<RunningLaunch> launch_;
};

/// The arguments of an API call, apart from the stream.
struct LaunchRequest {
    const void* host_stub;
    dim3 grid, block;
    void* const* arguments;
    std::size_t shared_bytes;
    std::optional<Dim3> cluster = {};
    bool cooperative = false;
};

/// Whether the kernel may wait in a loop for what the host, or another operation that may run at the same time, stores.
bool may_wait_for_others(const Device& device, const Kernel& kernel) {
    return (device.memory.host_can_store() || device.memory.operations().may_overlap()) &&
           kernel.may_wait_for_other_blocks();
}

GraphNode node_of(Device& device, const LaunchRequest& request, bool runs_later) {
    const Kernel& kernel = device.modules.kernel(registered_kernel(request.host_stub)).kernel;
    LaunchConfiguration configuration{extents(request.grid),
                                      extents(request.block),
                                      static_cast<std::uint32_t>(request.shared_bytes),
                                      dynamic_shared_limit(device, request.host_stub, kernel),
                                      request.cluster,
                                      cluster_limit(device, request.host_stub),
                                      request.cooperative};
    configuration.device = device.number;
    check_against_kernel(kernel, configuration, request.shared_bytes, runs_later);
    GraphNode node{.type = cudaGraphNodeTypeKernel, .work = nullptr, .host = nullptr};
    node.work = [&kernel, configuration, &device,
                 parameters = parameter_buffer(kernel, request.arguments)](Device&) {
        DeviceLaunch(device, kernel, configuration, parameters).run_for(RunningLaunch::to_its_end);
    };
    node.device = device.number;
    if (may_wait_for_others(device, kernel))
        node.begin = [&kernel, configuration,
                      parameters = parameter_buffer(kernel, request.arguments)](Device& then) {
            return std::make_unique<DeviceLaunch>(then, kernel, configuration, parameters, true);
        };
    // The host may spin until the kernel stores something.
    node.runs_at_once = device.memory.host_can_store() && kernel.may_tell_host();
    return node;
}

cudaError_t launch(const void* stream, const LaunchRequest& request) {
    GraphNode node;
    const cudaError_t error = call_without_waiting([&](Device& device) {
        require_stream(device, stream);
        require(device_of_stream(device, stream) == device.number, cudaErrorInvalidResourceHandle);
        node = noting_refusal(device,
                              [&] { return node_of(device, request, device.capture_of(stream) != nullptr); });
    });
    if (error == cudaSuccess) return stream_call(stream, node);
    api_call([&](Device& device) {
        if (Capture* const capture = device.capture_of(stream)) capture->is_invalid = true;
    });
    if (Observation* const observation = Observation::instance()) observation->write_rejected_launch();
    return error;
}

/// Throws for an attribute that changes a kernel's behavior and that the emulator does not support. Ignores
/// hints.
void check_attribute(const cudaLaunchAttribute& attribute) {
    switch (attribute.id) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributeProgrammaticStreamSerialization:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredClusterDimension:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
    case cudaLaunchAttributeNvlinkUtilCentricScheduling: return;
    case cudaLaunchAttributeCooperative:              // see is_cooperative
    case cudaLaunchAttributeClusterDimension: return; // see asked_cluster
    }
    throw UnsupportedCall("cudaLaunchKernelExC",
                          "launch attribute " + std::to_string(attribute.id) + " is not supported");
}

bool is_cooperative(const cudaLaunchConfig_t& config) {
    return std::any_of(config.attrs, config.attrs + config.numAttrs, [](const cudaLaunchAttribute& one) {
        return one.id == cudaLaunchAttributeCooperative && one.val.cooperative;
    });
}

} // namespace

EMULATOR_ENTRY unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                                        void* stream) {
    pending_configuration = new PushedConfiguration{grid, block, shared_bytes, stream, pending_configuration};
    return 0;
}

EMULATOR_ENTRY cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                                      void* stream) {
    const std::unique_ptr<PushedConfiguration> top(pending_configuration);
    if (!top) return query_call([](Device&) { throw ApiError(cudaErrorMissingConfiguration); });
    pending_configuration = top->below;
    *grid = top->grid;
    *block = top->block;
    *shared_bytes = top->shared_bytes;
    *static_cast<void**>(stream) = top->stream;
    return cudaSuccess;
}

/// A cudaKernel_t is the address of the kernel's host stub here, so calls that take either need not
/// distinguish them.
EMULATOR_ENTRY cudaError_t cudaGetKernel(const void** kernel, const void* host_stub) {
    return query_call([&](Device&) {
        require(kernel);
        registered_kernel(host_stub);
        *kernel = host_stub;
    });
}

EMULATOR_ENTRY cudaError_t __cudaGetKernel(const void** kernel, const void* host_stub) {
    return cudaGetKernel(kernel, host_stub);
}

EMULATOR_ENTRY cudaError_t cudaLaunchKernel(const void* host_stub, dim3 grid, dim3 block, void** arguments,
                                            std::size_t shared_bytes, void* stream) {
    return launch(stream, {host_stub, grid, block, arguments, shared_bytes});
}
EMULATOR_PER_THREAD_TWIN(cudaLaunchKernel, cudaLaunchKernel_ptsz);

EMULATOR_ENTRY cudaError_t __cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                              std::size_t shared_bytes, void* stream) {
    return launch(stream, {kernel, grid, block, arguments, shared_bytes});
}
EMULATOR_PER_THREAD_TWIN(__cudaLaunchKernel, __cudaLaunchKernel_ptsz);

EMULATOR_ENTRY cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* host_stub,
                                               void** arguments) {
    const cudaError_t error = call_without_waiting([&](Device&) {
        require(config && (config->attrs || config->numAttrs == 0));
        for (unsigned int i = 0; i < config->numAttrs; ++i) check_attribute(config->attrs[i]);
    });
    if (error != cudaSuccess) return error;
    return launch(config->stream,
                  {host_stub, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                   asked_cluster(*config), is_cooperative(*config)});
}
EMULATOR_PER_THREAD_TWIN(cudaLaunchKernelExC, cudaLaunchKernelExC_ptsz);

EMULATOR_ENTRY cudaError_t cudaLaunchCooperativeKernel(const void* host_stub, dim3 grid, dim3 block,
                                                       void** arguments, std::size_t shared_bytes,
                                                       void* stream) {
    return launch(stream, {host_stub, grid, block, arguments, shared_bytes, std::nullopt, true});
}
EMULATOR_PER_THREAD_TWIN(cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel_ptsz);

GraphNode emulator::kernel_node(Device& device, const void* host_stub, dim3 grid, dim3 block,
                                void* const* arguments, std::size_t shared_bytes) {
    return node_of(device, {host_stub, grid, block, arguments, shared_bytes}, true);
}

/// A cudaFunction_t is the address of the host stub too.
EMULATOR_ENTRY cudaError_t cudaGetFuncBySymbol(const void** function, const void* host_stub) {
    return cudaGetKernel(function, host_stub);
}
