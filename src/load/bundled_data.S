/* The files that travel inside the binary; src/load/bundled.cc names them. */
#define BUNDLE(symbol, path)      \
  .global symbol##_begin;         \
  .global symbol##_end;           \
  symbol##_begin: .incbin path;   \
  symbol##_end: .byte 0;

  .section .rodata
  BUNDLE(stint_catalog_gpus, "catalog/gpus.json")
  BUNDLE(stint_catalog_boards, "catalog/boards.json")
  BUNDLE(stint_catalog_aws, "catalog/aws.json")
  BUNDLE(stint_catalog_gcp, "catalog/gcp.json")
  BUNDLE(stint_catalog_azure, "catalog/azure.json")
  BUNDLE(stint_catalog_local, "catalog/local.json")
#include "load/bundled_files.inc"
  .section .note.GNU-stack, "", @progbits
