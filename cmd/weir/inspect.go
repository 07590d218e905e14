package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/profiles"
	"github.com/weir-cli/weir/report"
)

func newInspectCmd(a *app) *cobra.Command {
	return group("inspect", "See what rate limiters keep in Redis, whoever wrote it",
		`Reads the state of rate limiters in Redis, weir's own and those of many
libraries and gateways, and says what it means: how much is left, when the next
call passes, and what is wrong. Only plain reads are sent, but for what
weir inspect bucket writes.`,
		`  weir inspect get k-7 --redis redis://localhost:6379
  weir inspect scan --redis redis://localhost:6379
  weir inspect doctor --redis redis://localhost:6379`,
		newInspectGetCmd(a), newInspectWatchCmd(a), newInspectScanCmd(a), newInspectDoctorCmd(a),
		newInspectBucketCmd(a), newInspectLayoutsCmd(a))
}

// inspectFlags are those of every verb that looks at state.
type inspectFlags struct {
	redis  *redisFlags
	files  []string
	layout string
	limit  string
}

func newInspectFlags(cmd *cobra.Command) *inspectFlags {
	fs := cmd.Flags()
	f := &inspectFlags{redis: newRedisFlags(fs)}
	newLayoutFiles(fs, &f.files)
	fs.StringVar(&f.layout, "layout", "", "take the state for that of this layout, by `NAME` (see weir inspect layouts)")
	fs.StringVar(&f.limit, "limit", "", "the `LIMIT` that the state is under, where it does not say so itself: 10/s,burst=20 or ALGORITHM:key=value,…")
	complete(cmd, "layout", layoutNames, cobra.ShellCompDirectiveNoFileComp)
	return f
}

func newLayoutFiles(fs *pflag.FlagSet, files *[]string) {
	fs.StringArrayVar(files, "layouts", nil, "read more layouts from this `FILE` (repeatable)")
}

// layoutNames are for completion, each with its writer.
func layoutNames() []string {
	var names []string
	for _, l := range inspect.Builtin() {
		names = append(names, l.Name+"\t"+l.Writer)
	}
	return names
}

// readLayouts are the built-in layouts and those of the files.
func readLayouts(files []string) ([]*inspect.Layout, error) {
	all := inspect.Builtin()
	for _, file := range files {
		text, err := readBounded(file, profiles.MaxBytes)
		if err != nil {
			return nil, reachError(fmt.Errorf("layouts: %w", err), "weir inspect layouts redis-rate > mine.yaml begins one")
		}
		more, err := inspect.ReadLayouts(file, text)
		if err != nil {
			return nil, layoutError(err)
		}
		all = inspect.With(all, more)
	}
	return all, nil
}

// readBounded reads a file of at most most bytes; more is cut off, one byte
// above, so that whoever parses it can say so.
func readBounded(file string, most int) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = fmt.Errorf("%s: %w", report.Clean(file), p.Err)
		}
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(most)+1))
}

// layoutError types an error about a layout, which may bring a hint.
func layoutError(err error) error {
	hint := ""
	var e *profiles.Error
	if errors.As(err, &e) {
		hint = e.Hint
	}
	return usageError(err, hint)
}

// target is what the flags name, ready to be looked at.
type inspectTarget struct {
	client  redis.UniversalClient // the caller's to close
	layouts []*inspect.Layout
	only    *inspect.Layout
	told    *limit.Spec
}

// nameFlags say what stands in the names of keys beside the customer.
type nameFlags struct{ rules, parts []string }

func newNameFlags(fs *pflag.FlagSet) *nameFlags {
	n := &nameFlags{}
	fs.StringArrayVar(&n.rules, "rule", nil, "the rule that stands in the names, by `NAME` (repeatable)")
	fs.StringArrayVar(&n.parts, "part", nil, "what stands in the names in place of a placeholder, as `NAME=VALUE` (repeatable)")
	return n
}

// look opens what the flags name, reads what the query asks for and hands it to
// use, all within inspectPatience.
func (f *inspectFlags) look(ctx context.Context, a *app, names *nameFlags, out *output, q inspect.Query, use func(context.Context, *inspectTarget, *inspect.Reader, *inspect.Sight) error) error {
	parts, err := parseParts(names.parts, names.rules)
	if err != nil {
		return err
	}
	if err := out.check(); err != nil {
		return err
	}
	t, err := f.open(ctx, a)
	if err != nil {
		return err
	}
	defer t.client.Close()
	ctx, cancel := context.WithTimeout(ctx, inspectPatience)
	defer cancel()
	r := inspect.NewReader(t.client, inspect.ReaderOptions{Clock: a.now})
	q.Layouts, q.Only, q.Parts, q.Told = t.layouts, t.only, parts, t.told
	sight, err := inspect.Look(ctx, r, q)
	if err != nil {
		return inspectError(err)
	}
	return use(ctx, &t, r, &sight)
}

// open makes sense of the flags, the cheap ones first, and connects.
func (f *inspectFlags) open(ctx context.Context, a *app) (t inspectTarget, err error) {
	if t.layouts, err = readLayouts(f.files); err != nil {
		return t, err
	}
	if f.layout != "" {
		if t.only, err = inspect.Named(t.layouts, f.layout); err != nil {
			return t, layoutError(err)
		}
	}
	spec, _, err := parseLimit(f.limit)
	if err != nil {
		return t, err
	}
	if f.limit != "" {
		t.told = &spec
	}
	switch {
	case !f.redis.given():
		return t, usagef("--redis redis://localhost:6379, or WEIR_REDIS_URL", "no Redis was named")
	case f.redis.embedded():
		return t, usagef("--redis redis://localhost:6379", "a Redis inside this process has nothing to look at")
	}
	t.client, err = f.redis.open(ctx, a)
	return t, err
}

// inspectError types an error of reading state.
func inspectError(err error) error {
	var denied *inspect.DeniedError
	if errors.As(err, &denied) {
		return reachError(fmt.Errorf("redis: %w", denied), "redis-cli ACL SETUSER NAME "+shellRule(denied.Rule)+"; docs/inspect.md, docs/scan.md and docs/doctor.md have the whole rules")
	}
	return redisError(err)
}

// shellRule is a rule of an ACL as a shell wants it: one of keys looks like a
// pattern of files to it.
func shellRule(rule string) string {
	if strings.HasPrefix(rule, "%") {
		return "'" + rule + "'"
	}
	return rule
}

// parseParts reads --part NAME=VALUE and --rule.
func parseParts(parts, rules []string) (map[string][]string, error) {
	out := map[string][]string{}
	for _, p := range parts {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" || value == "" {
			return nil, usagef("--part route=orders", "--part %q is not NAME=VALUE", report.Clean(p))
		}
		out[name] = append(out[name], value)
	}
	if len(rules) > 0 {
		out["rule"] = append(out["rule"], rules...)
	}
	return out, nil
}

// inspectPatience bounds how long a look may take.
const inspectPatience = 30 * time.Second
