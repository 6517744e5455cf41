package cmd_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) {
	if os.Getenv(ownProgram) != "" {
		runOwnProgram()
	}
	servertest.Main(m, func() {
		_ = os.RemoveAll(binary.dir)
		http.DefaultClient.CloseIdleConnections()
	})
}

// rig is an empty database on a real server, and the command line that works on it: each command by an account that has
// the role which it is for, and nothing else.
type rig struct {
	*testing.T
	d   servertest.Database
	dsn string
	db  *sql.DB // parseTime, UTC
	env map[string]string
	// accounts are the DSNs of the roles, made when the tables are there.
	accounts map[string]string
	cmd.Options
}

// eachServer runs a test on every server at the same time, each with a database of its own.
func eachServer(t *testing.T, test func(r *rig)) {
	t.Parallel()
	for _, kind := range servertest.Kinds(t) {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			test(newRig(t, kind.New(t)))
		})
	}
}

func newRig(t *testing.T, d servertest.Database) *rig {
	t.Helper()
	r := &rig{T: t, d: d, dsn: d.DSN}
	r.env = map[string]string{"PRESCIENT_DSN": r.dsn}
	r.accounts = make(map[string]string)
	r.db = d.Open(t, "parseTime=true")
	return r
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// result is what came of a command line.
type result struct {
	args     []string
	code     int
	out, err string
}

// execute runs a command line in this process.
func (r *rig) execute(args ...string) result {
	r.Helper()
	return execute(r.Context(), r.Options, r.environment(args), "", args...)
}

func execute(ctx context.Context, options cmd.Options, env map[string]string, stdin string, args ...string) result {
	var out, err buffer
	options.Args = args
	options.Stdin, options.Stdout, options.Stderr = strings.NewReader(stdin), &out, &err
	options.Env = func(name string) (string, bool) { value, ok := env[name]; return value, ok }
	options.Environ = func() (list []string) {
		for name, value := range env {
			list = append(list, name+"="+value)
		}
		return list
	}
	options.ConfigPaths = []string{}
	code := cmd.Run(ctx, options)
	return result{args: args, code: code, out: out.String(), err: err.String()}
}

// ok runs a command line that has to succeed, and returns what it printed.
func (r *rig) ok(args ...string) string {
	r.Helper()
	got := r.execute(args...)
	if got.code != cmd.ExitOK {
		r.Fatalf("%v", got)
	}
	return got.out
}

// at sets the clock that the server shows to the commands that follow: it stands still at this time.
func (r *rig) at(clock string) {
	r.Helper()
	now := at(clock)
	r.env["PRESCIENT_DSN"] = servertest.WithParams(r.dsn, fmt.Sprintf("timestamp=%d.%06d", now.Unix(), now.Nanosecond()/1000))
}

// String is for messages of failure.
func (r result) String() string {
	return fmt.Sprintf("%q: exit code %d\nstdout: %s\nstderr: %s", r.args, r.code, r.out, r.err)
}

// wants fails unless the exit code is this and stderr holds all of these texts.
func (r result) wants(t *testing.T, code int, texts ...string) {
	t.Helper()
	missing := ""
	for _, text := range texts {
		if !strings.Contains(r.err, text) {
			missing = text
		}
	}
	if r.code != code || missing != "" {
		t.Errorf("%v\nwant exit code %d, and on stderr %q", r, code, texts)
	}
}

// lines reads JSON lines.
func lines[T any](t *testing.T, text string) (list []T) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	for decoder.More() {
		var v T
		if err := decoder.Decode(&v); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		list = append(list, v)
	}
	if n := strings.Count(text, "\n"); n != len(list) {
		t.Errorf("%d objects on %d lines: %s", len(list), n, text)
	}
	return list
}

// jobRow and endRow are what jobs --json and history --json print.
type jobRow struct {
	prescient.FutureJob
	Cursor string `json:"cursor"`
}
type endRow struct {
	client.Ended
	Cursor string `json:"cursor"`
}

func (r *rig) jobs(args ...string) []jobRow {
	r.Helper()
	return lines[jobRow](r.T, r.ok(append([]string{"jobs", "--json"}, args...)...))
}

func (r *rig) history(args ...string) []endRow {
	r.Helper()
	return lines[endRow](r.T, r.ok(append([]string{"history", "--json"}, args...)...))
}

// count asks the database for a number.
func (r *rig) count(query string, args ...any) (n int) {
	r.Helper()
	r.must(r.db.QueryRow(query, args...).Scan(&n))
	return n
}

// day is the day on which the tests take place; at returns a time of it, UTC, from "15:04" or "15:04:05.999999".
var day = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

func at(clock string) time.Time {
	layout := "15:04:05.999999"
	if len(clock) == len("15:04") {
		layout = "15:04"
	}
	t, err := time.Parse(layout, clock)
	if err != nil {
		panic(err)
	}
	return day.Add(t.Sub(t.Truncate(24 * time.Hour)))
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited 30 s, and still not: %s", what)
		}
	}
}
