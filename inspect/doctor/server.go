package doctor

import (
	"fmt"
	"strings"
	"time"

	"github.com/weir-cli/weir/inspect/survey"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// Server is what a server says of itself.
type Server struct {
	Addr    string
	Facts   survey.Facts    // of INFO
	Skew    time.Duration   // by how much its clock is ahead of the local one
	RTT     time.Duration   // within half of which Skew is true
	Scripts map[string]bool // by SHA, those asked for and whether they are loaded; nil when not asked
	Keys    int64
	Cluster bool
}

// Server looks at one. They are judged together by Findings.
func (x *Examiner) Server(s Server) { x.servers = append(x.servers, s) }

// Servers are how many it was shown.
func (x *Examiner) Servers() int { return len(x.servers) }

// What servers may differ by.
const (
	fullShare    = 0.9     // of maxmemory, in use
	machineShare = 0.7     // of the machine's memory
	lagSeconds   = 10      // since a replica last said how far it is
	lagBytes     = 8 << 20 // that it has not heard of
	clockApart   = time.Second
)

func judgeServers(f findings, servers []Server) {
	for i := range servers {
		s := &servers[i]
		memory(f, s)
		replicas(f, s)
	}
	clocks(f, servers)
	scripts(f, servers)
	shares(f, servers)
}

func memory(f findings, s *Server) {
	most, used := s.Facts.Number("maxmemory"), s.Facts.Number("used_memory")
	policy := s.Facts["maxmemory_policy"]
	if n := s.Facts.Number("evicted_keys"); n > 0 {
		f.add("evictions", s.Addr, fmt.Sprintf("%s keys were evicted since it was started, by the policy %s at %s.", report.Count(int64(n)), clean(policy), megabytes(most)))
	}
	switch {
	case most == 0:
		if all := s.Facts.Number("total_system_memory"); all > 0 && s.Facts.Number("used_memory_rss") > machineShare*all {
			f.add("memory-unbounded", s.Addr, fmt.Sprintf("It uses %s of the machine's %s, and maxmemory is 0.", megabytes(s.Facts.Number("used_memory_rss")), megabytes(all)))
		}
	case policy == "noeviction":
		if used > fullShare*most {
			f.add("memory-full", s.Addr, fmt.Sprintf("%s of %s are used, and the policy is noeviction.", megabytes(used), megabytes(most)))
		}
	case policy != "volatile-ttl" && policy != "":
		f.add("eviction-policy", s.Addr, fmt.Sprintf("maxmemory-policy is %s, and %s of %s are used.", clean(policy), megabytes(used), megabytes(most)))
	}
}

func megabytes(n float64) string { return fmt.Sprintf("%.0f MB", n/1e6) }

func replicas(f findings, s *Server) {
	if s.Facts["role"] == "slave" {
		if s.Facts["master_link_status"] != "up" {
			f.add("replica-lag", s.Addr, fmt.Sprintf("Its link to the primary is down, since %s s.", clean(s.Facts["master_link_down_since_seconds"])))
		} else if ago := s.Facts.Number("master_last_io_seconds_ago"); ago > lagSeconds {
			f.add("replica-lag", s.Addr, fmt.Sprintf("It last heard of its primary %.0f s ago.", ago))
		}
		return
	}
	at := s.Facts.Number("master_repl_offset")
	for i := range 64 {
		fields := map[string]string{}
		for field := range strings.SplitSeq(s.Facts[fmt.Sprintf("slave%d", i)], ",") {
			name, value, _ := strings.Cut(field, "=")
			fields[name] = value
		}
		if fields["ip"] == "" {
			continue
		}
		facts := survey.Facts(fields)
		who := clean(fields["ip"] + ":" + fields["port"])
		switch behind := at - facts.Number("offset"); {
		case fields["state"] != "online":
			f.add("replica-lag", s.Addr, fmt.Sprintf("Its replica %s is not online: %s.", who, clean(fields["state"])))
		case facts.Number("lag") > lagSeconds:
			f.add("replica-lag", s.Addr, fmt.Sprintf("Its replica %s last said %.0f s ago how far it is.", who, facts.Number("lag")))
		case behind > lagBytes:
			f.add("replica-lag", s.Addr, fmt.Sprintf("Its replica %s is %s behind.", who, megabytes(behind)))
		}
	}
}

func clocks(f findings, servers []Server) {
	if len(servers) < 2 {
		return
	}
	low, high := &servers[0], &servers[0]
	for i := range servers {
		if servers[i].Skew < low.Skew {
			low = &servers[i]
		}
		if servers[i].Skew > high.Skew {
			high = &servers[i]
		}
	}
	if apart := high.Skew - low.Skew - low.RTT/2 - high.RTT/2; apart > clockApart {
		f.add("node-clocks", high.Addr, fmt.Sprintf("Its clock is %s ahead of that of %s.", limit.ShortDuration((high.Skew-low.Skew).Round(time.Millisecond)), low.Addr))
	}
}

func scripts(f findings, servers []Server) {
	loaded := map[string][]string{}
	asked := 0
	for i := range servers {
		s := &servers[i]
		if s.Scripts == nil || s.Facts["role"] == "slave" {
			continue
		}
		asked++
		for sha, there := range s.Scripts {
			if there {
				loaded[sha] = append(loaded[sha], s.Addr)
			}
		}
	}
	for _, sha := range inOrder(loaded) {
		if len(loaded[sha]) == asked {
			continue
		}
		var lacks []string
		for i := range servers {
			if s := &servers[i]; s.Scripts != nil && s.Facts["role"] != "slave" && !s.Scripts[sha] {
				lacks = append(lacks, s.Addr)
			}
		}
		f.add("scripts-missing", lacks[0], fmt.Sprintf("%s (%s) is loaded on %s and not on %s.", scriptName(sha), sha[:min(8, len(sha))], strings.Join(loaded[sha], ", "), strings.Join(lacks, ", ")))
	}
}

func shares(f findings, servers []Server) {
	all, n := int64(0), int64(0)
	for i := range servers {
		if servers[i].Cluster {
			all += servers[i].Keys
			n++
		}
	}
	if n < 2 || all < crowdLeast {
		return
	}
	for i := range servers {
		// With two servers nobody can have twice the even share and leave any.
		s, even := &servers[i], float64(all)/float64(n)
		if s.Cluster && float64(s.Keys) > min(heavyTimes*even, (even+float64(all))/2) {
			f.add("shard-imbalance", s.Addr, fmt.Sprintf("It has %s of %s keys, where an even share is %s.", report.Count(s.Keys), report.Count(all), report.Count(int64(even))))
		}
	}
}
