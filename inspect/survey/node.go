package survey

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/inspect"
)

// place is a server to look at.
type place struct {
	options redis.Options
	cluster bool
	replica bool // it is read in place of its primary
}

// places are the servers that a client is of: one, or the primaries of a
// cluster by their addresses; with replicas one replica of each.
func places(ctx context.Context, client redis.UniversalClient, replicas bool, patience time.Duration) ([]place, error) {
	var all []place
	switch c := client.(type) {
	case *redis.Client:
		all = append(all, place{options: *c.Options()})
	case *redis.ClusterClient:
		var mu sync.Mutex
		err := c.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, place{options: *node.Options(), cluster: true})
			return nil
		})
		if err != nil {
			return nil, err
		}
		slices.SortFunc(all, func(a, b place) int { return strings.Compare(a.options.Addr, b.options.Addr) })
	default:
		return nil, fmt.Errorf("a client of the kind %T has no servers to look at one by one", client)
	}
	if !replicas {
		return all, nil
	}
	for i := range all {
		if err := all[i].toReplica(ctx, patience); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// NoReplicaError is a primary without a replica that could be read.
type NoReplicaError struct{ Addr string }

func (e *NoReplicaError) Error() string { return e.Addr + " has no replica that is online" }

// toReplica makes the place that of the first replica that is online.
func (p *place) toReplica(ctx context.Context, patience time.Duration) error {
	w, err := dial(ctx, &p.options, patience)
	if err != nil {
		return err
	}
	defer w.close()
	facts, err := readFacts(w)
	if err != nil {
		return err
	}
	for i := range 64 {
		host, port, state := "", "", ""
		for field := range strings.SplitSeq(facts[fmt.Sprintf("slave%d", i)], ",") {
			name, value, _ := strings.Cut(field, "=")
			switch name {
			case "ip":
				host = value
			case "port":
				port = value
			case "state":
				state = value
			}
		}
		if state == "online" {
			p.options.Network, p.options.Addr = "tcp", net.JoinHostPort(host, port)
			p.options.Dialer = redis.NewDialer(&p.options)
			p.replica = true
			return nil
		}
	}
	return &NoReplicaError{w.c.RemoteAddr().String()}
}

// Facts are what INFO says, by name.
type Facts map[string]string

const maxFacts = 256 << 10

// readFacts asks a server about itself.
func readFacts(w *wire) (Facts, error) {
	w.ask("INFO")
	if err := w.flush(); err != nil {
		return nil, err
	}
	text, _, err := w.text(maxFacts)
	if err != nil {
		return nil, denied("INFO", err)
	}
	return ParseFacts(string(text)), nil
}

// ParseFacts reads the reply of INFO.
func ParseFacts(text string) Facts {
	f := Facts{}
	for line := range strings.SplitSeq(text, "\n") {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\r"), ":")
		if ok && !strings.HasPrefix(name, "#") {
			f[name] = value
		}
	}
	return f
}

// Number is a fact that is a number; 0 when it is not there.
func (f Facts) Number(name string) float64 {
	var n float64
	_, _ = fmt.Sscanf(f[name], "%g", &n) // what is no number counts as none
	return n
}

// link is a connection to a place, ready to read keys.
type link struct {
	*keyReader
	touches bool // reading sets the time of last use
	total   int64
	facts   Facts // nil when INFO is not allowed
}

// connect dials a place and asks what it is.
func connect(ctx context.Context, p *place, o *Options) (*link, error) {
	w, err := dial(ctx, &p.options, o.Patience)
	if err != nil {
		return nil, err
	}
	node := ""
	if p.cluster {
		node = p.options.Addr
	}
	l := &link{keyReader: newKeyReader(w, node, o.Clock)}
	if err := l.greet(p); err != nil {
		w.close()
		return nil, err
	}
	return l, nil
}

func (l *link) greet(p *place) error {
	l.w.ask("CLIENT", "NO-TOUCH", "ON")
	l.w.ask("DBSIZE")
	if p.cluster && p.replica {
		l.w.ask("READONLY")
	}
	if err := l.w.flush(); err != nil {
		return err
	}
	err := l.w.skip(0)
	l.touches = isReply(err)
	if err != nil && !l.touches {
		return err
	}
	n, _, err := l.w.whole()
	switch {
	case isReply(err):
		l.missing("DBSIZE", err, "how many keys there are, and so how far the scan is")
	case err != nil:
		return err
	}
	l.total = n
	if p.cluster && p.replica {
		if err := l.w.skip(0); err != nil {
			return denied("READONLY", err)
		}
	}
	err = l.ask()
	policy := l.facts["maxmemory_policy"]
	l.plan.frequency = strings.Contains(policy, "lfu")
	l.alone = strings.Contains(policy, "lru") && l.facts.Number("maxmemory") > 0
	return err
}

// ask reads the facts anew.
func (l *link) ask() error {
	facts, err := readFacts(l.w)
	if isReply(err) {
		l.missing("INFO", err, "what the scan cost the server, nor whether it has restarted")
		return nil
	}
	l.facts = facts
	return err
}

// blindOf are the commands that were not allowed, of several connections.
func blindOf(into []inspect.Blind, links ...*link) []inspect.Blind {
	for _, l := range links {
		if l == nil {
			continue
		}
		for _, b := range l.blind {
			if !slices.Contains(into, b) {
				into = append(into, b)
			}
		}
	}
	return into
}
