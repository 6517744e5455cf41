package cmd_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"prescient/cmd"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/localserver"
)

func TestMain(m *testing.M) {
	if os.Getenv(ownProgram) != "" {
		runOwnProgram()
	}
	code := m.Run()
	for _, s := range servers {
		s.close()
	}
	_ = os.RemoveAll(binary.dir)
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines are left: %v\n", err)
		code = 1
	}
	os.Exit(code)
}

// servers are those to test on, by the names that localserver.Named reads: given in PRESCIENT_TEST_DSNS
// ("mariadb=DSN mariadb-11.8=DSN mysql=DSN", or some of these), or started when a test first wants one.
var servers = given()

type server struct {
	once sync.Once
	own  *localserver.Server
	dsn  string
	err  error
}

func given() map[string]*server {
	pairs := strings.Fields(os.Getenv("PRESCIENT_TEST_DSNS"))
	if len(pairs) == 0 {
		return map[string]*server{"mariadb": {}, "mariadb-11.8": {}, "mysql": {}}
	}
	list := make(map[string]*server)
	for _, pair := range pairs {
		name, dsn, _ := strings.Cut(pair, "=")
		list[name] = &server{dsn: dsn}
	}
	return list
}

func (s *server) start(name string) {
	if s.dsn != "" {
		return
	}
	options, err := localserver.Named(name)
	if err != nil {
		s.err = err
		return
	}
	options.Args = []string{"--max-connections=500"}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	s.own, s.err = localserver.Start(ctx, options)
	if s.err == nil {
		s.dsn = s.own.DSN("")
	}
}

func (s *server) close() {
	if s.own != nil {
		_ = s.own.Close()
	}
}

// rig is an empty database on a real server, and the command line that works on it: each command by an account that has
// the role which it is for, and nothing else.
type rig struct {
	*testing.T
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
	for name, s := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.once.Do(func() { s.start(name) })
			if s.err != nil {
				t.Fatalf("no %s server to test on; scripts/test gets what is missing: %v", name, s.err)
			}
			test(newRig(t, s.dsn))
		})
	}
}

func newRig(t *testing.T, dsn string) *rig {
	t.Helper()
	random := make([]byte, 6)
	_, _ = rand.Read(random)
	name := "px_cmd_" + hex.EncodeToString(random)
	admin := open(t, dsn)
	if _, err := admin.Exec("CREATE DATABASE " + name + " CHARACTER SET utf8mb4"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if _, err := admin.ExecContext(ctx, "DROP DATABASE "+name); err != nil {
			t.Errorf("dropping the test's database (did a transaction stay open?): %v", err)
		}
	})
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.DBName = name
	r := &rig{T: t, dsn: config.FormatDSN()}
	r.env = map[string]string{"PRESCIENT_DSN": r.dsn}
	r.accounts = make(map[string]string)
	config.ParseTime = true
	r.db = open(t, config.FormatDSN())
	return r
}

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
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
	r.env["PRESCIENT_DSN"] = withParameter(r.dsn, fmt.Sprintf("timestamp=%d.%06d", now.Unix(), now.Nanosecond()/1000))
}

func withParameter(dsn, parameter string) string {
	if strings.Contains(dsn[strings.LastIndex(dsn, "/"):], "?") {
		return dsn + "&" + parameter
	}
	return dsn + "?" + parameter
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
