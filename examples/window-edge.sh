#!/bin/sh
# A fixed window forgets everything at its edge. "60 in 2 seconds" then lets
# nearly 120 through in a moment, if calls come just before and just after.
set -eu
. "$(dirname "$0")/common.sh"

cat >"$dir/edge.yaml" <<'PROFILE'
name: edge
about: 60 calls just before and 60 just after each edge of a window of 2 s
populations:
  - name: callers
    clients: 20
    keys: one
    arrivals: {kind: edge, count: 60, spread: 150ms, period: 2s, aligned: true}
PROFILE
[ "$seconds" -ge 5 ] || seconds=5 # so that a whole edge fits in

echo "== a fixed window"
serve --limit fixed-window:limit=60,window=2s
run --profile "$dir/edge.yaml" --limit fixed-window:limit=60,window=2s
[ "$status" -eq 1 ] # broken at the edge

echo "== a sliding log of the same limit"
serve --limit sliding-log:limit=60,window=2s
run --profile "$dir/edge.yaml" --limit sliding-log:limit=60,window=2s
[ "$status" -eq 0 ] # held
