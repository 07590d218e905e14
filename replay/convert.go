package replay

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strconv"

	"github.com/weir-cli/weir/report"
)

// Convert writes src as csv or ndjson with the named fields, which must be
// those of its Options.Fields. The error is that of reading or of the context;
// w's own errors are the writer's to remember. Whenever the trace may let it
// wait, what is written so far has gone through w, flushed where w can be.
func Convert(ctx context.Context, w io.Writer, src *Source, format string, fields []string) error {
	out := bufio.NewWriterSize(w, 64<<10)
	defer out.Flush()
	src.BeforeRead(func() {
		_ = out.Flush()
		if f, ok := w.(interface{ Flush() error }); ok {
			_ = f.Flush()
		}
	})
	var line []byte
	var c Call
	for n := 0; ; n++ {
		err := src.Next(&c)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if n == 0 && format == "csv" {
			line = append(line[:0], "t,key,cost,verdict"...)
			for _, f := range fields {
				line = append(line, ',')
				line = appendCell(line, []byte(f))
			}
			line = append(line, '\n')
			_, _ = out.Write(line)
		}
		if format == "csv" {
			line = appendCSV(line[:0], &c)
		} else {
			line = appendNDJSON(line[:0], &c, fields)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return nil
		}
		if (n+1)%lookEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func appendSeconds(dst []byte, ns int64) []byte {
	dst = strconv.AppendInt(dst, ns/1e9, 10)
	if frac := ns % 1e9; frac > 0 {
		dst = append(dst, '.')
		for unit := int64(1e8); frac > 0; unit /= 10 {
			dst = append(dst, byte('0'+frac/unit))
			frac %= unit
		}
	}
	return dst
}

func recordedText(v report.Verdict) string {
	if v == report.InFlight {
		return ""
	}
	return v.String()
}

func appendCSV(dst []byte, c *Call) []byte {
	dst = append(appendSeconds(dst, c.At), ',')
	dst = append(appendCell(dst, c.Key), ',')
	dst = append(strconv.AppendInt(dst, c.Cost, 10), ',')
	dst = append(dst, recordedText(c.Recorded)...)
	for _, v := range c.Values {
		dst = appendCell(append(dst, ','), v)
	}
	return dst
}

// appendCell writes a cell, in quotes where it needs them. Line ends become
// spaces, since a trace has one call a line.
func appendCell(dst, cell []byte) []byte {
	quote := len(cell) > 0 && (cell[0] == ' ' || cell[0] == '#' || cell[len(cell)-1] == ' ')
	for _, b := range cell {
		quote = quote || b == ',' || b == '"'
	}
	if quote {
		dst = append(dst, '"')
	}
	for _, b := range cell {
		switch b {
		case '\n', '\r':
			b = ' '
		case '"':
			dst = append(dst, '"')
		}
		dst = append(dst, b)
	}
	if quote {
		dst = append(dst, '"')
	}
	return dst
}

func appendNDJSON(dst []byte, c *Call, fields []string) []byte {
	dst = appendSeconds(append(dst, `{"t":`...), c.At)
	dst = appendText(append(dst, `,"key":`...), string(c.Key))
	dst = strconv.AppendInt(append(dst, `,"cost":`...), c.Cost, 10)
	if c.Recorded != report.InFlight {
		dst = appendText(append(dst, `,"verdict":`...), recordedText(c.Recorded))
	}
	for i, v := range c.Values {
		dst = append(appendText(append(dst, ','), fields[i]), ':')
		dst = appendText(dst, string(v))
	}
	return append(dst, '}')
}

func appendText(dst []byte, s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return append(dst, `""`...) // a string always marshals
	}
	return append(dst, b...)
}
