package redistest

import (
	"strconv"
	"strings"
)

// Migration is a slot on its way from one primary to another. While it is,
// From serves the keys of the slot that it has and answers ASK for others.
type Migration struct {
	Slot     int
	From, To *Redis

	c *ClusterRedis
}

// Migrate begins to move the slot of key from its primary to another one.
func (c *ClusterRedis) Migrate(key string) *Migration {
	c.t.Helper()
	m := &Migration{Slot: c.Slot(key), From: c.Primary(key), c: c}
	for _, r := range c.running() {
		if r != m.From && strings.Contains(r.CLI("INFO", "replication"), "role:master") {
			m.To = r
			break
		}
	}
	if m.To == nil {
		c.t.Fatal("a slot moves between two primaries, and only one is there")
	}
	slot := strconv.Itoa(m.Slot)
	m.To.CLI("CLUSTER", "SETSLOT", slot, "IMPORTING", m.From.CLI("CLUSTER", "MYID"))
	m.From.CLI("CLUSTER", "SETSLOT", slot, "MIGRATING", m.To.CLI("CLUSTER", "MYID"))
	return m
}

// Move takes keys of the slot over; callers of them get ASK from now on. Keys
// that are not there do not matter.
func (m *Migration) Move(keys ...string) {
	m.c.t.Helper()
	host, port, _ := strings.Cut(m.To.Addr, ":")
	args := []string{"MIGRATE", host, port, "", "0", "5000"}
	if p := m.To.admin.Password; p != "" {
		args = append(args, "AUTH", p)
	}
	m.From.CLI(append(append(args, "KEYS"), keys...)...)
}

// Finish takes over what is left and makes To the owner; callers get MOVED
// from now on.
func (m *Migration) Finish() {
	m.c.t.Helper()
	slot := strconv.Itoa(m.Slot)
	for {
		left := m.From.CLI("CLUSTER", "GETKEYSINSLOT", slot, "1000")
		if left == "" {
			break
		}
		m.Move(strings.Split(left, "\n")...)
	}
	id := m.To.CLI("CLUSTER", "MYID")
	m.To.CLI("CLUSTER", "SETSLOT", slot, "NODE", id)
	m.From.CLI("CLUSTER", "SETSLOT", slot, "NODE", id)
	eventually(m.c.t, func() string {
		for _, r := range m.c.running() {
			if r.owner(m.Slot) != id {
				return r.Addr + " has not heard of the slot's new owner"
			}
		}
		return ""
	})
}
