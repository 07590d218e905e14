"""Drives the Python limiters for tests of package inspect.

It takes one call per line and answers what the library said:

    main.py LIBRARY HOST:PORT '{"limit":10,"window_ms":1000}'

A line in is a key and a cost, apart by a space. A line out is JSON: allowed,
remaining (after the call), or error.
"""

import json
import sys

from limits import RateLimitItemPerSecond
from limits.storage import storage_from_string
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter

STRATEGIES = {
    "limits-fixed": FixedWindowRateLimiter,
    "limits-moving": MovingWindowRateLimiter,
}


def main(name, address, settings):
    settings = json.loads(settings)
    storage = storage_from_string("redis://" + address)  # limiters hold it weakly
    limiter = STRATEGIES[name](storage)
    item = RateLimitItemPerSecond(settings["limit"], settings["window_ms"] // 1000)
    for line in sys.stdin:
        key, cost = line.split()
        try:
            allowed = limiter.hit(item, key, cost=int(cost))
            answer = {"allowed": bool(allowed)}
            # A moving window's statistics look back to a whole second, further
            # than what it decides by.
            if name != "limits-moving":
                _, remaining = limiter.get_window_stats(item, key)
                answer["remaining"] = max(0, remaining)
        except Exception as e:  # what went wrong is the answer
            answer = {"error": repr(e)}
        print(json.dumps(answer), flush=True)


main(*sys.argv[1:])
