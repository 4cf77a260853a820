// ctest -R Parallel: loops that several threads share.
#include "tilewright/support/parallel.h"

#include "tilewright/support/process.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <numeric>
#include <pthread.h>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tilewright {
namespace {

TEST(Parallel, DoesEachOnce) {
  for (const unsigned workers : {1u, 2u, 7u, 100u}) {
    std::vector<std::atomic<int>> done(50);
    parallelFor(workers, done.size(), [&](unsigned, size_t i) { ++done[i]; });
    EXPECT_TRUE(std::all_of(done.begin(), done.end(), [](const auto &times) { return times == 1; }))
        << workers << " workers";
  }
}

TEST(Parallel, DoesNothingOfNothing) {
  parallelFor(4, 0, [](unsigned, size_t) { ADD_FAILURE(); });
}

TEST(Parallel, NoWorkerDoesTwoThings) {
  std::vector<std::atomic<int>> inside(4);
  std::atomic<bool> isTwice = false;
  parallelFor(4, 1000, [&](unsigned worker, size_t) {
    isTwice = isTwice || ++inside.at(worker) != 1;
    --inside[worker];
  });
  EXPECT_FALSE(isTwice);
}

TEST(Parallel, SharesTheWork) {
  // Each waits for the other: one thread would not get on.
  std::atomic<int> begun = 0;
  parallelFor(2, 2, [&](unsigned, size_t) {
    for (++begun; begun != 2;)
      std::this_thread::yield();
  });
  EXPECT_EQ(begun, 2);
}

TEST(Parallel, OneWorkerIsTheCaller) {
  std::set<std::thread::id> threads;
  std::vector<size_t> order;
  parallelFor(1, 5, [&](unsigned worker, size_t i) {
    EXPECT_EQ(worker, 0u);
    threads.insert(std::this_thread::get_id());
    order.push_back(i);
  });
  EXPECT_EQ(threads, std::set<std::thread::id>{std::this_thread::get_id()});
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4}));
}

TEST(Parallel, ThrowsTheFirstErrorWhenAllIsDone) {
  std::atomic<int> done = 0;
  try {
    parallelFor(4, 20, [&](unsigned, size_t i) {
      ++done;
      if (i % 7 == 3)
        throw std::runtime_error(std::to_string(i));
    });
    ADD_FAILURE() << "nothing is thrown";
  } catch (const std::runtime_error &error) {
    EXPECT_STREQ(error.what(), "3");
  }
  EXPECT_EQ(done, 20);
}

TEST(Parallel, DoesWithoutThreads) {
  ChildProcess child([] {
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, size_t(1) << 47); // for which there is no memory
    ::pthread_setattr_default_np(&attributes);
    std::vector<std::thread::id> threads(8);
    parallelFor(4, threads.size(),
                [&](unsigned, size_t i) { threads[i] = std::this_thread::get_id(); });
    return std::count(threads.begin(), threads.end(), std::this_thread::get_id()) == 8 ? 0 : 1;
  });
  EXPECT_TRUE(child.wait().isSuccess());
}

} // namespace
} // namespace tilewright
