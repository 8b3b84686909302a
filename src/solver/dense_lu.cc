#include "solver/dense_lu.h"

#include <cmath>
#include <utility>

namespace stint {
namespace {

/// The row at or below the diagonal with the largest value in this column.
int pivot_row(const DenseMatrix& a, int column) {
  int best = column;
  for (int i = column + 1; i < a.size; ++i) {
    if (std::abs(a.at(i, column)) > std::abs(a.at(best, column))) best = i;
  }
  return best;
}

/// column(j) −= factor · column(k), from row `first` on.
void subtract_column(const DenseMatrix& a, int k, double factor, int first, double* column) {
  if (factor == 0) return;
  for (int i = first; i < a.size; ++i) column[i] -= factor * a.at(i, k);
}

}  // namespace

int lu_factorise(const DenseMatrix& a, int* pivots) {
  int without_pivot = 0;
  for (int k = 0; k < a.size; ++k) {
    const int pivot = pivot_row(a, k);
    pivots[k] = pivot + 1;
    if (a.at(pivot, k) == 0) {
      if (without_pivot == 0) without_pivot = k + 1;
      continue;
    }
    if (pivot != k) {
      for (int j = 0; j < a.size; ++j) std::swap(a.at(k, j), a.at(pivot, j));
    }
    for (int i = k + 1; i < a.size; ++i) a.at(i, k) /= a.at(k, k);
    for (int j = k + 1; j < a.size; ++j) subtract_column(a, k, a.at(k, j), k + 1, &a.at(0, j));
  }
  return without_pivot;
}

void lu_solve(const DenseMatrix& lu, const int* pivots, bool transposed, double* b) {
  const int size = lu.size;
  if (!transposed) {
    for (int k = 0; k < size; ++k) std::swap(b[k], b[pivots[k] - 1]);
    for (int k = 0; k < size; ++k) subtract_column(lu, k, b[k], k + 1, b);
    for (int k = size - 1; k >= 0; --k) {
      b[k] /= lu.at(k, k);
      for (int i = 0; i < k; ++i) b[i] -= b[k] * lu.at(i, k);
    }
    return;
  }
  for (int k = 0; k < size; ++k) {
    for (int i = 0; i < k; ++i) b[k] -= lu.at(i, k) * b[i];
    b[k] /= lu.at(k, k);
  }
  for (int k = size - 1; k >= 0; --k) {
    for (int i = k + 1; i < size; ++i) b[k] -= lu.at(i, k) * b[i];
  }
  for (int k = size - 1; k >= 0; --k) std::swap(b[k], b[pivots[k] - 1]);
}

}  // namespace stint
