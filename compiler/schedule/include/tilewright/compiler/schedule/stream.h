// The instructions of a program in program order. A program may have millions of them: what many
// have alike, all but addresses, waits and signals, is kept once.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/support/chunked_list.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <vector>

namespace tilewright {

struct StreamInstruction {
  isa::DecodedInstruction decoded;
  int layer = -1;
};

class Stream {
public:
  explicit Stream(const isa::Isa &isa);

  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  const StreamInstruction operator[](size_t at) const;
  void push_back(const StreamInstruction &instruction);
  // Another one with as many addresses in its place.
  void replace(size_t at, const StreamInstruction &instruction);
  void addSignal(size_t at, uint32_t mask) { items_[at].signal |= mask; }

  // Parts of an instruction, without the rest.
  int instruction(size_t at) const { return formOf(at).decoded.instruction; }
  int layer(size_t at) const { return formOf(at).layer; }
  uint32_t wait(size_t at) const { return items_[at].wait; }
  uint32_t signal(size_t at) const { return items_[at].signal; }
  size_t addressCount(size_t at) const { return memoriesOf(formOf(at)).size(); }
  int64_t address(size_t at, size_t number) const {
    const StreamInstruction &form = formOf(at);
    return form.decoded.values[memoriesOf(form)[number]] |
           addresses_[items_[at].addresses + number];
  }

  // The same for instructions that are the same but for addresses, base registers, waits and
  // signals.
  uint32_t shape(size_t at) const { return shapes_[items_[at].form]; }
  // Whether an address is to be added to a base register.
  bool hasBases() const { return hasBases_; }

  class Iterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = StreamInstruction;
    using difference_type = std::ptrdiff_t;
    using pointer = const StreamInstruction *;
    using reference = const StreamInstruction;

    Iterator(const Stream &stream, size_t at) : stream_(&stream), at_(at) {}
    const StreamInstruction operator*() const { return (*stream_)[at_]; }
    Iterator &operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator &other) const { return at_ == other.at_; }
    bool operator!=(const Iterator &other) const { return at_ != other.at_; }

  private:
    const Stream *stream_;
    size_t at_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

private:
  struct Item {
    uint32_t form, addresses; // its first one in addresses_
    uint32_t wait, signal;
  };
  using Operands = std::vector<uint8_t>;

  const StreamInstruction &formOf(size_t at) const { return forms_[items_[at].form]; }
  const Operands &memoriesOf(const StreamInstruction &form) const {
    return memories_[static_cast<size_t>(form.decoded.instruction)];
  }
  uint32_t add(const StreamInstruction &form);
  uint32_t numberOf(const StreamInstruction &form);

  std::vector<Operands> memories_; // by instruction of the description: its operands in memory
  // What instructions have alike: instructions without waits and signals, whose addresses lack
  // their lower half.
  std::vector<StreamInstruction> forms_;
  std::vector<uint32_t> shapes_; // of forms: the first one that differs in addresses alone
  std::vector<uint32_t> latest_; // by instruction of the description: its form that was met last
  std::unordered_multimap<uint64_t, uint32_t> known_; // forms, by hash
  bool hasBases_ = false;
  ChunkedList<Item> items_;
  ChunkedList<uint32_t> addresses_; // their lower halves
};

} // namespace tilewright
