#include "tilewright_driver.h"

#include <stddef.h>

#define ADDRESS_BITS 48
#define ALL_EVENTS (TILEWRIGHT_ISR_DONE_MASK | TILEWRIGHT_ISR_TRAP_MASK)

static uint32_t read_memory(void *context, uint32_t offset) {
  return *(volatile uint32_t *)((volatile unsigned char *)context + offset);
}

static void write_memory(void *context, uint32_t offset, uint32_t value) {
  *(volatile uint32_t *)((volatile unsigned char *)context + offset) = value;
}

struct tilewright_device tilewright_map(volatile void *registers) {
  struct tilewright_device device;
  device.read = read_memory;
  device.write = write_memory;
  device.context = (void *)registers;
  return device;
}

static uint32_t read_word(const struct tilewright_device *device, uint32_t offset) {
  return device->read(device->context, offset);
}

static void write_word(const struct tilewright_device *device, uint32_t offset, uint32_t value) {
  device->write(device->context, offset, value);
}

/* A counter may carry from its low word into its high one between two reads: the high word has to
 * be the same before and after. */
static uint64_t read_double(const struct tilewright_device *device, uint32_t low_offset) {
  uint32_t high = read_word(device, low_offset + 4);
  for (;;) {
    const uint32_t low = read_word(device, low_offset);
    const uint32_t again = read_word(device, low_offset + 4);
    if (again == high)
      return (uint64_t)high << 32 | low;
    high = again;
  }
}

static void write_double(const struct tilewright_device *device, uint32_t low_offset,
                         uint64_t value) {
  write_word(device, low_offset, (uint32_t)value);
  write_word(device, low_offset + 4, (uint32_t)(value >> 32));
}

uint64_t tilewright_isa_hash(const struct tilewright_device *device) {
  return read_double(device, TILEWRIGHT_ISA_HASH_LOW_OFFSET);
}

enum tilewright_result tilewright_probe(const struct tilewright_device *device, uint64_t isa_hash) {
  uint32_t version;
  if (read_word(device, TILEWRIGHT_ID_OFFSET) != TILEWRIGHT_ID_VALUE)
    return TILEWRIGHT_NO_DEVICE;
  version = read_word(device, TILEWRIGHT_VERSION_OFFSET);
  if ((version & TILEWRIGHT_VERSION_MAJOR_MASK) >> TILEWRIGHT_VERSION_MAJOR_SHIFT !=
      TILEWRIGHT_VERSION_MAJOR_VALUE)
    return TILEWRIGHT_OTHER_MAP;
  return tilewright_isa_hash(device) == isa_hash ? TILEWRIGHT_OK : TILEWRIGHT_OTHER_ISA;
}

enum tilewright_result tilewright_poll(const struct tilewright_device *device) {
  const uint32_t status = read_word(device, TILEWRIGHT_STATUS_OFFSET);
  if ((status & TILEWRIGHT_STATUS_IDLE_MASK) == 0)
    return TILEWRIGHT_BUSY;
  return (status & TILEWRIGHT_STATUS_TRAPPED_MASK) != 0 ? TILEWRIGHT_TRAPPED : TILEWRIGHT_OK;
}

/* What a program has left for the host: `isr`, and the flags of `ctrl` that reading clears. */
static void forget_events(const struct tilewright_device *device) {
  write_word(device, TILEWRIGHT_ISR_OFFSET, ALL_EVENTS);
  (void)read_word(device, TILEWRIGHT_CTRL_OFFSET);
}

enum tilewright_result tilewright_start(const struct tilewright_device *device,
                                        const struct tilewright_program *program) {
  if (program->code_address >> ADDRESS_BITS != 0 ||
      (program->argument_base & ~TILEWRIGHT_ARGUMENT_BASE_MASK) != 0)
    return TILEWRIGHT_BAD_ARGUMENT;
  if (tilewright_poll(device) == TILEWRIGHT_BUSY)
    return TILEWRIGHT_BUSY;
  write_double(device, TILEWRIGHT_CODE_ADDRESS_LOW_OFFSET, program->code_address);
  write_word(device, TILEWRIGHT_CODE_COUNT_OFFSET, program->code_count);
  write_word(device, TILEWRIGHT_ENTRY_OFFSET, program->entry);
  write_double(device, TILEWRIGHT_ARGUMENT_BASE_LOW_OFFSET, program->argument_base);
  forget_events(device);
  write_word(device, TILEWRIGHT_CTRL_OFFSET, TILEWRIGHT_CTRL_AP_START_MASK);
  return TILEWRIGHT_OK;
}

enum tilewright_result tilewright_wait(const struct tilewright_device *device,
                                       tilewright_pause pause, void *context) {
  for (;;) {
    const enum tilewright_result result = tilewright_poll(device);
    if (result != TILEWRIGHT_BUSY)
      return result;
    if (pause != NULL && !pause(context))
      return TILEWRIGHT_TIMED_OUT;
  }
}

void tilewright_enable_interrupts(const struct tilewright_device *device, uint32_t events) {
  write_word(device, TILEWRIGHT_IER_OFFSET, events & ALL_EVENTS);
  write_word(device, TILEWRIGHT_GIE_OFFSET,
             (events & ALL_EVENTS) != 0 ? TILEWRIGHT_GIE_ENABLE_MASK : 0);
}

uint32_t tilewright_acknowledge_interrupts(const struct tilewright_device *device) {
  const uint32_t events = read_word(device, TILEWRIGHT_ISR_OFFSET) & ALL_EVENTS;
  write_word(device, TILEWRIGHT_ISR_OFFSET, events);
  return events;
}

struct tilewright_trap tilewright_read_trap(const struct tilewright_device *device) {
  const uint32_t word = read_word(device, TILEWRIGHT_TRAP_OFFSET);
  struct tilewright_trap trap;
  trap.cause = (word & TILEWRIGHT_TRAP_CAUSE_MASK) >> TILEWRIGHT_TRAP_CAUSE_SHIFT;
  trap.pc = read_word(device, TILEWRIGHT_TRAP_PC_OFFSET);
  trap.fetch_refused = (word & TILEWRIGHT_TRAP_BUS_FETCH_MASK) != 0;
  trap.load_refused = (word & TILEWRIGHT_TRAP_BUS_LOAD_MASK) != 0;
  trap.store_refused = (word & TILEWRIGHT_TRAP_BUS_STORE_MASK) != 0;
  return trap;
}

struct tilewright_counters tilewright_read_counters(const struct tilewright_device *device) {
  static const uint32_t busy[TILEWRIGHT_UNITS] = {
      TILEWRIGHT_SEQUENCER_BUSY_LOW_OFFSET, TILEWRIGHT_MATRIX_BUSY_LOW_OFFSET,
      TILEWRIGHT_VECTOR_BUSY_LOW_OFFSET, TILEWRIGHT_LOAD_BUSY_LOW_OFFSET,
      TILEWRIGHT_STORE_BUSY_LOW_OFFSET};
  static const uint32_t stalled[TILEWRIGHT_UNITS] = {
      TILEWRIGHT_SEQUENCER_STALLED_LOW_OFFSET, TILEWRIGHT_MATRIX_STALLED_LOW_OFFSET,
      TILEWRIGHT_VECTOR_STALLED_LOW_OFFSET, TILEWRIGHT_LOAD_STALLED_LOW_OFFSET,
      TILEWRIGHT_STORE_STALLED_LOW_OFFSET};
  struct tilewright_counters counters;
  int unit;
  counters.cycles = read_double(device, TILEWRIGHT_CYCLES_LOW_OFFSET);
  counters.instructions = read_double(device, TILEWRIGHT_INSTRUCTIONS_LOW_OFFSET);
  counters.fetch_beats = read_double(device, TILEWRIGHT_FETCH_BEATS_LOW_OFFSET);
  counters.load_beats = read_double(device, TILEWRIGHT_LOAD_BEATS_LOW_OFFSET);
  counters.store_beats = read_double(device, TILEWRIGHT_STORE_BEATS_LOW_OFFSET);
  for (unit = 0; unit < TILEWRIGHT_UNITS; ++unit) {
    counters.busy[unit] = read_double(device, busy[unit]);
    counters.stalled[unit] = read_double(device, stalled[unit]);
  }
  return counters;
}

enum tilewright_result tilewright_soft_reset(const struct tilewright_device *device,
                                             tilewright_pause pause, void *context) {
  write_word(device, TILEWRIGHT_RESET_OFFSET, TILEWRIGHT_RESET_SOFT_RESET_MASK);
  while ((read_word(device, TILEWRIGHT_RESET_OFFSET) & TILEWRIGHT_RESET_SOFT_RESET_MASK) != 0)
    if (pause != NULL && !pause(context))
      return TILEWRIGHT_TIMED_OUT;
  forget_events(device);
  return TILEWRIGHT_OK;
}
