#include "solver/dense_lu.h"

#include <gtest/gtest.h>
#include <vector>

#include "base/random.h"

namespace stint {
namespace {

// Rows (1, 2) and (4, 6). The second has the larger first number, so they are exchanged:
// l = 1/4, u = (4, 6), and 2 − 6/4 = 0.5 remains. In memory column by column.
TEST(DenseLu, FactorisesAsByHand) {
  std::vector<double> cells = {1, 4, 2, 6};
  std::vector<int> pivots(2);
  EXPECT_EQ(lu_factorise({2, 2, cells.data()}, pivots.data()), 0);
  EXPECT_EQ(cells, (std::vector<double>{4, 0.25, 6, 0.5}));
  EXPECT_EQ(pivots, (std::vector<int>{2, 2}));
}

// The same matrix and b = (4, 14): x = (2, 1), as 2 + 2 = 4 and 8 + 6 = 14. Transposed, with
// b = (6, 10): x = (2, 1), as 2 + 4 = 6 and 4 + 6 = 10.
TEST(DenseLu, SolvesAsByHand) {
  std::vector<double> cells = {1, 4, 2, 6};
  std::vector<int> pivots(2);
  lu_factorise({2, 2, cells.data()}, pivots.data());
  std::vector<double> b = {4, 14};
  lu_solve({2, 2, cells.data()}, pivots.data(), false, b.data());
  EXPECT_EQ(b, (std::vector<double>{2, 1}));
  b = {6, 10};
  lu_solve({2, 2, cells.data()}, pivots.data(), true, b.data());
  EXPECT_EQ(b, (std::vector<double>{2, 1}));
}

// Rows (1, 2) and (2, 4): nothing is left of the second column.
TEST(DenseLu, NamesTheFirstColumnWithoutAPivot) {
  std::vector<double> cells = {1, 2, 2, 4};
  std::vector<int> pivots(2);
  EXPECT_EQ(lu_factorise({2, 2, cells.data()}, pivots.data()), 2);
  cells = {0, 0, 0, 0};
  EXPECT_EQ(lu_factorise({2, 2, cells.data()}, pivots.data()), 1);
}

/// A · x, or Aᵀ · x.
std::vector<double> product(const DenseMatrix& a, bool transposed, const std::vector<double>& x) {
  std::vector<double> b(x.size());
  for (int i = 0; i < a.size; ++i) {
    for (int j = 0; j < a.size; ++j) {
      const double cell = transposed ? a.at(j, i) : a.at(i, j);
      b[static_cast<std::size_t>(i)] += cell * x[static_cast<std::size_t>(j)];
    }
  }
  return b;
}

TEST(DenseLu, UndoesAProductAndLeavesWhatLiesBetweenColumns) {
  for (int seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<std::uint64_t>(seed));
    const int size = 1 + random.below(30);
    const int stride = size + random.below(3);
    std::vector<double> cells(static_cast<std::size_t>(size) * static_cast<std::size_t>(stride));
    for (double& cell : cells) cell = random.normal();
    std::vector<double> factors = cells;
    std::vector<double> x(static_cast<std::size_t>(size));
    for (double& value : x) value = random.normal();

    const DenseMatrix lu{size, stride, factors.data()};
    std::vector<int> pivots(static_cast<std::size_t>(size));
    ASSERT_EQ(lu_factorise(lu, pivots.data()), 0);
    for (const bool transposed : {false, true}) {
      std::vector<double> b = product({size, stride, cells.data()}, transposed, x);
      lu_solve(lu, pivots.data(), transposed, b.data());
      for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(b[i], x[i], 1e-9);
    }
    for (int j = 0; j < size; ++j) {
      for (int i = size; i < stride; ++i) {
        const DenseMatrix before{size, stride, cells.data()};
        EXPECT_EQ(lu.at(i, j), before.at(i, j));
      }
    }
  }
}

}  // namespace
}  // namespace stint
