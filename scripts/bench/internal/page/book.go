package page

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// Record is one line of results.jsonl: a measurement, or the end of a section.
type Record struct {
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

// Rate is rows a second.
func (r Record) Rate() float64 { return float64(r.Rows) / r.Seconds }

// Book keeps the results, each as soon as it is there, so that a run that was
// stopped goes on where it was. The results of a section count from its last
// beginning.
type Book struct {
	file    *os.File
	Records []Record
	now     Record // what the records of the section under way have in common
}

// OpenBook reads the results that a folder has.
func OpenBook(dir string) (*Book, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, "results.jsonl"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	b := &Book{file: file}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			continue // the end of a line is missing where a run was killed
		}
		b.Records = append(b.Records, r)
	}
	return b, lines.Err()
}

// Close ends the book.
func (b *Book) Close() error { return b.file.Close() }

// Done says whether a section is complete.
func (b *Book) Done(key string) bool {
	for _, r := range b.Records {
		if r.Done == key {
			return true
		}
	}
	return false
}

// Begin starts a section.
func (b *Book) Begin(section, key, command string, on Engine, server string) error {
	b.now = Record{Section: section, Engine: string(on), Server: server}
	m := thisMachine()
	return b.Add(Record{Begin: key, Command: command, Machine: &m})
}

// Finish ends a section.
func (b *Book) Finish(key string) error {
	m := thisMachine()
	return b.Add(Record{Done: key, Machine: &m})
}

// Add writes a record of the section under way.
func (b *Book) Add(r Record) error {
	r.At = time.Now().UTC().Truncate(time.Second)
	r.Section, r.Engine, r.Server = b.now.Section, b.now.Engine, b.now.Server
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	b.Records = append(b.Records, r)
	_, err = b.file.Write(append(line, '\n'))
	return err
}
