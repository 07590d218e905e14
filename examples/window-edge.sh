#!/bin/sh
# A fixed window forgets everything at its edge. "60 in 2 seconds" then lets
# nearly 120 through in a moment, if calls come just before and just after.
set -eu
. "$(dirname "$0")/common.sh"

cat >"$dir/edge.yaml" <<'PROFILE'
name: edge
about: 60 calls just before and 60 just after every other edge of a window of 2 s
populations:
  - name: callers
    clients: 20
    keys: one
    arrivals: {kind: edge, count: 60, spread: 150ms, period: 4s, aligned: true}
PROFILE
# Two whole edges fit in, so that a late start spoils one at most. In between is
# a window without calls: the next one starts full.
[ "$seconds" -ge 9 ] || seconds=9

echo "== a fixed window"
serve --limit fixed-window:limit=60,window=2s
run --profile "$dir/edge.yaml" --limit fixed-window:limit=60,window=2s
[ "$status" -eq 1 ] # broken at the edge

echo "== a sliding log of the same limit"
serve --limit sliding-log:limit=60,window=2s
run --profile "$dir/edge.yaml" --limit sliding-log:limit=60,window=2s
[ "$status" -eq 0 ] # held
