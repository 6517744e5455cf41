package acceptance

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker"
)

// Apps in other languages give four columns in plain SQL; the columns' defaults do the rest.

// rawSession is a connection of such an app. run sends statements one after the other, up to the first that fails; taken
// tries each of some statements behind the settings, and returns those that do not fail.
type rawSession struct {
	name  string
	run   func(statements ...string) error
	taken func(settings, statements []string) []string
}

// rawSessions are one of the driver, and one of the server's own client program where it is found.
func (r *testRig) rawSessions() []rawSession {
	r.T.Helper()
	list := []rawSession{{"driver", r.runDriver, r.takenByDriver}}
	if program := r.clientProgram(); program != "" {
		list = append(list, rawSession{filepath.Base(program), func(statements ...string) error {
			_, err := r.runClient(program, script(statements))
			return err
		}, func(settings, statements []string) []string { return r.takenByClient(program, settings, statements) }})
	}
	return list
}

// script has a statement a line.
func script(statements []string) string { return strings.Join(statements, ";\n") + ";\n" }

func (r *testRig) openRaw() *sql.DB {
	r.T.Helper()
	db := servertest.Open(r.T, r.Account("app-sql"), "")
	db.SetMaxOpenConns(1)
	return db
}

func (r *testRig) runDriver(statements ...string) error {
	db := r.openRaw()
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(r.T.Context(), statement); err != nil {
			return err
		}
	}
	return nil
}

func (r *testRig) takenByDriver(settings, statements []string) (taken []string) {
	db := r.openRaw()
	defer db.Close()
	for _, statement := range statements {
		for _, set := range settings {
			_, err := db.ExecContext(r.T.Context(), set)
			r.Must(err)
		}
		if _, err := db.ExecContext(r.T.Context(), statement); err == nil {
			taken = append(taken, statement)
		}
	}
	return taken
}

// refusedAt is how a client program says which line of its script failed.
var refusedAt = regexp.MustCompile(`(?m)^ERROR \d+ .*? at line (\d+): `)

// takenByClient starts the program once for all statements, since that takes its time.
func (r *testRig) takenByClient(program string, settings, statements []string) (taken []string) {
	r.T.Helper()
	var all []string
	lines := make(map[string]string) // the statement of a line
	for _, statement := range statements {
		all = append(append(all, settings...), statement)
		lines[fmt.Sprint(len(all))] = statement
	}
	said, _ := r.runClient(program, script(all), "--force") // what failed is in what it said
	for _, found := range refusedAt.FindAllStringSubmatch(said, -1) {
		if lines[found[1]] == "" {
			r.T.Fatalf("%s: a setting failed: %s", program, said)
		}
		delete(lines, found[1])
	}
	return slices.Sorted(maps.Values(lines))
}

// clientProgram looks for mysql or mariadb beside the server program, then on PATH.
func (r *testRig) clientProgram() string {
	r.T.Helper()
	name := string(r.D.Flavour)
	server, err := localserver.Find(r.T.Context(), localserver.Options{Flavour: r.D.Flavour})
	if err == nil {
		if beside, err := exec.LookPath(filepath.Join(filepath.Dir(server.Path), name)); err == nil {
			return beside
		}
	}
	onPath, pathErr := exec.LookPath(name)
	if pathErr != nil {
		r.T.Logf("no client program %s: only the driver inserts (%v)", name, errors.Join(err, pathErr))
	}
	return onPath
}

// runClient runs a script with a client program, and returns what that says.
func (r *testRig) runClient(program, script string, options ...string) (said string, err error) {
	config, err := mysql.ParseDSN(r.Account("app-sql"))
	r.Must(err)
	file := filepath.Join(r.T.TempDir(), "client.cnf")
	r.Must(os.WriteFile(file, fmt.Appendf(nil, "[client]\nuser=%q\npassword=%q\n", config.User, config.Passwd), 0o600))
	args := append([]string{"--defaults-file=" + file, "--default-character-set=utf8mb4", "--batch"}, options...)
	if config.Net == "unix" {
		args = append(args, "--protocol=socket", "--socket="+config.Addr)
	} else {
		host, port, err := net.SplitHostPort(config.Addr)
		r.Must(err)
		args = append(args, "--protocol=tcp", "--host="+host, "--port="+port)
	}
	ctx, cancel := context.WithTimeout(r.T.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, program, append(args, config.DBName)...)
	command.Stdin = strings.NewReader(script)
	output, err := command.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", program, err, output)
	}
	return string(output), err
}

// settings are SET statements that apps are seen with.
func (r *testRig) settings() [][]string {
	easternmost := "+14:00"
	if r.D.Flavour == localserver.MariaDB {
		easternmost = "+13:00" // it knows none beyond
	}
	return [][]string{
		nil,
		{"SET time_zone = '" + easternmost + "'", "SET sql_mode = ''"},
		{"SET time_zone = '-08:00'", "SET sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES'", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"},
		{"SET NAMES latin1"},
	}
}

const rawInsert = "INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES "

func TestAPlainInsertIsRoundedUpToItsSlot(t *testing.T) {
	cases := []struct{ due, slot string }{
		{"2026-11-20 13:05:00", "2026-11-20 13:15:00"},
		{"2026-11-20 13:15:00", "2026-11-20 13:15:00"},
		{"2026-11-20 13:15:00.000000", "2026-11-20 13:15:00"},
		{"2026-11-20 13:15:00.000001", "2026-11-20 13:30:00"},
		{"2026-11-20 13:14:59.999999", "2026-11-20 13:15:00"},
		{"2026-11-20 13:00:00.5", "2026-11-20 13:15:00"},
		{"2026-11-20", "2026-11-20 00:00:00"},
		{"2026-12-31 23:45:00.000001", "2027-01-01 00:00:00"},
		{"2028-02-28 23:59:59.999999", "2028-02-29 00:00:00"},
		{"1970-01-01 00:00:00", "1970-01-01 00:00:00"},
		{"2038-01-19 03:14:08", "2038-01-19 03:15:00"},
		{"2200-01-01 00:00:00.000001", "2200-01-01 00:15:00"},
		{"9999-12-31 23:45:00", "9999-12-31 23:45:00"},
	}
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		for _, session := range r.rawSessions() {
			for _, settings := range r.settings() {
				r.Clear()
				name := fmt.Sprintf("%s, %q", session.name, settings)
				statements := append(settings[:len(settings):len(settings)], fmt.Sprintf("SET timestamp = %d", rig.At("10:00").Unix()))
				for i, tt := range cases {
					statements = append(statements, fmt.Sprintf("%s('order', '%d', 'ship', '%s')", rawInsert, i, tt.due))
				}
				r.Must(session.run(statements...))
				revisions := make(map[uint64]bool)
				for i, tt := range cases {
					e := rig.Order(fmt.Sprint(i))
					job, err := r.Client.Get(t.Context(), r.App, e, "ship", "")
					if err != nil {
						t.Errorf("%s: %s: %v", name, tt.due, err) // another job_key
						continue
					}
					slot, err := store.ParseTime(tt.slot)
					r.Must(err)
					if !job.NextCheckAt.Equal(slot) || !job.FirstCheckAt.Equal(slot) {
						t.Errorf("%s: due %s: %s, first %s; want %s", name, tt.due, job.NextCheckAt, job.FirstCheckAt, tt.slot)
					}
					if slot != r.Tables().Grid.Ceil(job.DueAt) {
						t.Errorf("%s: due %s: the library would take %s", name, tt.due, r.Tables().Grid.Ceil(job.DueAt))
					}
					if !job.InsertedAt.Equal(rig.At("10:00")) || job.CheckCount+job.ErrorCount+job.PutOffCount != 0 || job.Payload != nil || job.LastError != "" {
						t.Errorf("%s: %+v", name, job)
					}
					revisions[job.Revision] = true
				}
				if len(revisions) != len(cases) || revisions[0] {
					t.Errorf("%s: revisions %v; want each its own", name, revisions)
				}
			}
		}
	})
}

func TestAPlainInsertHasTheKeyThatTheLibraryComputes(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		app := servertest.Open(t, r.Account("app-sql"), "interpolateParams=false")
		for _, text := range append(rig.Nasty(), strings.Repeat("🚢", prescient.MaxKeyLen)) {
			tag := ""
			if len([]rune(text)) <= prescient.MaxTagLen {
				tag = text
			}
			_, err := app.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, tag, due_at) VALUES ('order', ?, 'ship', ?, '2026-11-20 13:05:00')", text, tag)
			r.Must(err)
			if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE job_key = ?", rig.KeyBytes(prescient.KeyOf(rig.Order(text), "ship", tag))); n != 1 {
				t.Errorf("key %q: another job_key", text)
			}
		}
		for _, session := range r.rawSessions() {
			r.Clear()
			for _, settings := range r.settings() {
				if len(settings) == 1 {
					continue // latin1: below
				}
				r.Clear()
				r.Must(session.run(append(settings, rawInsert+"('order', 'O''Brien', 'ship', '2026-11-20 13:05:00'), ('order', '🚢 ', 'ship', '2026-11-20 13:05:00'),"+
					" ('order', '🚢', 'ship', '2026-11-20 13:05:00'), ('order', 'é', 'ship', '2026-11-20 13:05:00'), ('order', 'É', 'ship', '2026-11-20 13:05:00')")...))
				for _, key := range []string{"O'Brien", "🚢 ", "🚢", "é", "É"} {
					if _, err := r.Client.Get(t.Context(), r.App, rig.Order(key), "ship", ""); err != nil {
						t.Errorf("%s, %q: key %q: %v", session.name, settings, key, err)
					}
				}
			}
			// A connection in latin1 gives the same key for the same letter.
			r.Clear()
			r.Must(session.run("SET NAMES latin1", rawInsert+"('order', 'caf\xe9', 'ship', '2026-11-20 13:05:00')"))
			if _, err := r.Client.Get(t.Context(), r.App, rig.Order("café"), "ship", ""); err != nil {
				t.Errorf("%s in latin1: %v", session.name, err)
			}
		}
	})
}

func TestAPlainInsertRunsAtItsSlotAndCanBeKeptAndCancelled(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		for _, session := range r.rawSessions() {
			r.Clear()
			r.Exec("DELETE FROM p_slot_run")
			r.Must(session.run(
				rawInsert+"('order', 'runs', 'ship', '2026-11-20 13:05:00'), ('order', 'cancelled', 'ship', '2026-11-20 13:05:00')",
				"INSERT INTO p_future_job (entity_name, entity_key, job_exec, tag, due_at, payload) VALUES ('order', 'runs', 'ship', 'b', '2026-11-20 13:15:00.000001', '{\"a\": 1}')"))
			did, err := r.Client.Insert(t.Context(), r.AppAt(rig.At("11:00")), prescient.NewJob{Entity: rig.Order("runs"), JobExec: "ship", DueAt: rig.At("12:00")})
			if err != nil || did != (client.Inserted{Did: client.DidKeep, DueAt: rig.At("13:05"), Slot: rig.At("13:15")}) {
				t.Errorf("%s: keep: %+v, %v", session.name, did, err)
			}
			if n, err := r.Client.Cancel(t.Context(), r.AppAt(rig.At("11:00")), rig.Order("cancelled")); n != 1 || err != nil {
				t.Errorf("%s: cancelled %d, %v", session.name, n, err)
			}
			var ran []string
			execs := rig.Registry("ship", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
				ran = append(ran, job.EntityKey+job.Tag+" at "+job.NextCheckAt.Format("15:04"))
				return nil, nil
			}, prescient.Guards{})
			for _, now := range []string{"13:00:01", "13:15:01", "13:30:01"} {
				ran = append(ran, now)
				r.RunAt(rig.At(now), execs, worker.Options{})
			}
			if got, want := strings.Join(ran, ", "), "13:00:01, 13:15:01, runs at 13:15, 13:30:01, runsb at 13:30"; got != want {
				t.Errorf("%s: %q; want %q", session.name, got, want)
			}
		}
	})
}

func TestTheTableRefusesWhatWouldNeverRun(t *testing.T) {
	const columns = "INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, next_check_at) VALUES "
	const good = "('order', '1', 'ship', '2026-11-20 13:05:00')"
	statements := []string{
		columns + "('order', '2', 'ship', '2026-11-20 13:05:00', '2026-11-20 13:05:00')", // off the grid
		columns + "('order', '2', 'ship', '2026-11-20 13:05:00', '2026-11-20 13:15:01')", // a second off the grid
		"UPDATE p_future_job SET next_check_at = '2026-11-20 13:20:00'",                  // moved off the grid
		rawInsert + good, // the same job again
		rawInsert + "('order', '1', 'ship', '2026-11-21 13:05:00')",                                            // the same job, later
		"INSERT INTO p_future_job (entity_name, entity_key, job_exec) VALUES ('order', '2', 'ship')",           // no due_at
		rawInsert + "('order', '2', 'ship', NULL)",                                                             // NULL
		rawInsert + "('order', '2', 'ship', 'soon')",                                                           // no time
		rawInsert + "('order', '2', 'ship', '2026-11-20 13:05:00'), ('order', '3', 'ship', 'soon')",            // no time, among others
		rawInsert + "('order', '2', 'ship', '0000-00-00 00:00:00')",                                            // zero
		rawInsert + "('order', '2', 'ship', '2026-11-20 13:05:00'), ('order', '3', 'ship', '0000-00-00')",      // zero, among others
		columns + "('order', '2', 'ship', '2026-11-20 13:05:00', NULL)",                                        // no next_check_at
		columns + "('order', '2', 'ship', '2026-11-20 13:05:00', '0000-00-00')",                                // a next_check_at of zero
		rawInsert + "('', '2', 'ship', '2026-11-20 13:05:00')",                                                 // no entity_name
		rawInsert + "('order', '', 'ship', '2026-11-20 13:05:00')",                                             // no entity_key
		rawInsert + "('order', '2', 'ship', '2026-11-20 13:05:00'), ('order', '2', '', '2026-11-20 13:05:00')", // no job_exec, among others
		"UPDATE p_future_job SET job_exec = ''",                                                                // a name that is taken away
		"INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, payload) VALUES ('order', '2', 'ship', '2026-11-20 13:05:00', " + // a payload of more than 4 MB
			"JSON_QUOTE(REPEAT('x', 4194400)))",
		"INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, payload) VALUES ('order', '2', 'ship', '2026-11-20 13:05:00', '{')", // a payload that is no JSON
	}
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		for _, session := range r.rawSessions() {
			r.Clear()
			r.Must(session.run(rawInsert + good))
			before := r.One()
			all := append(r.settings(), []string{"SET sql_mode = 'ALLOW_INVALID_DATES'"})
			if session.name != "driver" {
				all = all[1:2] // to start a program takes its time
			}
			for _, settings := range all {
				for _, statement := range session.taken(settings, statements) {
					t.Errorf("%s, %q: %.200s was taken", session.name, settings, statement)
				}
			}
			if got := r.One(); got.Revision != before.Revision || !got.NextCheckAt.Equal(before.NextCheckAt) {
				t.Errorf("%s: pending is %+v; was %+v", session.name, got, before)
			}
		}
	})
}
