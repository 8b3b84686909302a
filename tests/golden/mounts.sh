# Sourced by cases that need a mount of their own.

# Runs its argument in a mount namespace, so that no mount outlives the case; skips where that is
# not allowed.
in_mount_namespace() {
  if ! unshare --mount true 2>/dev/null; then
    echo "SKIP: this needs root and mount namespaces"
    exit 77
  fi
  exec unshare --mount --propagation private bash -c "$1"
}
