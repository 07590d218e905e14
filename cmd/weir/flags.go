package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// sameSetting marks a flag that sets what another one sets: a higher layer
// that set either of them outranks a lower layer's word on both.
const sameSetting = "weir_same_setting"

// console is how a verb that shows progress behaves on the terminal.
type console struct {
	quiet   bool
	noColor bool
}

// newConsole registers --quiet and --no-color.
func newConsole(fs *pflag.FlagSet) *console {
	c := &console{}
	fs.BoolVarP(&c.quiet, "quiet", "q", false, "no progress on stderr, only the result and errors")
	fs.BoolVar(&c.noColor, "no-color", false, "plain text without colour (NO_COLOR does the same)")
	return c
}

// color reports whether the result on stdout may be coloured.
// See no-color.org for the variable: any non-empty value counts.
func (c *console) color(a *app) bool {
	return a.stdoutTTY && !c.noColor && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb"
}

// progress reports whether progress bars may be drawn on stderr.
func (c *console) progress(a *app) bool {
	return a.stderrTTY && !c.quiet && a.env("TERM") != "dumb"
}

// seed is --seed. Every random choice of a run comes from it.
type seed struct {
	value int64
	flag  *pflag.Flag
}

func newSeed(fs *pflag.FlagSet) *seed {
	s := &seed{}
	fs.Int64Var(&s.value, "seed", 0, "make every random choice repeatable (default: chosen and printed)")
	s.flag = fs.Lookup("seed")
	return s
}

// resolve returns the seed, choosing one from the clock when none was given.
// A chosen seed is short enough to type.
func (s *seed) resolve(a *app) int64 {
	if !s.flag.Changed {
		return a.now().UnixNano() / 1000 % 1_000_000
	}
	return s.value
}

// newChecks registers --check, whose expressions the report package reads.
func newChecks(fs *pflag.FlagSet) *[]string {
	return fs.StringArray("check", nil, "fail with exit 1 unless this `EXPR` holds, such as 'refused_share<5%' (repeatable)")
}

// choice is a flag value out of a fixed list; the first is the default.
type choice struct {
	allowed []string
	into    *string
}

func newChoice(into *string, allowed ...string) *choice {
	*into = allowed[0]
	return &choice{allowed: allowed, into: into}
}

func (c *choice) String() string {
	if c.into == nil {
		return ""
	}
	return *c.into
}

func (c *choice) Type() string { return strings.Join(c.allowed, "|") }

func (c *choice) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("not one of %s", strings.Join(c.allowed, ", "))
	}
	*c.into = s
	return nil
}

// shorthand is a boolean flag that stands for one value of a choice, as
// --json does for --format json.
type shorthand struct {
	into  *string
	value string
	reset string
}

func (s *shorthand) String() string {
	if s.into == nil {
		return "false"
	}
	return fmt.Sprint(*s.into == s.value)
}

func (s *shorthand) Type() string     { return "bool" }
func (s *shorthand) IsBoolFlag() bool { return true }

func (s *shorthand) Set(v string) error {
	switch v {
	case "true":
		*s.into = s.value
	case "false":
		if *s.into == s.value {
			*s.into = s.reset
		}
	default:
		return fmt.Errorf("must be true or false")
	}
	return nil
}
