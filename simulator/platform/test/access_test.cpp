// platform-test --gtest_filter='Access.*': what accesses of the registers do, and what the
// interrupt follows.
#include "bench.h"

namespace tilewright::platform {
namespace {

class Access : public testing::Test {
protected:
  const isa::Isa &isa = target("tiny4");
  Bench bench{isa, programOf(isa, "halt\n")};
  DriverPort &port = bench.host.port;

  // An access of another form than the driver's.
  tlm::tlm_response_status access(tlm::tlm_command command, uint64_t offset, unsigned char *data,
                                  unsigned bytes, unsigned char *enables = nullptr) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(offset);
    payload.set_data_ptr(data);
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    payload.set_byte_enable_ptr(enables);
    payload.set_byte_enable_length(enables != nullptr ? bytes : 0);
    sc_core::sc_time delay;
    port.registers->b_transport(payload, delay);
    return payload.get_response_status();
  }
};

TEST_F(Access, ProbeKnowsTheMachine) {
  bench.run([&] {
    const uint64_t hash = std::stoull(isa.hash().substr(0, 16), nullptr, 16);
    EXPECT_EQ(tilewright_probe(bench.device(), hash), TILEWRIGHT_OK);
    EXPECT_EQ(tilewright_probe(bench.device(), hash + 1), TILEWRIGHT_OTHER_ISA);
  });
}

TEST_F(Access, TakesTwoCycles) {
  bench.run([&] {
    const sc_core::sc_time before = now();
    port.read(TILEWRIGHT_ID_OFFSET);
    EXPECT_EQ(sc_core::sc_time_stamp() - before, 2 * bench.period);
  });
}

TEST_F(Access, AnAddressWithoutARegisterAnswersAnError) {
  bench.run([&] {
    for (const uint32_t offset : {0x38u, 0xf8u, 0xffcu, 0x1000u, 0xfffffffcu}) {
      EXPECT_EQ(port.read(offset), UINT32_MAX);
      EXPECT_EQ(port.response(), tlm::TLM_ADDRESS_ERROR_RESPONSE) << offset;
      port.write(offset, 1);
      EXPECT_EQ(port.response(), tlm::TLM_ADDRESS_ERROR_RESPONSE) << offset;
    }
    EXPECT_EQ(tilewright_poll(bench.device()), TILEWRIGHT_OK);
  });
}

TEST_F(Access, IsOfAWord) {
  bench.run([&] {
    unsigned char data[8] = {};
    for (const unsigned bytes : {1u, 2u, 8u})
      EXPECT_EQ(access(tlm::TLM_READ_COMMAND, TILEWRIGHT_ID_OFFSET, data, bytes),
                tlm::TLM_BURST_ERROR_RESPONSE);
  });
}

TEST_F(Access, ByteEnablesChooseWhatIsWritten) {
  bench.run([&] {
    port.write(TILEWRIGHT_ENTRY_OFFSET, 0x11223344);
    unsigned char data[4] = {0xaa, 0xbb, 0xcc, 0xdd}, enables[4] = {0, 0xff, 0, 0xff};
    EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, TILEWRIGHT_ENTRY_OFFSET, data, 4, enables),
              tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(port.read(TILEWRIGHT_ENTRY_OFFSET), 0xdd22bb44u);
  });
}

TEST_F(Access, BitsOfNoFieldReadAsZero) {
  bench.run([&] {
    port.write(TILEWRIGHT_ARGUMENT_BASE_LOW_OFFSET, UINT32_MAX);
    port.write(TILEWRIGHT_ARGUMENT_BASE_HIGH_OFFSET, UINT32_MAX);
    EXPECT_EQ(port.read(TILEWRIGHT_ARGUMENT_BASE_LOW_OFFSET), 0xfffff000u);
    EXPECT_EQ(port.read(TILEWRIGHT_ARGUMENT_BASE_HIGH_OFFSET), 0xffffu);
    port.write(TILEWRIGHT_ID_OFFSET, 0);
    EXPECT_EQ(port.read(TILEWRIGHT_ID_OFFSET), TILEWRIGHT_ID_VALUE);
  });
}

TEST_F(Access, ReadingControlClearsWhatHasEnded) {
  bench.run([&] {
    bench.enableAll();
    bench.runProgram();
    constexpr uint32_t ended = TILEWRIGHT_CTRL_AP_DONE_MASK | TILEWRIGHT_CTRL_AP_READY_MASK;
    EXPECT_EQ(port.read(TILEWRIGHT_CTRL_OFFSET), ended | TILEWRIGHT_CTRL_AP_IDLE_MASK);
    EXPECT_EQ(port.read(TILEWRIGHT_CTRL_OFFSET), TILEWRIGHT_CTRL_AP_IDLE_MASK);
    EXPECT_EQ(port.read(TILEWRIGHT_STATUS_OFFSET),
              TILEWRIGHT_STATUS_IDLE_MASK | TILEWRIGHT_STATUS_DONE_MASK);
  });
}

TEST_F(Access, DebugTransportReadsAndClearsNothing) {
  bench.run([&] {
    bench.enableAll();
    bench.runProgram();
    const sc_core::sc_time before = now();
    uint32_t value = 0;
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_READ_COMMAND);
    payload.set_address(TILEWRIGHT_CTRL_OFFSET);
    payload.set_data_ptr(reinterpret_cast<unsigned char *>(&value));
    payload.set_data_length(4);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(port.registers->transport_dbg(payload), 4u);
      EXPECT_NE(value & TILEWRIGHT_CTRL_AP_DONE_MASK, 0u);
    }
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    EXPECT_EQ(port.registers->transport_dbg(payload), 0u);
    EXPECT_EQ(sc_core::sc_time_stamp(), before);
  });
}

// The output is gie & (isr & ier): events are there, enabled or not.
TEST_F(Access, TheInterruptFollowsItsRegisters) {
  bench.run([&] {
    const auto isHigh = [&] {
      bench.waitCycles(1);
      const uint32_t control = port.read(TILEWRIGHT_CTRL_OFFSET);
      EXPECT_EQ(bench.interrupt.read(), (control & TILEWRIGHT_CTRL_INTERRUPT_MASK) != 0);
      return bench.interrupt.read();
    };
    tilewright_start(bench.device(), &bench.task);
    EXPECT_EQ(tilewright_wait(bench.device(), nullptr, nullptr), TILEWRIGHT_OK);
    EXPECT_FALSE(isHigh());
    EXPECT_EQ(port.read(TILEWRIGHT_ISR_OFFSET), TILEWRIGHT_ISR_DONE_MASK);
    port.write(TILEWRIGHT_IER_OFFSET, TILEWRIGHT_IER_DONE_MASK);
    EXPECT_FALSE(isHigh());
    port.write(TILEWRIGHT_GIE_OFFSET, TILEWRIGHT_GIE_ENABLE_MASK);
    EXPECT_TRUE(isHigh());
    port.write(TILEWRIGHT_IER_OFFSET, TILEWRIGHT_IER_TRAP_MASK);
    EXPECT_FALSE(isHigh());
    port.write(TILEWRIGHT_IER_OFFSET, TILEWRIGHT_IER_DONE_MASK);
    EXPECT_TRUE(isHigh());
    port.write(TILEWRIGHT_ISR_OFFSET, TILEWRIGHT_ISR_TRAP_MASK);
    EXPECT_TRUE(isHigh());
    port.write(TILEWRIGHT_ISR_OFFSET, TILEWRIGHT_ISR_DONE_MASK);
    EXPECT_FALSE(isHigh());
    EXPECT_EQ(port.read(TILEWRIGHT_ISR_OFFSET), 0u);
  });
}

} // namespace
} // namespace tilewright::platform
