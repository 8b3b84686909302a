#pragma once

#include <cstddef>

namespace stint {

/// A square matrix that lies in memory column by column, `stride` numbers from one to the next.
struct DenseMatrix {
  int size = 0;
  int stride = 0;
  double* cells = nullptr;

  double& at(int row, int column) const {
    return cells[static_cast<std::ptrdiff_t>(column) * stride + row];
  }
};

/// Replaces `a` by its factors L (unit diagonal, not stored) and U with rows exchanged such that
/// every number of L is at most 1, as LAPACK's dgetrf does; `pivots[k]` is the row, counted from 1,
/// that was exchanged with row k. Returns 0, or the first column, counted from 1, without a pivot.
int lu_factorise(const DenseMatrix& a, int* pivots);

/// Replaces `b` by the solution x of A x = b, or of Aᵀ x = b, where `lu` and `pivots` are of A.
void lu_solve(const DenseMatrix& lu, const int* pivots, bool transposed, double* b);

}  // namespace stint
