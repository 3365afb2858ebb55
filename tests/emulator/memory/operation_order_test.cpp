// Which operations of streams happen before which. The rules are those of the programming guide.
#include "emulator/memory/operation_order.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using emulator::OperationOrder;

/// Streams by number: 0 is the default stream, whose handle is null in CUDA.
const void* handle(int stream) {
    static const char handles[16] = {};
    return stream == 0 ? nullptr : handles + stream;
}

/// Two devices.
class Streams : public testing::Test {
protected:
    struct Done {
        std::uint32_t stream, number;
    };

    Streams() {
        for (const int stream : {1, 2}) order.created(handle(stream), 0, false, "");
        for (const int stream : {3, 4}) order.created(handle(stream), 0, true, "");
        order.created(handle(5), 1, true, "");
    }

    Done run(int stream, int device = 0) {
        order.begin(handle(stream), device, "kernel");
        const auto current = order.current();
        before = current.before;
        order.end();
        return {current.stream, current.number};
    }
    /// Whether it happens before the operation that ran last.
    bool is_before(Done one) const { return OperationOrder::knows(before, one.stream, one.number); }
    bool host_knows(Done one) const { return OperationOrder::knows(order.host(), one.stream, one.number); }

    OperationOrder order{2};
    OperationOrder::Clock before;
};

} // namespace

TEST_F(Streams, do_their_operations_in_order_and_wait_for_no_other_stream) {
    const Done first = run(1);
    run(1);
    EXPECT_TRUE(is_before(first));
    run(2);
    EXPECT_FALSE(is_before(first));
}

TEST_F(Streams, that_block_wait_for_the_default_stream_of_their_device_and_it_for_them) {
    const Done in_default = run(0), in_other = run(1);
    run(3);
    EXPECT_TRUE(is_before(in_default));
    EXPECT_FALSE(is_before(in_other));
    const Done in_blocking = run(4);
    run(2);
    EXPECT_FALSE(is_before(in_default)) << "it does not block";
    run(0);
    EXPECT_TRUE(is_before(in_blocking));
    EXPECT_FALSE(is_before(in_other));
    run(5, 1);
    EXPECT_FALSE(is_before(in_default)) << "of another device";
    run(0, 1);
    EXPECT_FALSE(is_before(in_default)) << "each device has its own";
}

TEST_F(Streams, wait_for_what_an_event_stands_for) {
    const Done first = run(1);
    const OperationOrder::Clock event = order.recorded(handle(1), 0);
    const Done after = run(1);
    order.stream_waits_for(handle(5), 1, event);
    run(5, 1);
    EXPECT_TRUE(is_before(first));
    EXPECT_FALSE(is_before(after)) << "it came later";
    order.stream_waits_for(handle(2), 0, {});
    run(2);
    EXPECT_FALSE(is_before(first)) << "an event that was never recorded";
}

TEST_F(Streams, pass_on_what_they_have_waited_for) {
    const Done first = run(1);
    order.stream_waits_for(handle(2), 0, order.recorded(handle(1), 0));
    run(2);
    order.stream_waits_for(handle(5), 1, order.recorded(handle(2), 0));
    run(5, 1);
    EXPECT_TRUE(is_before(first));
}

TEST_F(Streams, are_waited_for_by_the_host) {
    const Done first = run(1), second = run(2), third = run(3);
    order.host_waits_for(order.recorded(handle(1), 0));
    EXPECT_TRUE(host_knows(first));
    EXPECT_FALSE(host_knows(second));
    run(5, 1);
    EXPECT_TRUE(is_before(first)) << "the host has launched it then";
    order.host_waits_for(order.recorded(nullptr, 0));
    EXPECT_TRUE(host_knows(third)) << "for which the default stream waits";
    EXPECT_FALSE(host_knows(second));
    const Done on_peer = run(5, 1);
    order.host_waits_for_device(0);
    EXPECT_TRUE(host_knows(second));
    EXPECT_FALSE(host_knows(on_peer));
    order.host_waits_for(order.recorded(handle(5), 1));
    EXPECT_TRUE(host_knows(on_peer));
}

TEST_F(Streams, tell_the_host_during_an_operation) {
    const Done earlier = run(1);
    order.begin(handle(1), 0, "copy");
    const Done now{order.current().stream, order.current().number};
    order.host_waits_for_current();
    EXPECT_TRUE(host_knows(earlier) && host_knows(now));
    order.end();
}

TEST_F(Streams, of_both_devices_wait_for_a_copy_between_them_in_a_default_stream) {
    const Done on_first = run(1), on_second = run(5, 1);
    const auto copy = [&](int stream) {
        order.begin(handle(stream), 0, "copy");
        order.joins_devices(0, 1);
        const Done done{order.current().stream, order.current().number};
        before = order.current().before;
        order.end();
        return done;
    };
    copy(2);
    EXPECT_FALSE(is_before(on_first) || is_before(on_second)) << "in a stream of its own";
    const Done in_default = copy(0);
    EXPECT_TRUE(is_before(on_first) && is_before(on_second));
    run(1);
    EXPECT_TRUE(is_before(in_default));
    run(5, 1);
    EXPECT_TRUE(is_before(in_default));
}

TEST_F(Streams, hand_their_number_to_one_of_the_same_kind) {
    const Done first = run(1);
    order.destroyed(handle(1));
    order.created(handle(6), 0, true, "blocks");
    order.created(handle(7), 1, false, "of another device");
    EXPECT_NE(run(6).stream, first.stream);
    EXPECT_NE(run(7, 1).stream, first.stream);
    order.created(handle(8), 0, false, "alike");
    const Done second = run(8);
    EXPECT_EQ(second.stream, first.stream);
    EXPECT_GT(second.number, first.number);
    EXPECT_EQ(order.name(second.stream), "alike");
}

TEST(OperationOrder, may_overlap_with_several_streams_or_devices) {
    EXPECT_TRUE(OperationOrder(2).may_overlap());
    OperationOrder one(1);
    one.begin(nullptr, 0, "kernel");
    one.end();
    EXPECT_FALSE(one.may_overlap());
    one.created(handle(1), 0, true, "");
    EXPECT_TRUE(one.may_overlap());
}
