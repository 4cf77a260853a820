/* The driver of a Tilewright machine, in C99: no allocation, no library, no global state.
   docs/host.md says how the machine behaves; the registers are those of tilewright_registers.h.
   Loading is the caller's: it writes the program's code and data to memory, and makes them visible
   to the machine's AXI4 master, before it starts. A device is used by one thread at a time. */
#ifndef TILEWRIGHT_DRIVER_H
#define TILEWRIGHT_DRIVER_H

#include "tilewright_registers.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the registers are reached: each access is one word of 32 bits at `offset` bytes, in the order
   of the calls. `context` is handed to both functions. tilewright_map fills it in for registers in
   memory; a simulated bus has functions of its own. */
struct tilewright_device {
  uint32_t (*read)(void *context, uint32_t offset);
  void (*write)(void *context, uint32_t offset, uint32_t value);
  void *context;
};

enum tilewright_result {
  TILEWRIGHT_OK,
  TILEWRIGHT_NO_DEVICE,    /* no such machine answers at these addresses */
  TILEWRIGHT_OTHER_MAP,    /* its register map has another major version */
  TILEWRIGHT_OTHER_ISA,    /* it has another ISA than the program */
  TILEWRIGHT_BAD_ARGUMENT, /* an address that is too large, or not aligned */
  TILEWRIGHT_BUSY,         /* it has not ended what it does */
  TILEWRIGHT_TRAPPED,      /* the program ended by a trap */
  TILEWRIGHT_TIMED_OUT     /* the caller gave up waiting */
};

/* A program as it is in memory. */
struct tilewright_program {
  uint64_t code_address; /* byte address of instruction 0, counted from argument_base; a multiple of
                            an instruction's bytes */
  uint32_t code_count;   /* instructions */
  uint32_t entry;        /* number of the first instruction to execute */
  uint64_t argument_base; /* bus address of the program's DRAM byte 0; a multiple of 4096 */
};

struct tilewright_trap {
  uint32_t cause; /* TILEWRIGHT_TRAP_CAUSE_... */
  uint32_t pc;    /* number of the instruction; of a refused transfer, where the sequencer stood */
  bool fetch_refused, load_refused, store_refused; /* what the memory answered an error to */
};

enum tilewright_unit {
  TILEWRIGHT_SEQUENCER,
  TILEWRIGHT_MATRIX,
  TILEWRIGHT_VECTOR,
  TILEWRIGHT_LOAD,
  TILEWRIGHT_STORE,
  TILEWRIGHT_UNITS
};

/* Of the program that runs, or ran last. Beats are of the AXI4 data bus. A unit's cycles that are
 * neither busy nor stalled are idle. */
struct tilewright_counters {
  uint64_t cycles;
  uint64_t instructions;
  uint64_t fetch_beats, load_beats, store_beats;
  uint64_t busy[TILEWRIGHT_UNITS], stalled[TILEWRIGHT_UNITS];
};

/* What a wait calls again and again: sleeps, yields or counts. False: gives up. */
typedef bool (*tilewright_pause)(void *context);

/* Registers in memory from `registers` on. */
struct tilewright_device tilewright_map(volatile void *registers);

/* Whether there is a machine of the ISA whose hash begins with these 16 hexadecimal digits: OK,
 * NO_DEVICE, OTHER_MAP, OTHER_ISA. */
enum tilewright_result tilewright_probe(const struct tilewright_device *device, uint64_t isa_hash);
/* The first 16 hexadecimal digits of the hash of the machine's ISA. */
uint64_t tilewright_isa_hash(const struct tilewright_device *device);

/* Starts the program: OK, BUSY, BAD_ARGUMENT. Forgets what the last one left in `isr`. */
enum tilewright_result tilewright_start(const struct tilewright_device *device,
                                        const struct tilewright_program *program);

/* How the program stands: OK (it has ended by `halt`, or none was started), TRAPPED, BUSY. Changes
 * nothing. */
enum tilewright_result tilewright_poll(const struct tilewright_device *device);
/* Polls until it has ended: OK, TRAPPED, TIMED_OUT. A null `pause` does nothing between polls. */
enum tilewright_result tilewright_wait(const struct tilewright_device *device,
                                       tilewright_pause pause, void *context);

/* `events` of TILEWRIGHT_ISR_DONE_MASK and TILEWRIGHT_ISR_TRAP_MASK raise the interrupt from now
 * on, others do not. */
void tilewright_enable_interrupts(const struct tilewright_device *device, uint32_t events);
/* For an interrupt handler: clears the events that wait, and returns them. */
uint32_t tilewright_acknowledge_interrupts(const struct tilewright_device *device);

/* Why the last program trapped: `cause` is TILEWRIGHT_TRAP_CAUSE_NONE if it did not. */
struct tilewright_trap tilewright_read_trap(const struct tilewright_device *device);
struct tilewright_counters tilewright_read_counters(const struct tilewright_device *device);

/* Stops whatever runs, waits until no transfer is open, and resets all but the memories and the
   registers that the host writes: OK, TIMED_OUT (then it still waits). Afterwards no event is left,
   and no program has ended. */
enum tilewright_result tilewright_soft_reset(const struct tilewright_device *device,
                                             tilewright_pause pause, void *context);

#ifdef __cplusplus
}
#endif

#endif
