package sim

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// writeYAML writes the parameters of a struct, one a line, as a scenario file
// reads them.
func writeYAML(b *strings.Builder, indent string, v reflect.Value, skip map[string]string) {
	for _, f := range fieldsOf(v.Type()) {
		if skip[f.name] != "" {
			continue
		}
		fmt.Fprintf(b, "%s%s:", indent, f.name)
		writeValue(b, indent, v.FieldByIndex(f.index))
	}
}

func writeValue(b *strings.Builder, indent string, v reflect.Value) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			b.WriteString(" {}\n")
			return
		}
		v = v.Elem()
	}
	switch {
	case plain(v.Type()):
		fmt.Fprintf(b, " %s\n", quoteYAML(showText(v)))
	case v.Kind() == reflect.Struct:
		b.WriteByte('\n')
		writeYAML(b, indent+"  ", v, nil)
	case v.Len() == 0 && v.Kind() == reflect.Map:
		b.WriteString(" {}\n")
	case v.Len() == 0:
		b.WriteString(" []\n")
	case v.Kind() == reflect.Map:
		b.WriteByte('\n')
		for _, k := range sortedKeys(v) {
			fmt.Fprintf(b, "%s  %s:", indent, quoteYAML(showText(k)))
			writeValue(b, indent+"  ", v.MapIndex(k))
		}
	default:
		b.WriteByte('\n')
		for i := range v.Len() {
			e := v.Index(i)
			if e.Kind() == reflect.Struct && !plain(e.Type()) {
				fmt.Fprintf(b, "%s  -\n", indent)
				writeYAML(b, indent+"    ", e, nil)
				continue
			}
			fmt.Fprintf(b, "%s  -", indent)
			writeValue(b, indent+"  ", e)
		}
	}
}

// quoteYAML quotes a text where YAML would not take it as it is.
func quoteYAML(s string) string {
	safe := s != "" && strings.TrimSpace(s) == s && !strings.ContainsAny(s[:1], "-?:,[]{}#&*!|>'\"%@`") &&
		!strings.Contains(s, ": ") && !strings.Contains(s, " #") && !strings.HasSuffix(s, ":") && !strings.ContainsAny(s, "\n\r\t\\")
	if safe || s == "-" {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil || strings.HasPrefix(s, "-") && len(s) > 1 && s[1] >= '0' && s[1] <= '9' {
		return s
	}
	return strconv.Quote(s)
}
