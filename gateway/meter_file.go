package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"os"

	"github.com/weir-cli/weir/limit/metering"
)

// MeterFile appends records to a file, one JSON line each. Several processes
// may append to one file: each flush is one write.
type MeterFile struct {
	f    *os.File
	text bytes.Buffer
	torn bool // a write stopped in the middle of a line
}

// OpenMeterFile opens or makes the file at path.
func OpenMeterFile(path string) (*MeterFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	// A process that crashed may have left half a line.
	return &MeterFile{f: f, torn: true}, nil
}

// Write appends records and waits until the disk has them.
func (m *MeterFile) Write(_ context.Context, records []metering.Record) error {
	m.text.Reset()
	if m.torn {
		if st, err := m.f.Stat(); err != nil || st.Size() > 0 {
			m.text.WriteByte('\n')
		}
	}
	enc := json.NewEncoder(&m.text)
	enc.SetEscapeHTML(false)
	for i := range records {
		if err := enc.Encode(&records[i]); err != nil {
			return err
		}
	}
	if _, err := m.f.Write(m.text.Bytes()); err != nil {
		m.torn = true
		return err
	}
	m.torn = false
	return m.f.Sync()
}

// Close closes the file.
func (m *MeterFile) Close() error { return m.f.Close() }
