package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// record is one line of results.jsonl: a measurement, or the end of a section.
type record struct {
	At      time.Time `json:"at"`
	Section string    `json:"section"`
	Server  string    `json:"server"` // mariadb 10.11.19…
	Engine  string    `json:"engine"`
	Case    string    `json:"case,omitempty"`
	Round   int       `json:"round,omitempty"`
	Rows    int       `json:"rows,omitempty"`
	Seconds float64   `json:"seconds,omitempty"`
	// CPU seconds of the client's and the server's processes; independent of what else the machine does.
	ClientCPU float64            `json:"client_cpu,omitempty"`
	ServerCPU float64            `json:"server_cpu,omitempty"`
	Figures   map[string]float64 `json:"figures,omitempty"` // what else was measured
	Note      string             `json:"note,omitempty"`
	Machine   *machine           `json:"machine,omitempty"`
	Command   string             `json:"command,omitempty"` // with begin: what measures this section again
	Begin     string             `json:"begin,omitempty"`   // the key of a section that begins here
	Done      string             `json:"done,omitempty"`    // the key of a section that is complete
}

// rate is rows a second.
func (r record) rate() float64 { return float64(r.Rows) / r.Seconds }

// book keeps the results, each as soon as it is there, so that a run that was
// stopped goes on where it was. The results of a section count from its last
// beginning.
type book struct {
	file    *os.File
	records []record
	now     record // what the records of the section under way have in common
}

func openBook(dir string) (*book, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, "results.jsonl"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	b := &book{file: file}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			continue // the end of a line is missing where a run was killed
		}
		b.records = append(b.records, r)
	}
	return b, lines.Err()
}

func (b *book) close() error { return b.file.Close() }

func (b *book) done(key string) bool {
	for _, r := range b.records {
		if r.Done == key {
			return true
		}
	}
	return false
}

// begin starts a section.
func (b *book) begin(section, key, command string, s *server) error {
	b.now = record{Section: section, Engine: string(s.engine), Server: fmt.Sprintf("%s %s", s.flavour, s.version)}
	m := thisMachine()
	return b.add(record{Begin: key, Command: command, Machine: &m})
}

func (b *book) finish(key string) error {
	m := thisMachine()
	return b.add(record{Done: key, Machine: &m})
}

// add writes a record of the section under way.
func (b *book) add(r record) error {
	r.At = time.Now().UTC().Truncate(time.Second)
	r.Section, r.Engine, r.Server = b.now.Section, b.now.Engine, b.now.Server
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	b.records = append(b.records, r)
	_, err = b.file.Write(append(line, '\n'))
	return err
}
