// Package rig is what tests of commands work with: an empty database on a server of each flavour, the command line that works on it
// ([Rig.Execute]), each command by an account that has the role which it is for and nothing else, and the program as a
// process of its own ([Rig.Start]).
package rig

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/localserver/servertest"
	"prescient/sql/migrate"
)

// Main runs a package's tests, as servertest.Main does, and removes what they left: TestMain calls it.
func Main(m *testing.M) {
	servertest.Main(m, func() { _ = os.RemoveAll(programs.dir) }, http.DefaultClient.CloseIdleConnections)
}

// Rig is an empty database on a real server, and the command line that works on it: each command by an account that has
// the role which it is for, and nothing else.
type Rig struct {
	*testing.T
	d         servertest.Database
	DSN       string
	DB        *sql.DB // parseTime, UTC
	Variables map[string]string
	clock     time.Time // that the server shows, where it stands still
	// accounts are the DSNs of the roles, made when the tables are there.
	accounts map[string]string
	cmd.Options
}

// EachFlavour runs a test on one server of each flavour at the same time, each with a database of its own: the statements behind a command
// have their tests on each release where they are.
func EachFlavour(t *testing.T, test func(r *Rig)) {
	t.Parallel()
	for _, flavour := range servertest.Flavours(t) {
		t.Run(string(flavour), func(t *testing.T) {
			t.Parallel()
			test(on(t, servertest.New(t, flavour)))
		})
	}
}

func on(t *testing.T, d servertest.Database) *Rig {
	t.Helper()
	return &Rig{T: t, d: d, DSN: d.DSN, DB: d.Open(t, "parseTime=true"), Variables: map[string]string{"PRESCIENT_DSN": d.DSN},
		accounts: make(map[string]string)}
}

// Must ends the test where something failed that it builds on.
func (r *Rig) Must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// Result is what came of a command line.
type Result struct {
	args     []string
	Code     int
	Out, Err string
}

// Execute runs a command line in this process.
func (r *Rig) Execute(args ...string) Result {
	r.Helper()
	return r.With("", args...)
}

// With is Execute with a text on stdin.
func (r *Rig) With(stdin string, args ...string) Result {
	r.Helper()
	return Execute(r.Context(), r.Options, r.EnvironmentOf(args), stdin, args...)
}

// Execute runs a command line in this process, with these variables and this input.
func Execute(ctx context.Context, options cmd.Options, env map[string]string, stdin string, args ...string) Result {
	return execute(ctx, options, env, stdin, &Buffer{}, &Buffer{}, args...)
}

// ExecuteTo is Execute whose log can be read meanwhile.
func ExecuteTo(ctx context.Context, options cmd.Options, env map[string]string, log *Buffer, args ...string) Result {
	return execute(ctx, options, env, "", &Buffer{}, log, args...)
}

func execute(ctx context.Context, options cmd.Options, env map[string]string, stdin string, out, err *Buffer, args ...string) Result {
	options.Args = args
	options.Stdin, options.Stdout, options.Stderr = strings.NewReader(stdin), out, err
	options.Env = func(name string) (string, bool) { value, ok := env[name]; return value, ok }
	options.Environ = func() (list []string) {
		for name, value := range env {
			list = append(list, name+"="+value)
		}
		return list
	}
	options.ConfigPaths = []string{}
	code := cmd.Run(ctx, options)
	return Result{args: args, Code: code, Out: out.String(), Err: err.String()}
}

// Watch runs a command line that goes on until it is interrupted, which it is once its output has a text so often.
func (r *Rig) Watch(text string, often int, args ...string) Result {
	r.Helper()
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	env := r.EnvironmentOf(args)
	var out Buffer
	var got Result
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		got = execute(ctx, r.Options, env, "", &out, &Buffer{}, args...)
	}()
	Eventually(r.T, fmt.Sprintf("%q shows %q %d times", args, text, often), func() bool {
		select {
		case <-ended:
			return true
		default:
			return strings.Count(out.String(), text) >= often
		}
	})
	stop()
	<-ended
	return got
}

// OK runs a command line that has to succeed, and returns what it printed.
func (r *Rig) OK(args ...string) string {
	r.Helper()
	got := r.Execute(args...)
	if got.Code != cmd.ExitOK {
		r.Fatalf("%v", got)
	}
	return got.Out
}

// Says fails unless an output has all of these.
func (r *Rig) Says(out string, texts ...string) {
	r.Helper()
	for _, text := range texts {
		if !strings.Contains(out, text) {
			r.Errorf("no %q in\n%s", text, out)
		}
	}
}

// At sets the clock that the server shows to the commands that follow: it stands still at this time.
func (r *Rig) At(clock string) {
	r.Helper()
	r.clock = At(clock)
	r.Variables["PRESCIENT_DSN"] = servertest.WithParams(r.DSN, fmt.Sprintf("timestamp=%d.%06d", r.clock.Unix(), r.clock.Nanosecond()/1000))
}

// Begin sets the clock to 10:05, and makes the tables.
func (r *Rig) Begin() {
	r.Helper()
	r.At("10:05")
	r.Migrate()
}

// Migrate makes the tables by the command, or moves on to the database of a test that left it as it was after that, where there is one. A test
// that has set a variable or done something with its database keeps that.
func (r *Rig) Migrate() {
	r.Helper()
	up := func() { r.OK("migrate") }
	clock, own := strings.CutPrefix(r.Variables["PRESCIENT_DSN"], r.DSN)
	if !own || len(r.Variables) > 1 || len(r.accounts) > 0 {
		up()
		return
	}
	var since time.Time
	if clock != "" {
		since = r.clock
	}
	d := r.d.Migrated(r.T, servertest.Tables{Schema: migrate.Schema{Resolution: 15 * time.Minute}, By: "prescient migrate" + clock, Since: since,
		Up: func(servertest.Database) { up() }, As: func(servertest.Database) string { return r.Account("owner") }})
	if d.Name != r.d.Name {
		r.d, r.DSN, r.DB, r.accounts = d, d.DSN, d.Open(r.T, "parseTime=true"), make(map[string]string)
		r.Variables["PRESCIENT_DSN"] = d.DSN + clock
	}
}

// String is for messages of failure.
func (r Result) String() string {
	return fmt.Sprintf("%q: exit code %d\nstdout: %s\nstderr: %s", r.args, r.Code, r.Out, r.Err)
}

// Wants fails unless the exit code is this and stderr holds all of these texts.
func (r Result) Wants(t *testing.T, code int, texts ...string) {
	t.Helper()
	missing := ""
	for _, text := range texts {
		if !strings.Contains(r.Err, text) {
			missing = text
		}
	}
	if r.Code != code || missing != "" {
		t.Errorf("%v\nwant exit code %d, and on stderr %q", r, code, texts)
	}
}

// Lines reads JSON lines.
func Lines[T any](t *testing.T, text string) (list []T) {
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

// JobRow and endRow are what pending --json and history --json print.
type JobRow struct {
	prescient.FutureJob
	Cursor string `json:"cursor"`
}
type endRow struct {
	client.Ended
	Cursor string `json:"cursor"`
}

// Jobs and History are what these commands list.
func (r *Rig) Jobs(args ...string) []JobRow {
	r.Helper()
	return Lines[JobRow](r.T, r.OK(append([]string{"pending", "--json"}, args...)...))
}

func (r *Rig) History(args ...string) []endRow {
	r.Helper()
	return Lines[endRow](r.T, r.OK(append([]string{"history", "--json"}, args...)...))
}

// Count asks the database for a number.
func (r *Rig) Count(query string, args ...any) (n int) {
	r.Helper()
	r.Must(r.DB.QueryRow(query, args...).Scan(&n))
	return n
}

// Day is the day on which the tests take place; At returns a time of it, UTC, from "15:04" or "15:04:05.999999".
var Day = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

func At(clock string) time.Time {
	layout := "15:04:05.999999"
	if len(clock) == len("15:04") {
		layout = "15:04"
	}
	t, err := time.Parse(layout, clock)
	if err != nil {
		panic(err)
	}
	return Day.Add(t.Sub(t.Truncate(24 * time.Hour)))
}

// Buffer is a bytes.Buffer for several goroutines.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Eventually waits until a condition holds.
func Eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited a minute, and still not: %s", what)
		}
	}
}

// File writes a file of the test.
func File(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// none is a DSN on which nobody answers, so that what comes before the database is told from what comes after.
const NoServer = "user:topsecret@tcp(127.0.0.1:1)/none"
