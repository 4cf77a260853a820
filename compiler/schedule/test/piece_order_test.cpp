#include "tilewright/compiler/schedule/piece_order.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace tilewright {

namespace {

using Starts = std::vector<int64_t>;

constexpr int array = 0, lanes = 1, none = -1;
const std::vector<int> severalActors{array, array, lanes, lanes, none};

std::vector<PieceToOrder> randomPieces(std::mt19937 &random) {
  std::vector<PieceToOrder> pieces(60);
  for (size_t i = 0; i < pieces.size(); ++i) {
    pieces[i].stream = static_cast<int>(random() % severalActors.size());
    pieces[i].cycles = static_cast<int64_t>(random() % 50);
    for (unsigned count = random() % 3; count > 0 && i > 0; --count)
      pieces[i].after.push_back(random() % i);
  }
  return pieces;
}

} // namespace

TEST(PieceOrder, ActorsWorkSideBySide) {
  EXPECT_EQ(startTimes({{0, 10, {}}, {1, 7, {}}, {0, 5, {}}, {1, 5, {}}}, {array, lanes}),
            (Starts{0, 0, 10, 7}));
}

TEST(PieceOrder, APieceWaitsForThoseBeforeIt) {
  EXPECT_EQ(startTimes({{0, 10, {}}, {1, 7, {0}}, {0, 5, {1}}}, {array, lanes}),
            (Starts{0, 10, 17}));
}

TEST(PieceOrder, WhatCanStartFirstGoesFirst) {
  // The second stream's piece could start while the first one's waits for the lanes.
  EXPECT_EQ(startTimes({{2, 20, {}}, {0, 5, {0}}, {1, 5, {}}}, {array, array, lanes}),
            (Starts{0, 20, 0}));
}

TEST(PieceOrder, OfTwoThatCanStartAtOnceTheFirstStreamsGoesFirst) {
  EXPECT_EQ(startTimes({{1, 5, {}}, {0, 5, {}}}, {array, array}), (Starts{5, 0}));
}

TEST(PieceOrder, AStreamKeepsItsOrder) {
  EXPECT_EQ(startTimes({{1, 30, {}}, {0, 5, {0}}, {0, 5, {}}}, {array, lanes}),
            (Starts{0, 30, 35}));
}

TEST(PieceOrder, WhatHasNoActorTakesNoOnesTime) {
  EXPECT_EQ(startTimes({{1, 30, {}}, {1, 30, {}}, {0, 5, {}}}, {array, none}), (Starts{0, 0, 0}));
}

TEST(PieceOrder, TheLaterActorWaitsForABank) {
  EXPECT_EQ(startTimes({{0, 10, {}, 1}, {1, 7, {}, 1}}, {array, lanes}), (Starts{0, 10}));
  EXPECT_EQ(startTimes({{0, 10, {}, 1}, {1, 7, {}, 0}}, {array, lanes}), (Starts{0, 0}));
}

TEST(PieceOrder, ActivationsHaveBanksOfTheirOwn) {
  EXPECT_EQ(startTimes({{0, 10, {}, -1, 3}, {1, 7, {}, -1, 3}}, {array, lanes}), (Starts{0, 10}));
  EXPECT_EQ(startTimes({{0, 10, {}, -1, 3}, {1, 7, {}, 3, -1}}, {array, lanes}), (Starts{0, 0}));
  EXPECT_EQ(startTimes({{0, 10, {}, -1, 3}, {1, 7, {}, -1, 2}}, {array, lanes}), (Starts{0, 0}));
}

TEST(PieceOrder, OfTwoThatCanStartAtOnceThePreferredStreamsGoesFirst) {
  const std::vector<PieceToOrder> pieces{{0, 5, {}}, {1, 7, {}}};
  EXPECT_EQ(startTimes(pieces, {array, array}, {0, 1}), (Starts{0, 5}));
  EXPECT_EQ(startTimes(pieces, {array, array}, {1, 0}), (Starts{7, 0}));
  EXPECT_EQ(lastEnd(pieces, {7, 0}), 12);
  EXPECT_EQ(lastEnd(pieces, {0, 20}), 27);
}

TEST(PieceOrder, TheEarlierActorPrefersAnotherBank) {
  // Third and fourth piece are the array's: while the lanes are in bank 0, the fourth goes first.
  EXPECT_EQ(startTimes({{0, 5, {}, -1}, {2, 10, {}, 0}, {0, 5, {}, 0}, {1, 5, {0}, 1}},
                       {array, array, lanes}),
            (Starts{0, 0, 10, 5}));
  // Alone, it does not wait.
  EXPECT_EQ(startTimes({{0, 5, {}, -1}, {1, 10, {}, 0}, {0, 5, {}, 0}}, {array, lanes}),
            (Starts{0, 0, 5}));
}

TEST(PieceOrder, TheEarlierActorHoldsUpTheLaterOnesPiece) {
  // The array's second piece begins in the bank in which the lanes still work.
  EXPECT_EQ(
      startTimes({{0, 5, {}, -1}, {1, 10, {}, 0}, {0, 20, {}, 0}, {1, 5, {}, -1}}, {array, lanes}),
      (Starts{0, 0, 5, 15}));
  // It holds up no longer than it works itself, and whoever waits for the result waits longer.
  EXPECT_EQ(
      startTimes({{0, 5, {}, -1}, {1, 10, {}, 0}, {0, 2, {}, 0}, {0, 5, {1}, -1}}, {array, lanes}),
      (Starts{0, 0, 5, 12}));
}

TEST(PieceOrder, WhoWaitsForAHeldUpPieceWaitsLonger) {
  // The last piece could start at 10, until the array's second piece holds the lanes up.
  EXPECT_EQ(startTimes({{0, 5, {}, -1}, {1, 10, {}, 0}, {0, 2, {}, 0}, {2, 5, {1}, -1}},
                       {array, lanes, none}),
            (Starts{0, 0, 5, 12}));
}

TEST(PieceOrder, ACycleEarlierIsFirst) {
  EXPECT_EQ(startTimes({{0, 1, {}}, {1, 7, {0}}, {2, 5, {}}}, {lanes, array, array}),
            (Starts{0, 5, 0}));
}

TEST(PieceOrder, OtherActorsFindAResultLater) {
  const PieceToOrder products{0, 10, {}, -1, -1, 4};
  EXPECT_EQ(startTimes({products, {0, 5, {0}}, {1, 5, {0}}}, {array, lanes}), (Starts{0, 10, 14}));
}

// Whatever the pieces: none starts before those it comes after have ended, no actor does two at a
// time, and streams keep their order.
TEST(PieceOrder, KeepsItsPromises) {
  std::mt19937 random(1);
  const std::vector<int> &actors = severalActors;
  for (int round = 0; round < 50; ++round) {
    const std::vector<PieceToOrder> pieces = randomPieces(random);
    const Starts starts = startTimes(pieces, actors);
    auto endOf = [&](size_t i) { return starts[i] + pieces[i].cycles; };
    for (size_t i = 0; i < pieces.size(); ++i) {
      for (size_t before : pieces[i].after)
        EXPECT_LE(endOf(before), starts[i]);
      for (size_t other = 0; other < i; ++other) {
        const int one = pieces[i].stream, two = pieces[other].stream;
        if (one == two)
          EXPECT_LE(starts[other], starts[i]);
        if (actors[static_cast<size_t>(one)] != none &&
            actors[static_cast<size_t>(one)] == actors[static_cast<size_t>(two)])
          EXPECT_TRUE(endOf(other) <= starts[i] || endOf(i) <= starts[other]);
      }
    }
  }
}

TEST(PieceOrder, IsGivenUpWhereItEndsTooLate) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    std::vector<PieceToOrder> pieces = randomPieces(random);
    for (PieceToOrder &piece : pieces) {
      piece.latency = static_cast<int64_t>(random() % 20);
      piece.bank = static_cast<int>(random() % 4) - 1;
      piece.source = static_cast<int>(random() % 3) - 1;
    }
    const Starts starts = startTimes(pieces, severalActors);
    const int64_t end = lastEnd(pieces, starts);
    EXPECT_EQ(startTimes(pieces, severalActors, {}, end + 1), starts);
    EXPECT_EQ(startTimes(pieces, severalActors, {}, end), Starts());
  }
}

} // namespace tilewright
