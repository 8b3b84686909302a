// Ceres was built with sparse solvers and LAPACK, which we never ask for: our problems are dense
// and Eigen solves them. glog was built with libunwind, to print the stack before it aborts.
// CoinUtils was built with zlib and bzip2, to read and write files. A static link wants their names
// all the same. Defined here, they keep some twenty libraries, of which a few have no usable static
// form, out of a binary that is to be one file. Whoever calls one of these aborts; a name that is
// missing here is an error at configuration, and then cmake/ceres.cmake and cmake/cbc.cmake link
// the shared libraries instead.

.macro unused names:vararg
  .irp name, \names
  .globl \name
  \name:
  .endr
.endm

.text
unused cholmod_amd, cholmod_analyze, cholmod_analyze_p, cholmod_camd, cholmod_factorize
unused cholmod_finish, cholmod_free_dense, cholmod_free_factor, cholmod_free_sparse
unused cholmod_print_common, cholmod_solve, cholmod_start, cholmod_triplet_to_sparse, cholmod_zeros
unused cs_di_amd, cs_di_calloc, cs_di_chol, cs_di_cholsol, cs_di_compress, cs_di_counts
unused cs_di_cumsum, cs_di_etree, cs_di_free, cs_di_ipvec, cs_di_lsolve, cs_di_ltsolve, cs_di_malloc
unused cs_di_multiply, cs_di_nfree, cs_di_pinv, cs_di_post, cs_di_pvec, cs_di_schol, cs_di_sfree
unused cs_di_spfree, cs_di_symperm, cs_di_transpose
unused dgeqrf_, dormqr_, dpotrf_, dpotrs_, dtrtrs_
unused BZ2_bzRead, BZ2_bzReadClose, BZ2_bzReadOpen, BZ2_bzWrite, BZ2_bzWriteClose, BZ2_bzWriteOpen
unused gzclose, gzopen, gzread, gzwrite
unused _ULx86_64_get_reg, _ULx86_64_init_local, _ULx86_64_step, _Ux86_64_getcontext
  jmp abort@PLT

.section .note.GNU-stack, "", @progbits
