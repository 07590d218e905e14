package gateway

import (
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/weir-cli/weir/limit"
)

// identity says who a caller is. Safe for concurrent use.
type identity struct {
	file    string
	key     Key
	bearer  bool // the key stands behind Bearer
	proxies Proxies
	seen    stamp                         // of the file when it was read last; read's and watch's
	table   atomic.Pointer[keyTable]      // nil takes every key
	limit   limit.Limiter                 // of an address without a known key
	guesses []atomic.Pointer[limit.Store] // by gateway: such addresses
	unknown body                          // of a 401
	guessed body                          // of a 429 for too many of these
	scheme  []string                      // WWW-Authenticate
}

// maxGuessers is how many addresses without a known key a gateway keeps apart.
// Those beyond share what is left.
const maxGuessers = 1 << 16

var unknownLimit = limit.Spec{Rate: limit.Rate{Units: 10, Per: 1e9}, Burst: 10}

// checkIdentity refuses a table of keys that no key could be looked up in.
func (c *Config) checkIdentity() error {
	if (c.Unknown != limit.Spec{}) {
		if err := c.Unknown.Validate(); err != nil {
			return err
		}
		if c.Unknown.Algorithm == limit.Concurrency {
			return &ConfigError{"unknown limit", c.Unknown.String(), "want a limit over time"}
		}
	}
	if c.KeysFile == "" {
		if (c.Unknown != limit.Spec{}) {
			return &ConfigError{"unknown limit", c.Unknown.String(), "without a keys file every key is known"}
		}
		return nil
	}
	switch {
	case c.Key.By != ByHeader:
		return &ConfigError{"keys file", c.KeysFile, "keys are looked up by header, not by " + c.Key.By.String()}
	case c.Wrong.ForgeableKey != "":
		return &ConfigError{"wrong", "forgeable-key", "forges no key with a keys file"}
	}
	return nil
}

// newIdentity reads the file of keys, if there is one.
func newIdentity(c Config) (*identity, error) {
	id := &identity{file: c.KeysFile, key: c.Key, proxies: c.Proxies,
		bearer: c.Key.Header == "Authorization"}
	if id.file == "" {
		return id, nil
	}
	if err := id.read(); err != nil {
		return nil, err
	}
	spec := c.Unknown
	if (spec == limit.Spec{}) {
		spec = unknownLimit
	}
	var err error
	if id.limit, err = spec.New(); err != nil {
		return nil, err
	}
	id.guesses = make([]atomic.Pointer[limit.Store], c.Gateways)
	id.forget()
	id.scheme = []string{`ApiKey header="` + id.key.Header + `"`}
	if id.bearer {
		id.scheme = []string{"Bearer"}
	}
	id.unknown = problem(`{"type":"about:blank","title":"Unauthorized","status":401,"detail":"A key that is known here is wanted in ` + id.key.Header + `."}` + "\n")
	id.guessed = quietRefusal(http.StatusTooManyRequests)
	return id, nil
}

// forget lets every address guess afresh.
func (id *identity) forget() {
	for i := range id.guesses {
		id.guesses[i].Store(limit.NewStore(id.limit, limit.StoreOptions{MaxKeys: maxGuessers}))
	}
}

// of finds who sent r to gateway n: status is 0, or with a table of keys 401
// for a key that is not in it and 429 when the address has shown too many.
// Neither leaves anything behind but the address's own bucket.
func (id *identity) of(r *http.Request, n int, now int64) (c caller, status int) {
	c.Address = id.proxies.of(r)
	t := id.table.Load()
	if t == nil {
		c.Key, c.Known = id.key.of(r), true
		return c, 0
	}
	key := first(r, id.key.Header)
	if id.bearer {
		scheme, token, _ := strings.Cut(key, " ")
		if key = ""; strings.EqualFold(scheme, "Bearer") {
			key = strings.TrimSpace(token)
		}
	}
	if o, ok := t.find(key); ok {
		c.Key, c.Plan, c.Known = o.name, o.plan, true
		return c, 0
	}
	if !id.guesses[n].Load().Take(c.Address, now, 1).OK {
		return c, http.StatusTooManyRequests
	}
	return c, http.StatusUnauthorized
}

// refuse answers what of said.
func (id *identity) refuse(w http.ResponseWriter, r *http.Request, status int) {
	if status == http.StatusUnauthorized {
		w.Header()["Www-Authenticate"] = id.scheme
		id.unknown.write(w, r, status)
		return
	}
	id.guessed.write(w, r, status)
}
