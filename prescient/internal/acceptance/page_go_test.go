package acceptance

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"prescient/prescient/internal/rig/pages"
	"prescient/prescient/localserver/servertest"
)

// goOnPages says of each block of Go on a page what it stands in: what is before and behind it is left to the reader there. Those that a
// name is given are functions of one program, which is run.
var goOnPages = []struct{ page, with, before, after string }{
	{"README.md", "checks.Insert(ctx, tx", "func insert(ctx context.Context, db *sqlx.DB, placed time.Time) (*client.Client, error) {\n", "return checks, err }"},
	{"prescient/event/broker/README.md", "func consume(", "var db *sqlx.DB; var outbox *event.Outbox; func remind(context.Context, *sql.Tx, []byte) error { return nil }\n", "var _ = consume"},
	{"prescient/README.md", "schedules.Create(", "func create(ctx context.Context, tx *sqlx.Tx, checks *client.Client) (*schedule.Schedules, error) { var err error\n", "return schedules, err }"},
	{"prescient/README.md", "s.Long.Register(", "func long(s *service.Service) error { var err error\n", "return err }"},
	{"prescient/README.md", "steps.New(", "func ofSteps(ctx context.Context, tx *sqlx.Tx, checks *client.Client) error { var err error\n", "return err }"},
	{"prescient/README.md", "audit.With(", "func remove(ctx context.Context, tx *sqlx.Tx, schedules *schedule.Schedules) error { var err error\n", "return err }"},
	{"prescient/README.md", "kit.RunFor(", "func test(t *testing.T, registry *prescient.Registry, order prescient.Entity) {\n", "}"},
	{"jobs/README.md", "changequeue.New(", "func queue(deps cmd.Deps, registry *prescient.Registry) error {\n", "return err }"},
	{"jobs/delayq/README.md", "delayq.New(", "func delay(ctx context.Context, dsn string, send func([]byte) error) error {\n", "return err }"},
	{"jobs/delayq/README.md", "delayq.ItemOf(", "func exactly(registry *prescient.Registry, q *delayq.DelayQueue) {\n", "}"},
	{"jobs/delayq/README.md", "mails.Register(", "func several(ctx context.Context, db *sqlx.DB, mails, news *delayq.DelayQueue, sendMail, sendNews func([]byte) error) error { var err error\n", "return err }"},
}

// imported are the packages of what stands on pages, by the names that they have there.
var imported = map[string]string{
	"context": "context", "sql": "database/sql", "testing": "testing", "time": "time", "sqlx": "github.com/jmoiron/sqlx", "jetstream": "github.com/nats-io/nats.go/jetstream",
	"cmd": "prescient/cmd", "changequeue": "prescient/jobs/changequeue", "delayq": "prescient/jobs/delayq", "prescient": "prescient/prescient",
	"audit": "prescient/prescient/audit", "client": "prescient/prescient/client", "connect": "prescient/prescient/connect", "event": "prescient/prescient/event",
	"longrun": "prescient/prescient/longrun", "prescienttest": "prescient/prescient/prescienttest", "schedule": "prescient/prescient/schedule", "service": "prescient/prescient/service",
	"steps": "prescient/prescient/steps", "worker": "prescient/prescient/worker",
	"fmt": "fmt", "os": "os",
}

// story is the program that runs those that need no more than a database.
const story = `func main() {
	ctx := context.Background()
	must := func(err error) { if err != nil { fmt.Println(err); os.Exit(1) } }
	db, err := connect.Open(os.Args[1], 0)
	must(err)
	checks, err := insert(ctx, db, time.Now())
	must(err)
	registry := prescient.NewRegistry()
	for _, name := range []string{"export-orders", "send-report"} {
		must(registry.Register(name, func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{}))
	}
	tx := db.MustBegin()
	schedules, err := create(ctx, tx, checks)
	must(err)
	s, err := service.New(ctx, db, service.Options{Worker: worker.Options{Registry: registry}})
	must(err)
	must(long(s))
	must(ofSteps(ctx, tx, checks))
	must(tx.Commit())
	tx = db.MustBegin()
	must(remove(ctx, tx, schedules))
	must(tx.Commit())
}`

// pagesAsCode writes the packages that the blocks make, and an overlay that has them in the module: none of them is in its folders. Three of
// them are programs: those on pages, and the story.
func pagesAsCode(t *testing.T) (overlay string, packages []string, quickStart, embedded, storyOf string) {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	add := func(name, code string) (path string) {
		t.Helper()
		file := filepath.Join(dir, name+".go")
		if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		files[filepath.Join(root, "prescient/internal/acceptance/onpages", name, "code.go")] = file
		return "prescient/prescient/internal/acceptance/onpages/" + name
	}
	told, all := 0, story
	for _, page := range []string{"README.md", "prescient/README.md", "prescient/event/broker/README.md", "jobs/README.md", "jobs/delayq/README.md"} {
		for n, block := range pages.Blocks(t, page, "go") {
			name := strings.NewReplacer("/", "_", ".md", "").Replace(page) + fmt.Sprint(n)
			if strings.HasPrefix(block, "package main") {
				if of := add(name, block); page == "README.md" {
					quickStart = of
				} else {
					embedded = of
				}
				continue
			}
			found := false
			for _, of := range goOnPages {
				if of.page == page && strings.Contains(block, of.with) && !found {
					found = true
					told++
					code := of.before + block + "\n" + of.after + "\n"
					if strings.Contains(story, strings.TrimPrefix(of.before[:strings.Index(of.before, "(")+1], "func ")) {
						all += "\n" + code
					}
					packages = append(packages, add(name, fileOf("onpage", code)))
				}
			}
			if !found {
				t.Errorf("%s: say in goOnPages what this block stands in:\n%s", page, block)
			}
		}
	}
	if told != len(goOnPages) {
		t.Errorf("%d of %d blocks are on the pages", told, len(goOnPages))
	}
	storyOf = add("story", fileOf("main", all))
	text, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		t.Fatal(err)
	}
	overlay = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return overlay, packages, quickStart, embedded, storyOf
}

// fileOf is the file of a package, which imports what the code names.
func fileOf(name, code string) string {
	var b strings.Builder
	b.WriteString("package " + name + "\n\n")
	for name, path := range imported {
		if strings.Contains(" "+strings.NewReplacer("(", " ", "*", " ", "]", " ", "&", " ", "\n", " ", "\t", " ").Replace(code), " "+name+".") {
			fmt.Fprintf(&b, "import %s %q\n", name, path)
		}
	}
	return b.String() + code
}

// All Go on the pages compiles. What needs only a database runs on each server, and so does the quick start, with the program that it has.
func TestTheGoAndTheCommandsOnThePagesRun(t *testing.T) {
	t.Parallel()
	overlay, packages, quickStart, embedded, storyOf := pagesAsCode(t)
	build := func(arguments ...string) {
		t.Helper()
		if out, err := exec.Command("go", append([]string{"build", "-trimpath", "-overlay", overlay}, arguments...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	build(packages...)
	dir := t.TempDir()
	program, own, serves := filepath.Join(dir, "story"), filepath.Join(dir, "own"), filepath.Join(dir, "serves")
	build("-o", program, storyOf)
	build("-o", own, quickStart)
	build("-o", serves, embedded)
	// In place of go there is the program. A worker without end is one for a slot here.
	const instead = `#!/bin/sh
[ "$1 $2" = "run ./cmd/prescient" ] || [ "$1 $2" = "run ." ] || exit 9
shift 2
[ "$1" = work ] && set -- run
PRESCIENT_DSN=$THE_DSN exec "$THE_PROGRAM" "$@"
`
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(instead), 0o700); err != nil {
		t.Fatal(err)
	}
	files := pages.Blocks(t, "cmd/README.md", "yaml")
	if len(files) != 2 {
		t.Fatalf("cmd/README.md has %d files: say here what imports the new ones", len(files))
	}
	commands := pages.Block(t, "README.md", "sh", "prescient migrate") + pages.Block(t, "README.md", "sh", "schedule create") + pages.Block(t, "cmd/demo/README.md", "sh", "rule report")
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		owner := pages.Tables(t, d, "")
		asks := func(all map[string]int) {
			t.Helper()
			for query, want := range all {
				var got int
				if err := owner.Get(&got, query); err != nil || got != want {
					t.Errorf("%s: %d, %v; want %d", query, got, err, want)
				}
			}
		}
		if out, err := exec.Command(program, d.DSN).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		asks(map[string]int{
			"SELECT COUNT(*) FROM future_job WHERE entity_name = 'order' AND entity_key = '42' AND job_exec = 'order-unshipped'": 1,
			"SELECT COUNT(*) FROM schedule WHERE id = 'digest/7'":                                                                0,
			"SELECT COUNT(*) FROM job_definition WHERE name = 'nightly'":                                                         1,
			"SELECT COUNT(*) FROM audit_log WHERE id = 'digest/7'":                                                               2,
			"SELECT COUNT(*) FROM audit_log WHERE id = 'digest/7' AND reason = 'the customer asked'":                             1,
		})
		worksUntilItIsTold(t, serves, d.DSN)
		owner.MustExec("DELETE FROM future_job")
		for _, table := range []string{"job_step", "job_version", "job_definition", "schedule"} {
			owner.MustExec("DELETE FROM " + table)
		}
		sh := exec.Command("sh", "-e", "-x", "-c", commands)
		sh.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "THE_DSN="+d.DSN, "THE_PROGRAM="+own)
		if out, err := sh.CombinedOutput(); err != nil {
			t.Fatalf("%v:\n%s", err, out)
		}
		for n, kind := range []string{"schedule", "job"} {
			cmd := exec.Command(own, kind, "import", "-", "--update")
			cmd.Env, cmd.Stdin = append(os.Environ(), "PRESCIENT_DSN="+d.DSN), strings.NewReader(files[n])
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s import: %v:\n%s", kind, err, out)
			}
		}
		asks(map[string]int{
			"SELECT COUNT(*) FROM future_job WHERE entity_name = 'order' AND entity_key = '42' AND job_exec = 'order-unshipped'": 1,
			"SELECT COUNT(*) FROM schedule WHERE id IN ('digest/7', 'sync/7')":                                                   2,
			"SELECT COUNT(*) FROM job_definition WHERE name = 'nightly'":                                                         1,
			"SELECT COUNT(*) FROM schedule WHERE id = 'digest/42' AND NOT enabled":                                               1,
			"SELECT COUNT(*) FROM step_definition WHERE name = 'export'":                                                         1,
			"SELECT COUNT(*) > 0 FROM slot_run":                                                                                  1,
			"SELECT COUNT(*) FROM rule_version WHERE rule = 'remind'":                                                            2,
			"SELECT COUNT(*) FROM job_history WHERE job_exec = 'send-reminder' AND outcome = 'cancelled'":                        1,
		})
	})
}

// worksUntilItIsTold runs the program of a user's own: it works, is scraped, and ends in order.
func worksUntilItIsTold(t *testing.T, program, dsn string) {
	t.Helper()
	free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close() // the program takes it
	var said strings.Builder
	cmd := exec.Command(program)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "DSN="+dsn, "LISTEN="+address), &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	for until := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		text := scraped(t, "http://"+address+"/metrics")
		if strings.Contains(text, "\nprescient_database_up 1\n") && strings.Contains(text, "\nprescient_due_total{job_exec=\"ping\"} 0\n") {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("it does not work: %s", text)
		}
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil || said.Len() > 0 {
		t.Errorf("%v: %s", err, &said)
	}
}

// scraped is what an address answers; empty where nobody listens yet.
func scraped(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body) // what is cut off is asked for again
	return string(text)
}

// What a program needs to work, and to be scraped, is short.
func TestAWorkerOfOnesOwnIsAFewLines(t *testing.T) {
	n := 0
	for line := range strings.Lines(pages.Block(t, "prescient/README.md", "go", "service.Open(")) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	if n > 25 {
		t.Errorf("it has %d lines without the empty ones; want 25 at most", n)
	}
}
