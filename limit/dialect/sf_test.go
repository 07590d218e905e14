package dialect

import (
	"strings"
	"testing"

	"github.com/dunglas/httpsfv"
)

var sfSeeds = []string{
	``, ` `, `a`, `1`, `-1`, `1.5`, `1.`, `1.2345`, `-`, `123456789012345`, `1234567890123456`, `1234567890123.1`,
	`"p";r=0;t=5`, `"p"; r=0;  t=5`, `"p" ;r=0`, `"p";r = 0`, `"p";r`, `"p";R=0`, `"p";r=0,`, `"p";r=0,,"q"`, `"a\"b\\";r=1`, `"a\b"`, "\"a\x7f\"", `"é"`,
	`limit=10, remaining=0, reset=5`, `limit=10,`, `limit`, `limit=10;w=60`, `limit=(1 2);a`, `limit=(1 2`, `limit=(1  2 )`, `limit=10, limit=11`, `limit=10.5, reset=?1`,
	`100;w=10, 1000;w=3600`, "100;w=10\t,\t5", `?1`, `?2`, `?`, `@1`, `@1.5`, `@`, `*a`, `*a/b:c`, `:YQ==:`, `:YQ:`, `:YQ=:`, `:Y:`, `::`, `:Y=Q=:`, `:cHsdsRa894==:`, `:a`,
	`%"a%c3%a9"`, `%"%c3"`, `%"%C3%A9"`, `%"%"`, `%"%00"`, `%"a"`, `%a`, `("a";x 1);r=2`, `()`, `( )`, `(1"a")`, `burst;r=2`, `;w=21600`,
}

// FuzzStructured holds our reader against an independent one: whatever we
// accept it accepts, and what it rejects shows as a note in the answer.
func FuzzStructured(f *testing.F) {
	for _, s := range sfSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := trim([]byte(s)) // white space around a value is not part of it
		list, listErr := httpsfv.UnmarshalList([]string{string(v)})
		dict, dictErr := httpsfv.UnmarshalDictionary([]string{string(v)})
		looseL, okL := validList(v)
		looseD, okD := validDictionary(v)
		// loose is the one liberty: padding left away, which RFC 9651 asks to
		// bear and the other does not.
		if okL && !looseL && listErr != nil {
			t.Errorf("%q: we take it as a list, the other says %v", v, listErr)
		}
		if okD && !looseD && dictErr != nil {
			t.Errorf("%q: we take it as a dictionary, the other says %v", v, dictErr)
		}
		if !okL && listErr == nil || !okD && dictErr == nil {
			t.Errorf("%q: the other takes it, we do not: list %v, dictionary %v", v, okL, okD)
		}
		var a Answer
		Read(&a, Response{Status: 429, Fields: []Field{{Name: []byte("RateLimit"), Value: []byte(s)}}})
		if listErr != nil && dictErr != nil && !looseL && !looseD && a.Notes&Malformed == 0 {
			t.Errorf("%q: not noted", v)
		}
		if msg := broken(&a); msg != "" {
			t.Errorf("%q: %s", v, msg)
		}
		switch {
		case a.Family == FamilyB && a.HasLimit && dictErr == nil:
			if m, _ := dict.Get("limit"); m.(httpsfv.Item).Value != a.Limit {
				t.Errorf("%q: limit %d, the other has %v", v, a.Limit, m)
			}
		case a.Family == FamilyC && a.NPolicies == 1 && a.Notes == 0 && listErr == nil && len(list) == 1:
			item := list[0].(httpsfv.Item)
			p := a.Policies[0]
			if n, _ := item.Params.Get("r"); p.HasRemaining && n != p.Remaining {
				t.Errorf("%q: remaining %d, the other has %v", v, p.Remaining, n)
			}
			if name, ok := item.Value.(string); ok && !strings.HasPrefix(name, string(p.Name[:p.NameLen])) {
				t.Errorf("%q: name %q, the other has %q", v, p.Title(), name)
			}
		}
	})
}

// TestStructuredIsWhole: one bad byte anywhere and nothing of the field counts.
func TestStructuredIsWhole(t *testing.T) {
	for _, s := range []string{`"p";r=0;t=5 ,"q";r=0;t=`, `"p";r=0;t=5,`, `"p" ;r=0;t=5`, `limit=1, remaining=0, reset=`, `"p";r=0;t=5;pk=:a:`} {
		a := answer(t, 429, "", "RateLimit: "+s)
		if a.NPolicies != 0 || a.HasRemaining || a.Wait.Has || a.Notes != Malformed {
			t.Errorf("%s: %+v", s, a)
		}
	}
	// Two lines are one field.
	a := answer(t, 429, "", `RateLimit: "p";r=0;t=5`, `RateLimit: "q";r=`)
	if a.NPolicies != 0 || a.Wait.Has || a.Notes != Malformed {
		t.Errorf("second line broken: %+v", a)
	}
	// Wrong types are a fault of the member, not of the field.
	a = answer(t, 429, "", `RateLimit: "p";r=1.5;t=5, 7;r=0, "q";r=0;t=?1, "s";r=0;t=9`)
	if a.NPolicies != 3 || a.Wait.Wait != 9*sec || a.Notes != Malformed {
		t.Errorf("wrong types: %+v", a)
	}
	// More policies than fit: the binding one is kept, the rest counted.
	var many []string
	for i := range 20 {
		many = append(many, `"p`+string(rune('a'+i))+`";r=`+itoa(int64(20-i))+`;t=1`)
	}
	a = answer(t, 200, "", "RateLimit: "+strings.Join(many, ", "))
	if a.NPolicies != 4 || a.MorePolicies != 16 || a.Policies[3].Title() != "pl" {
		t.Errorf("twenty policies: %d and %d more, last %q", a.NPolicies, a.MorePolicies, a.Policies[3].Title())
	}
}
