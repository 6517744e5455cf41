package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test string
}

// place is a room on a server.
type place struct{ room, server string }

// tests are those of a room on a server, by their name, and whether each skipped itself there.
type tests map[string]bool

// matrix is what was tested where.
type matrix struct {
	servers []string          // in the order of their names
	version map[string]string // by server
	of      map[place]tests
	failed  []string
}

func run(in io.Reader, out io.Writer) error {
	m := matrix{version: make(map[string]string), of: make(map[place]tests)}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if err := m.line(lines.Text()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if len(m.version) == 0 {
		return errors.New(`there is no line "testing on SERVER, VERSION": give it what scripts/test -- -json prints, 2>&1`)
	}
	m.servers = slices.Sorted(maps.Keys(m.version))
	if _, err := io.WriteString(out, m.table()); err != nil {
		return err
	}
	if len(m.failed) > 0 {
		return fmt.Errorf("failed: %s", strings.Join(m.failed, ", "))
	}
	return nil
}

// line takes note of a line of output.
func (m *matrix) line(text string) error {
	if on, is := strings.CutPrefix(text, "testing on "); is {
		server, version, _ := strings.Cut(on, ", ")
		m.version[server] = version
		return nil
	}
	if !strings.HasPrefix(text, "{") {
		return nil
	}
	var e event
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return fmt.Errorf("%.100s: %w", text, err)
	}
	if e.Action == "fail" && e.Test != "" {
		m.failed = append(m.failed, e.Package+" "+e.Test)
	}
	if e.Action != "pass" && e.Action != "skip" {
		return nil
	}
	name, rest, _ := strings.Cut(e.Test, "/")
	server := ""
	for part := range strings.SplitSeq(rest, "/") {
		if _, is := m.version[part]; is {
			server = part
		}
	}
	if server == "" {
		return nil
	}
	at := place{strings.TrimPrefix(e.Package, "prescient/"), server}
	if m.of[at] == nil {
		m.of[at] = make(tests)
	}
	// A test skipped itself there where it has nothing there that ended well.
	skipped, seen := m.of[at][name]
	m.of[at][name] = e.Action == "skip" && (!seen || skipped)
	return nil
}

// table is the matrix in Markdown.
func (m *matrix) table() string {
	rooms := make(map[string]bool)
	for at := range m.of {
		rooms[at.room] = true
	}
	var b strings.Builder
	b.WriteString("| room |")
	for _, server := range m.servers {
		fmt.Fprintf(&b, " %s, %s |", server, m.version[server])
	}
	b.WriteString("\n|" + strings.Repeat("---|", 1+len(m.servers)) + "\n")
	for _, room := range slices.Sorted(maps.Keys(rooms)) {
		fmt.Fprintf(&b, "| `%s` |", room)
		for _, server := range m.servers {
			b.WriteString(" " + m.of[place{room, server}].String() + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (t tests) String() string {
	skipped := 0
	for _, did := range t {
		if did {
			skipped++
		}
	}
	switch {
	case len(t) == 0:
		return "–"
	case skipped > 0:
		return fmt.Sprintf("%d, and %d skipped", len(t)-skipped, skipped)
	}
	return fmt.Sprint(len(t))
}
