// rtl-array-test --gtest_filter='HostPort.*': the AXI4-Lite port of the verilated machine, whatever
// the host does with it.
#include "board.h"

#include "tilewright/testing/harness.h"

#include <gtest/gtest.h>

namespace tilewright::cycle {
namespace {

using rtl::ModelPorts;

constexpr uint8_t okay = 0, slaveError = 2;
constexpr uint32_t noRegister = 0xffc;

class HostPort : public testing::Test {
protected:
  HostPort() : program(assemble(isa, "loop count=1000, length=1\nfence\nhalt\n")) {
    program.codeAddress = 0x1000;
    program.dramBytes = 0x2000;
    image.emplace(program);
    board.emplace(isa, rtl::loadModel(isa), DramConfig::of(isa), *image);
    device = board->device();
  }
  void TearDown() override { board->rethrow(); }
  void start() {
    const tilewright_program own = {program.codeAddress, 3, 0, 0};
    ASSERT_EQ(tilewright_start(&device, &own), TILEWRIGHT_OK);
  }

  const isa::Isa &isa = target("tiny4");
  Program program;
  std::optional<DramImage> image;
  std::optional<rtl::Board> board;
  tilewright_device device;
};

TEST_F(HostPort, RegistersKeepWhatIsWritten) {
  board->write(TILEWRIGHT_CODE_COUNT_OFFSET, 0x12345678);
  board->write(TILEWRIGHT_CODE_ADDRESS_HIGH_OFFSET, 0xffffffff);
  EXPECT_EQ(board->read(TILEWRIGHT_CODE_COUNT_OFFSET), 0x12345678u);
  EXPECT_EQ(board->read(TILEWRIGHT_CODE_ADDRESS_HIGH_OFFSET), 0xffffu); // 48 bits
  EXPECT_EQ(board->read(TILEWRIGHT_CODE_ADDRESS_LOW_OFFSET), 0u);
  EXPECT_EQ(board->response(), okay);
}

TEST_F(HostPort, AnAddressWithoutARegisterAnswersAnError) {
  EXPECT_EQ(board->read(noRegister), 0u);
  EXPECT_EQ(board->response(), slaveError);
  board->write(noRegister, 1);
  EXPECT_EQ(board->response(), slaveError);
  board->write(TILEWRIGHT_ID_OFFSET, 1);
  EXPECT_EQ(board->response(), okay);
  EXPECT_EQ(board->read(TILEWRIGHT_ID_OFFSET), TILEWRIGHT_ID_VALUE);
}

TEST_F(HostPort, StrobesChooseBytes) {
  board->write(TILEWRIGHT_ENTRY_OFFSET, 0x11223344);
  ModelPorts &ports = board->inputs();
  ports.hostAwAddress = TILEWRIGHT_ENTRY_OFFSET;
  ports.hostWData = 0xaabbccdd;
  ports.hostWStrobe = 0b0101;
  ports.hostAwValid = ports.hostWValid = ports.hostBReady = 1;
  board->step();
  ASSERT_TRUE(ports.hostAwReady && ports.hostWReady);
  ports.hostAwValid = ports.hostWValid = 0;
  for (int i = 0; i < 4; ++i)
    board->step();
  EXPECT_EQ(board->read(TILEWRIGHT_ENTRY_OFFSET), 0x11bb33ddu);
}

// Data long before the address, and a host that takes the response late: one write, held until
// then.
TEST_F(HostPort, AWriteWaitsForAddressDataAndHost) {
  ModelPorts &ports = board->inputs();
  ports.hostWData = 7;
  ports.hostWStrobe = 15;
  ports.hostWValid = 1;
  board->step();
  ASSERT_EQ(ports.hostWReady, 1);
  ports.hostWValid = 0;
  for (int i = 0; i < 5; ++i) {
    board->step();
    EXPECT_EQ(ports.hostWReady, 0);
    EXPECT_EQ(ports.hostBValid, 0);
  }
  ports.hostAwAddress = TILEWRIGHT_ENTRY_OFFSET;
  ports.hostAwValid = 1;
  board->step();
  ASSERT_EQ(ports.hostAwReady, 1);
  ports.hostAwValid = 0;
  board->step();
  board->step();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(ports.hostBValid, 1);
    board->step();
  }
  ports.hostBReady = 1;
  board->step();
  EXPECT_EQ(ports.hostBValid, 1);
  ports.hostBReady = 0;
  board->step();
  EXPECT_EQ(ports.hostBValid, 0);
  EXPECT_EQ(board->read(TILEWRIGHT_ENTRY_OFFSET), 7u);
}

// The address long before the data: nothing is written until these come.
TEST_F(HostPort, AWriteWaitsForItsData) {
  board->write(TILEWRIGHT_ENTRY_OFFSET, 5);
  ModelPorts &ports = board->inputs();
  ports.hostAwAddress = TILEWRIGHT_CODE_COUNT_OFFSET;
  ports.hostAwValid = ports.hostBReady = 1;
  board->step();
  ASSERT_EQ(ports.hostAwReady, 1);
  ports.hostAwValid = 0;
  for (int i = 0; i < 5; ++i) {
    board->step();
    EXPECT_EQ(ports.hostAwReady, 0);
    EXPECT_EQ(ports.hostBValid, 0);
  }
  EXPECT_EQ(board->read(TILEWRIGHT_CODE_COUNT_OFFSET), 0u);
  ports.hostWData = 6;
  ports.hostWStrobe = 15;
  ports.hostWValid = 1;
  board->step();
  ASSERT_EQ(ports.hostWReady, 1);
  ports.hostWValid = 0;
  for (int i = 0; i < 4; ++i)
    board->step();
  EXPECT_EQ(board->read(TILEWRIGHT_CODE_COUNT_OFFSET), 6u);
}

TEST_F(HostPort, ReadDataWaitForTheHost) {
  board->write(TILEWRIGHT_ENTRY_OFFSET, 9);
  ModelPorts &ports = board->inputs();
  ports.hostArAddress = TILEWRIGHT_ENTRY_OFFSET;
  ports.hostArValid = 1;
  board->step();
  ASSERT_EQ(ports.hostArReady, 1);
  ports.hostArAddress = TILEWRIGHT_ID_OFFSET; // the next one waits
  board->step();
  board->step();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(ports.hostRValid, 1);
    EXPECT_EQ(ports.hostRData, 9u);
    EXPECT_EQ(ports.hostArReady, 0);
    board->step();
  }
  ports.hostArValid = 0;
  ports.hostRReady = 1;
  board->step();
  ports.hostRReady = 0;
  board->step();
  EXPECT_EQ(ports.hostRValid, 0);
}

TEST_F(HostPort, ConfigurationIsKeptWhileAProgramRuns) {
  start();
  board->write(TILEWRIGHT_CODE_COUNT_OFFSET, 99);
  EXPECT_EQ(board->response(), okay);
  EXPECT_EQ(board->read(TILEWRIGHT_CODE_COUNT_OFFSET), 3u);
  board->write(TILEWRIGHT_IER_OFFSET, TILEWRIGHT_IER_DONE_MASK);
  EXPECT_EQ(board->read(TILEWRIGHT_IER_OFFSET), TILEWRIGHT_IER_DONE_MASK);
}

TEST_F(HostPort, ControlReadsAsInApCtrlHs) {
  EXPECT_EQ(board->read(TILEWRIGHT_CTRL_OFFSET), TILEWRIGHT_CTRL_AP_IDLE_MASK);
  start();
  EXPECT_EQ(board->read(TILEWRIGHT_CTRL_OFFSET), TILEWRIGHT_CTRL_AP_START_MASK);
  ASSERT_EQ(tilewright_wait(&device, nullptr, nullptr), TILEWRIGHT_OK);
  EXPECT_EQ(board->read(TILEWRIGHT_CTRL_OFFSET), TILEWRIGHT_CTRL_AP_DONE_MASK |
                                                     TILEWRIGHT_CTRL_AP_IDLE_MASK |
                                                     TILEWRIGHT_CTRL_AP_READY_MASK);
  EXPECT_EQ(board->read(TILEWRIGHT_CTRL_OFFSET), TILEWRIGHT_CTRL_AP_IDLE_MASK); // reading clears
  EXPECT_EQ(board->read(TILEWRIGHT_STATUS_OFFSET),
            TILEWRIGHT_STATUS_IDLE_MASK | TILEWRIGHT_STATUS_DONE_MASK);
}

// The interrupt is the enabled part of what has happened.
TEST_F(HostPort, InterruptWaitsForItsEnablesAndForTheHost) {
  start();
  ASSERT_EQ(tilewright_wait(&device, nullptr, nullptr), TILEWRIGHT_OK);
  board->write(TILEWRIGHT_GIE_OFFSET, TILEWRIGHT_GIE_ENABLE_MASK);
  board->write(TILEWRIGHT_IER_OFFSET, TILEWRIGHT_IER_TRAP_MASK);
  EXPECT_EQ(board->ports().interrupt, 0);
  board->write(TILEWRIGHT_GIE_OFFSET, 0);
  board->write(TILEWRIGHT_IER_OFFSET, TILEWRIGHT_IER_DONE_MASK);
  EXPECT_EQ(board->ports().interrupt, 0);
  board->write(TILEWRIGHT_GIE_OFFSET, TILEWRIGHT_GIE_ENABLE_MASK);
  EXPECT_EQ(board->ports().interrupt, 1);
  board->write(TILEWRIGHT_ISR_OFFSET, TILEWRIGHT_ISR_TRAP_MASK);
  EXPECT_EQ(board->ports().interrupt, 1);
  board->write(TILEWRIGHT_ISR_OFFSET, TILEWRIGHT_ISR_DONE_MASK);
  EXPECT_EQ(board->ports().interrupt, 0);
}

} // namespace
} // namespace tilewright::cycle
