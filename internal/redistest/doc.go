// Package redistest starts Redis servers for tests: in this process
// (miniredis) and real ones, alone, as a cluster or under sentinels, with TLS
// and with ACL users. Every server listens on loopback, keeps nothing on disk
// and is gone when its test ends. A test is skipped where redis-server is not
// installed.
package redistest
