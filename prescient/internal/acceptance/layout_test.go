package acceptance

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	text "prescient/sql"
)

// layer is a folder, or several, and what its code may import of this module. Names are as path.Match has them.
type layer struct {
	folder  string
	imports []string
}

// vocabulary is what the rooms of the library are built on.
var vocabulary = []string{"slots", "sql", "prescient", "prescient/internal/bell", "prescient/internal/caught", "prescient/internal/duty", "prescient/internal/errno", "prescient/internal/filled", "prescient/internal/lease",
	"prescient/internal/literal", "prescient/internal/recent", "prescient/internal/reserved", "prescient/internal/store", "prescient/internal/tally"}

// rooms are those of the library that a program works with.
var rooms = []string{"prescient", "prescient/advice", "prescient/advice/estimate", "prescient/agent", "prescient/attest", "prescient/audit", "prescient/blocking", "prescient/bulk", "prescient/client", "prescient/connect", "prescient/doctor", "prescient/event", "prescient/event/broker", "prescient/event/forward", "prescient/forecast", "prescient/heartbeat", "prescient/longrun", "prescient/longrun/wakeup", "prescient/notify", "prescient/ops", "prescient/ops/definition", "prescient/ops/door", "prescient/ops/kind", "prescient/ops/ruled", "prescient/ops/stream", "prescient/ops/working", "prescient/output", "prescient/prune", "prescient/reslot", "prescient/rule", "prescient/rulebook", "prescient/schedule", "prescient/schedule/timeline", "prescient/shards", "prescient/stats", "prescient/stats/drift", "prescient/status", "prescient/steps", "prescient/worker", "prescient/worker/books"}

// command is what a command may be made of.
var command = append([]string{"slots", "sql", "sql/migrate", "config", "config/value", "cmd/internal/*"}, rooms...)

// Imports point down only.
var layers = []layer{
	{"slots", nil},
	{"sql", nil},
	{"sql/migrate", []string{"sql"}},
	{"sql/rights", nil},
	{"config", []string{"slots", "prescient", "config/value", "jobs/command/variable", "jobs/condition/expression"}}, // one rule for what a command may be given, and of what SQL may be
	{"config/value", []string{"slots", "prescient/connect/hostlist"}},
	{"prescient/connect/hostlist", nil},
	{"prescient", []string{"slots"}},
	{"prescient/internal/bell", nil},
	{"prescient/internal/caught", []string{"prescient"}},
	{"prescient/internal/errno", nil},
	{"prescient/internal/lease", []string{"prescient"}},
	{"prescient/internal/literal", []string{"prescient"}},
	{"prescient/internal/store", []string{"slots", "sql", "prescient", "prescient/internal/errno", "prescient/internal/literal", "prescient/internal/reserved"}},
	{"prescient/internal/filled", nil},
	{"prescient/internal/recent", nil},
	{"prescient/internal/sized", nil},
	{"prescient/internal/reserved", []string{"prescient"}},
	{"prescient/internal/tally", []string{"prescient", "prescient/internal/literal", "prescient/internal/store"}},
	{"prescient/internal/duty", []string{"prescient", "prescient/internal/errno", "prescient/internal/lease", "prescient/internal/store"}},
	{"prescient/connect", append([]string{"prescient/connect/hostlist"}, vocabulary...)},
	{"prescient/rule", vocabulary}, {"prescient/rulebook", append([]string{"prescient/audit", "prescient/client", "prescient/rule"}, vocabulary...)}, {"prescient/shards", vocabulary}, {"prescient/advice", append([]string{"prescient/advice/estimate"}, vocabulary...)}, {"prescient/advice/estimate", []string{"slots", "prescient"}},
	{"prescient/agent", append([]string{"prescient/audit"}, vocabulary...)},
	{"prescient/audit", vocabulary},
	{"prescient/attest", append([]string{"prescient/audit"}, vocabulary...)},
	{"prescient/client/internal/handle", vocabulary},
	{"prescient/client/internal/listing", vocabulary},
	{"prescient/client/internal/rowtext", vocabulary},
	{"prescient/client", append([]string{"prescient/audit", "prescient/client/internal/*", "prescient/rule"}, vocabulary...)},
	{"prescient/blocking", vocabulary},
	{"prescient/schedule/timeline", []string{"slots", "prescient"}},
	{"prescient/doctor/internal/account", append([]string{"sql/migrate", "sql/rights"}, vocabulary...)},
	{"prescient/doctor", append([]string{"sql/migrate", "prescient/doctor/internal/*", "prescient/agent", "prescient/audit", "prescient/blocking", "prescient/forecast", "prescient/internal/rollup", "prescient/shards", "prescient/stats", "prescient/stats/drift", "prescient/schedule/timeline"}, vocabulary...)},
	{"prescient/prune", append([]string{"sql/migrate", "prescient/audit", "prescient/internal/rollup", "prescient/rule"}, vocabulary...)},
	{"prescient/stats", append([]string{"prescient/audit", "prescient/internal/rollup", "prescient/stats/drift"}, vocabulary...)},
	{"prescient/status", append([]string{"prescient/agent", "prescient/doctor", "prescient/event", "prescient/forecast", "prescient/stats"}, vocabulary...)},
	{"prescient/gauges", append([]string{"prescient/agent", "prescient/event", "prescient/forecast", "prescient/stats", "prescient/status"}, vocabulary...)},
	{"prescient/metrics", append([]string{"prescient/agent", "prescient/event", "prescient/event/forward", "prescient/forecast", "prescient/gauges", "prescient/worker", "prescient/worker/books"}, vocabulary...)},
	{"prescient/monitoring", append([]string{"prescient/doctor", "prescient/stats"}, vocabulary...)},
	{"prescient/notify", append([]string{"prescient/doctor", "prescient/event/broker"}, vocabulary...)}, {"prescient/notify/mail", []string{"prescient", "prescient/notify"}},
	{"prescient/otel", []string{"prescient", "prescient/event", "prescient/event/broker", "prescient/worker", "prescient/worker/books"}},
	{"prescient/service", append([]string{"prescient/agent", "prescient/client", "prescient/connect", "prescient/event", "prescient/event/broker", "prescient/event/forward", "prescient/forecast", "prescient/heartbeat", "prescient/longrun", "prescient/longrun/wakeup", "prescient/schedule", "prescient/stats", "prescient/steps", "prescient/worker", "prescient/worker/books"}, vocabulary...)},
	{"prescient/internal/rollup", vocabulary},
	{"prescient/stats/drift", []string{"prescient/internal/tally"}},
	{"prescient/forecast", append([]string{"prescient/agent", "prescient/schedule/timeline"}, vocabulary...)},
	{"prescient/reslot", append([]string{"sql/migrate", "prescient/audit"}, vocabulary...)},
	{"prescient/worker/books", []string{"prescient"}},
	{"prescient/worker/internal/check", append([]string{"prescient/worker/books"}, vocabulary...)},
	{"prescient/worker/internal/ledger", append([]string{"prescient/worker/books"}, vocabulary...)},
	{"prescient/worker/internal/purge", vocabulary},
	{"prescient/worker/internal/execute", append([]string{"prescient/worker/internal/check"}, vocabulary...)},
	{"prescient/worker/internal/look", vocabulary},
	{"prescient/worker/internal/known", vocabulary},
	{"prescient/worker/internal/watched", append([]string{"prescient/worker/books"}, vocabulary...)},
	{"prescient/worker/internal/pace", nil},
	{"prescient/worker/internal/commit", append([]string{"prescient/worker/books", "prescient/worker/internal/*"}, vocabulary...)},
	{"prescient/worker/internal/transact", append([]string{"prescient/worker/books", "prescient/worker/internal/*"}, vocabulary...)},
	{"prescient/worker/internal/bucket", append([]string{"prescient/rule", "prescient/worker/books", "prescient/worker/internal/*"}, vocabulary...)},
	{"prescient/worker/internal/roll", append([]string{"prescient/worker/books", "prescient/worker/internal/*"}, vocabulary...)},
	{"prescient/worker", append([]string{"prescient/audit", "prescient/blocking", "prescient/worker/books", "prescient/worker/internal/*"}, vocabulary...)},
	{"prescient/longrun/machine", nil},
	{"prescient/longrun/wakeup", nil},
	{"prescient/longrun/internal/check", vocabulary},
	{"prescient/longrun/internal/claimer", append([]string{"prescient/longrun/internal/ahead", "prescient/longrun/machine", "prescient/longrun/wakeup"}, vocabulary...)},
	{"prescient/longrun/internal/ahead", vocabulary},
	{"prescient/longrun", append([]string{"prescient/longrun/wakeup", "prescient/longrun/internal/*"}, vocabulary...)},
	{"prescient/heartbeat", []string{"prescient"}},
	{"prescient/output", nil}, {"prescient/slogged", nil},
	{"prescient/event/broker", nil},
	{"prescient/event/broker/*", []string{"prescient", "prescient/event/broker", "prescient/longrun/wakeup"}},
	{"prescient/event", append([]string{"prescient/audit", "prescient/client"}, vocabulary...)},
	{"prescient/event/forward", append([]string{"prescient/event/broker"}, vocabulary...)},
	{"prescient/schedule/internal/catchup", []string{"slots"}},
	{"prescient/schedule/internal/kept", vocabulary},
	{"prescient/schedule/internal/occurrences", []string{"slots", "prescient/schedule/timeline"}},
	{"prescient/schedule", append([]string{"prescient/audit", "prescient/client", "prescient/event", "prescient/longrun", "prescient/schedule/internal/*", "prescient/schedule/timeline"}, vocabulary...)},
	{"prescient/steps", append([]string{"prescient/audit", "prescient/client", "prescient/longrun", "prescient/output", "prescient/schedule"}, vocabulary...)},
	{"prescient/internal/bound", nil}, {"prescient/internal/token", nil},
	{"prescient/internal/password", []string{"prescient"}},
	{"prescient/bulk", append([]string{"prescient/audit", "prescient/client"}, vocabulary...)},
	{"prescient/ops", append([]string{"prescient/advice", "prescient/agent", "prescient/attest", "prescient/audit", "prescient/blocking", "prescient/bulk", "prescient/client", "prescient/doctor", "prescient/event", "prescient/forecast", "prescient/gauges", "prescient/internal/password", "prescient/internal/sized", "prescient/internal/token", "prescient/longrun", "prescient/notify", "prescient/ops/definition", "prescient/ops/internal/*", "prescient/ops/ruled", "prescient/ops/working", "prescient/rulebook", "prescient/schedule", "prescient/stats", "prescient/stats/drift", "prescient/status", "prescient/steps"}, vocabulary...)},
	{"prescient/ops/definition", []string{"prescient", "prescient/longrun", "prescient/schedule", "prescient/schedule/timeline", "prescient/steps", "slots"}},
	{"prescient/ops/door", append([]string{"prescient/internal/bound", "prescient/internal/token", "prescient/ops"}, vocabulary...)},
	{"prescient/ops/stream", []string{"prescient/ops"}}, {"prescient/ops/internal/idempotency", vocabulary}, {"prescient/ops/ruled", []string{"prescient", "prescient/ops/definition", "prescient/rule", "prescient/rulebook"}},
	{"prescient/ops/working", []string{"prescient/agent", "prescient/event", "prescient/ops/definition"}},
	{"prescient/ops/kind", []string{"prescient", "prescient/bulk", "prescient/client", "prescient/connect", "prescient/forecast", "prescient/ops", "prescient/rulebook", "prescient/schedule", "prescient/stats", "prescient/steps"}},
	{"prescient/api", append([]string{"prescient/internal/bound", "prescient/internal/filled"}, rooms...)},
	{"prescient/api/apiclient", nil},
	{"prescient/page/internal/look", []string{"prescient", "prescient/internal/bound"}}, // what a page shows is for others
	{"prescient/page/login", append([]string{"prescient/audit", "prescient/internal/bound", "prescient/internal/password", "prescient/ops", "prescient/ops/door", "prescient/page", "prescient/page/internal/look"}, vocabulary...)},
	{"prescient/page/internal/chart", nil},
	{"prescient/page/internal/mend", []string{"prescient", "prescient/doctor", "prescient/ops"}},
	{"prescient/page/internal/front", []string{"prescient", "prescient/internal/bound", "prescient/ops", "prescient/ops/kind", "prescient/ops/stream", "prescient/page/internal/look"}},
	{"prescient/page/internal/browser", nil}, // tests only
	{"prescient/page/internal/*", append([]string{"prescient/page/internal/chart", "prescient/page/internal/front", "prescient/page/internal/look", "prescient/page/internal/mend"}, rooms...)},
	{"prescient/page", append([]string{"prescient/page/internal/*"}, rooms...)},
	{"prescient/localserver", []string{"prescient/localserver/internal/*"}},
	{"prescient/localserver/internal/*", nil},
	{"prescient/localserver/servertest", []string{"prescient/internal/errno", "prescient/localserver", "prescient/localserver/vitess", "sql", "sql/migrate"}},
	{"prescient/localserver/vitess", []string{"prescient/localserver", "prescient/localserver/internal/*"}},
	{"prescient/prescienttest", append([]string{"slots", "sql", "sql/migrate", "prescient/localserver"}, rooms...)},
	{"prescient/internal/rig", append([]string{"sql/migrate", "prescient/localserver/servertest"}, vocabulary...)},
	{"prescient/internal/rig/app", append([]string{"prescient/client", "prescient/connect", "prescient/internal/rig", "prescient/localserver/servertest"}, vocabulary...)},
	{"prescient/internal/rig/openid", nil},
	{"prescient/internal/rig/served", []string{"prescient", "prescient/internal/rig", "prescient/internal/rig/app", "prescient/localserver/servertest", "prescient/ops"}},
	{"prescient/internal/rig/pages", []string{"prescient/localserver", "sql", "sql/migrate", "prescient/internal/rig", "prescient/localserver/servertest"}},
	{"prescient/internal/rig/whole", append([]string{"prescient/worker", "prescient/worker/books", "prescient/internal/rig", "prescient/internal/rig/app", "prescient/localserver/servertest"}, vocabulary...)},
	{"prescient/internal/rig/night", []string{"prescient", "prescient/internal/rig", "prescient/internal/rig/whole", "prescient/schedule", "prescient/worker"}},
	{"prescient/internal/acceptance", nil}, // tests only
	{"jobs/command/internal/group", nil}, {"jobs/command/variable", nil}, {"jobs/condition/expression", nil},
	{"jobs/spool", []string{"jobs/command", "prescient", "prescient/output", "slots"}},
	{"jobs/http/probe", []string{"slots", "prescient", "jobs/http"}},
	{"jobs/*", append([]string{"jobs/answer", "jobs/command/internal/group", "jobs/command/variable", "jobs/condition/expression"}, rooms...)},
	{"cmd/internal/exit", append([]string{"sql", "sql/migrate", "config", "prescient/localserver"}, rooms...)},
	{"cmd/internal/arguments", []string{"config/value", "cmd/internal/exit", "cmd/internal/times"}},
	{"cmd/internal/input", []string{"prescient"}},
	{"cmd/internal/times", []string{"config/value"}},
	{"cmd/internal/words", []string{"cmd/internal/arguments", "prescient"}},
	{"cmd/internal/file", []string{"config/value", "cmd/internal/input", "cmd/internal/output", "cmd/internal/words", "prescient", "prescient/longrun", "prescient/rule", "prescient/schedule", "prescient/steps"}}, {"cmd/internal/taking", []string{"cmd/internal/definition", "cmd/internal/exit", "cmd/internal/file", "cmd/internal/input", "cmd/internal/output", "cmd/internal/program", "cmd/internal/words"}},
	{"cmd/internal/definition", []string{"cmd/internal/exit", "cmd/internal/output", "cmd/internal/program", "cmd/internal/times", "prescient", "prescient/schedule"}},
	{"cmd/internal/output", []string{"config", "cmd/internal/words", "prescient"}},
	{"cmd/internal/program", append([]string{"sql", "sql/migrate", "config", "config/value", "jobs/*", "cmd/internal/*", "prescient/service"}, rooms...)},
	{"cmd/advise", command}, {"cmd/checks", command}, {"cmd/spool", append([]string{"jobs/spool"}, command...)},
	{"cmd/serve", append([]string{"prescient/gauges", "prescient/metrics", "prescient/service"}, command...)},
	{"cmd/operate", append([]string{"sql/rights", "jobs/*"}, command...)},
	{"cmd/units", append([]string{"prescient/monitoring"}, command...)},
	{"cmd/web", command},
	{"cmd/event", command},
	{"cmd/schedule", command}, {"cmd/rule", command},
	{"cmd/job", command},
	{"cmd/internal/private", append([]string{"prescient/localserver"}, command...)},
	{"cmd/demo", append([]string{"prescient/localserver", "prescient/localserver/vitess", "prescient/service", "jobs/*"}, command...)},
	{"cmd/dev", append([]string{"prescient/localserver", "prescient/service", "jobs/*"}, command...)},
	{"cmd", append([]string{"cmd/*", "jobs/http", "jobs/http/probe"}, command...)},
	{"cmd/prescient", []string{"cmd", "prescient/api", "prescient/page/login", "prescient/event/broker", "prescient/event/broker/*", "prescient/longrun/wakeup", "prescient/notify/mail"}},
	{"cmd/internal/rig", append([]string{"cmd", "sql", "sql/migrate", "prescient/localserver/servertest", "prescient/localserver/vitess"}, rooms...)}, // for tests
	{"scripts/bench", append([]string{"slots", "sql", "prescient/localserver", "jobs/*", "scripts/bench/internal/*"}, rooms...)},                      // a module of its own
	{"scripts/bench/internal/page", []string{"prescient/worker"}}, {"scripts/bench/internal/peers", append([]string{"scripts/bench/internal/page", "scripts/bench/internal/rig"}, rooms...)},
	{"scripts/bench/internal/rig", append([]string{"sql/migrate", "prescient/localserver", "scripts/bench/internal/page"}, rooms...)},
	{"scripts/bench/internal/slotrun", append([]string{"jobs/orders", "scripts/bench/internal/rig"}, rooms...)},
	{"scripts/bench/internal/guest", []string{"prescient", "prescient/connect", "scripts/bench/internal/page", "scripts/bench/internal/peers", "scripts/bench/internal/rig", "scripts/bench/internal/slotrun"}},
	{"scripts/bench/internal/events", append([]string{"sql", "prescient/event/broker/*", "scripts/bench/internal/page", "scripts/bench/internal/rig"}, rooms...)},
	{"scripts/bench/internal/agents", append([]string{"scripts/bench/internal/page", "scripts/bench/internal/rig"}, rooms...)},
	{"scripts/bench/internal/large", append([]string{"sql", "prescient/api", "prescient/localserver", "prescient/page", "scripts/bench/internal/page", "scripts/bench/internal/rig", "scripts/bench/internal/slotrun"}, rooms...)},
	{"scripts/bench/internal/keyspace", append([]string{"sql/migrate", "prescient/localserver/vitess", "cmd", "scripts/bench/internal/page", "scripts/bench/internal/rig"}, rooms...)},
	{"scripts/bench/internal/schedules", append([]string{"slots", "sql", "scripts/bench/internal/page", "scripts/bench/internal/rig"}, rooms...)},
	{"scripts/chaos", []string{"prescient/localserver", "scripts/chaos/*"}},
	{"scripts/chaos/outbox", []string{"cmd", "sql", "sql/migrate", "prescient", "prescient/client", "prescient/connect", "prescient/event", "prescient/event/broker", "prescient/event/broker/*",
		"prescient/localserver", "prescient/schedule"}},
	{"scripts/chaos/checker", []string{"prescient/schedule/timeline", "scripts/chaos/checker/apart", "scripts/chaos/checker/evidence", "scripts/chaos/checker/jobs"}},
	{"scripts/chaos/checker/jobs", []string{"scripts/chaos/checker/evidence"}},
	{"scripts/chaos/checker/evidence", nil},
	{"scripts/chaos/checker/apart", nil},
	{"scripts/chaos/wire", nil},
	{"scripts/chaos/stage", []string{"sql", "sql/migrate", "prescient", "prescient/client", "prescient/connect", "prescient/localserver", "prescient/localserver/vitess", "prescient/longrun", "prescient/prune", "prescient/schedule", "prescient/shards",
		"prescient/stats", "prescient/steps", "scripts/chaos/checker", "scripts/chaos/checker/evidence", "scripts/chaos/wire", "scripts/chaos/worker"}},
	{"scripts/chaos/campaign", []string{"sql", "prescient", "prescient/client", "prescient/connect", "prescient/forecast", "prescient/localserver", "prescient/localserver/vitess", "prescient/schedule", "scripts/chaos/checker", "scripts/chaos/checker/evidence", "scripts/chaos/stage", "scripts/chaos/wire", "scripts/chaos/worker"}},
	{"scripts/chaos/worker", []string{"cmd", "jobs/changequeue", "prescient", "prescient/connect", "prescient/longrun", "prescient/schedule", "prescient/steps", "scripts/chaos/checker", "scripts/chaos/wire"}},
	{"scripts/servers", []string{"prescient/localserver", "prescient/localserver/*", "prescient/shards"}}, {"scripts/*", []string{"prescient/localserver"}},
}

// maxLines is how long a file may be: what one can explain on a whiteboard.
const maxLines = 400

// source is a Go file of the module.
type source struct {
	name string // from the root of the module
	test bool
	text []byte
	file *ast.File
	set  *token.FileSet // that of all files
}

func sources(t *testing.T) []source {
	t.Helper()
	all, err := readSources()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d files were found", len(all))
	}
	return all
}

var readSources = sync.OnceValues(func() (all []source, err error) {
	root := os.DirFS("../../..")
	set := token.NewFileSet()
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata"):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(set, name, data, parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, source{name: name, test: strings.HasSuffix(name, "_test.go"), text: data, file: file, set: set})
		return err
	})
	return all, err
})

func TestImportsPointDownOnly(t *testing.T) {
	const module = "prescient/"
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		folder := path.Dir(s.name)
		at := slices.IndexFunc(layers, func(l layer) bool { return matches(l.folder, folder) })
		if at < 0 {
			t.Errorf("%s: it is not said what the folder may import", folder)
			continue
		}
		for _, spec := range s.file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			ours, found := strings.CutPrefix(name, module)
			if found && !slices.ContainsFunc(layers[at].imports, func(allowed string) bool { return matches(allowed, ours) }) {
				t.Errorf("%s imports %s; %s may import of this module only %q", s.name, name, folder, layers[at].imports)
			}
		}
	}
}

// Who only inserts, or runs checks, does not compile what reads crontabs.
func TestOneRoomReadsCrontabs(t *testing.T) {
	const reader, room = `"github.com/netresearch/go-cron"`, "prescient/schedule/timeline"
	importers := 0
	for _, s := range sources(t) {
		reads := slices.ContainsFunc(s.file.Imports, func(spec *ast.ImportSpec) bool { return spec.Path.Value == reader })
		if strings.HasPrefix(s.name, "scripts/bench/") {
			continue // a module of its own, which measures what else there is
		}
		if reads && path.Dir(s.name) != room {
			t.Errorf("%s imports %s, which is for %s", s.name, reader, room)
		}
		if reads {
			importers++
		}
	}
	if importers == 0 {
		t.Errorf("nobody imports %s", reader)
	}
	for _, name := range append(slices.Clone(rooms), vocabulary...) {
		if name == "prescient/schedule" || name == "prescient/doctor" || name == "prescient/forecast" || name == "prescient/ops/definition" {
			continue // which plan, say which plans differ, say what is to come, and show it before it is made
		}
		at := slices.IndexFunc(layers, func(l layer) bool { return l.folder == name })
		if slices.ContainsFunc(layers[at].imports, func(allowed string) bool { return matches(allowed, room) }) {
			t.Errorf("%s may import %s", name, room)
		}
	}
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

func TestEveryFolderHasOnePackageComment(t *testing.T) {
	comments := make(map[string][]string)
	for _, s := range sources(t) {
		folder := path.Dir(s.name)
		if _, seen := comments[folder]; !seen {
			comments[folder] = nil
		}
		if s.file.Doc == nil {
			continue
		}
		comments[folder] = append(comments[folder], path.Base(s.name))
		start := "Package " + s.file.Name.Name + " "
		if s.file.Name.Name == "main" {
			start = "Command " + path.Base(folder) + " "
		}
		if !strings.HasPrefix(s.file.Doc.Text(), start) {
			t.Errorf("the package comment in %s does not begin with %q", s.name, start)
		}
	}
	for folder, files := range comments {
		if len(files) != 1 {
			t.Errorf("%s has %d package comments, in %q; want one", folder, len(files), files)
		}
	}
}

// generated is the file that nobody writes: a test of its room holds that it is what its generator makes.
const generated = "prescient/api/apiclient/client.gen.go"

func TestNoFileIsTooLongToExplain(t *testing.T) {
	for _, s := range sources(t) {
		if ast.IsGenerated(s.file) != (s.name == generated) {
			t.Errorf("%s: of the files that a generator makes only %s is known", s.name, generated)
		}
		if lines := bytes.Count(s.text, []byte("\n")); lines > maxLines && s.name != generated {
			t.Errorf("%s has %d lines; %d are allowed", s.name, lines, maxLines)
		}
	}
}

func TestNoFileHasGlobalInitialization(t *testing.T) {
	for _, s := range sources(t) {
		for _, declared := range s.file.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has an init function", s.name)
			}
		}
	}
}

// Statements are looked up by name while they are needed: here it is held that each name has a file, and each file a use.
func TestEveryStatementIsThereAndUsed(t *testing.T) {
	statements, err := text.Load("")
	if err != nil {
		t.Fatal(err)
	}
	folders := make(map[string]bool)
	for statement := range statements {
		folders[path.Dir(statement)] = true
	}
	name := regexp.MustCompile(`^[a-z]+/\w+$`)
	used := make(map[string]bool)
	for _, s := range sources(t) {
		if s.test || !strings.HasPrefix(s.name, "prescient/") && path.Dir(s.name) != "sql/migrate" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			if value, err := strconv.Unquote(literal.Value); err == nil && name.MatchString(value) && folders[path.Dir(value)] {
				used[value] = true
				if _, there := statements[value]; !there {
					t.Errorf("%s names the statement %s, which is not there", s.name, value)
				}
			}
			return true
		})
	}
	for _, statement := range slices.Sorted(maps.Keys(statements)) {
		if !used[statement] {
			t.Errorf("nobody uses the statement %s", statement)
		}
	}
	defer func() {
		if said := fmt.Sprint(recover()); said != "sql: no statement slotrun/none" {
			t.Errorf("a name without a file: %s", said)
		}
	}()
	statements.Get("slotrun/none")
}
