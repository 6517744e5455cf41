package units_test

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/localserver/vitess"
)

func TestAVSchemaIsAppliedToAKeyspace(t *testing.T) {
	cluster := rig.Vitess(t, vitess.Options{Shards: 2, VSchema: `{"sharded": true, "vindexes": {"hash": {"type": "xxhash"}, "prescient_key": {"type": "binary_md5"}},
		"tables": {"orders": {"column_vindexes": [{"column": "id", "name": "hash"}]}, "slot_run": {"column_vindexes": [{"column": "slot", "name": "hash"}]}}}`})
	program, control := cluster.Controller()
	execute := func(args ...string) rig.Result {
		t.Helper()
		return rig.Execute(t.Context(), cmd.Options{}, map[string]string{"PRESCIENT_DSN": cluster.DSN()}, "", args...)
	}
	apply := func(flags ...string) rig.Result {
		t.Helper()
		return execute(append(append(append([]string{"vschema", "--vtctldclient", program}, flags...), "--"), control...)...)
	}
	execute("migrate").Wants(t, cmd.ExitOK)
	changes := []string{"vindex prescient_id is binary_md5\n", "vindex prescient_key is binary, no longer binary_md5\n", "future_job lies by job_key (binary)\n",
		"slot_run lies on each shard for itself, no longer by slot (xxhash)\n"}
	has := func(result rig.Result, end string) {
		t.Helper()
		for _, want := range append(changes, end) {
			if result.Code != cmd.ExitOK || !strings.Contains(result.Out, want) || strings.Contains(result.Out, "orders") {
				t.Errorf("no %q in %v", want, result)
			}
		}
	}
	has(apply("--apply", vitess.Keyspace, "--dry-run"), "keyspace shop was not changed: --dry-run")
	execute("doctor", "--only", "schema").Wants(t, cmd.ExitBad)
	has(apply("--apply", vitess.Keyspace), "applied to keyspace shop: ")
	rig.Eventually(t, "the doctor finds it right", func() bool { return execute("doctor", "--only", "schema").Code == cmd.ExitOK })
	if again := apply("--apply", vitess.Keyspace, "--json"); again.Code != cmd.ExitOK || again.Out != `{"keyspace":"shop","changes":[],"applied":false}`+"\n" {
		t.Errorf("%v", again)
	}
	// What the app had is there still.
	app := servertest.Open(t, cluster.DSN(), "")
	var column, name, kind, params, owner string
	if err := app.QueryRowContext(t.Context(), "SHOW VSCHEMA VINDEXES ON shop.orders").Scan(&column, &name, &kind, &params, &owner); err != nil || column+name+kind != "idhashxxhash" {
		t.Errorf("orders lies by %s, %s, %s, %v", column, name, kind, err)
	}
	if err := app.QueryRowContext(t.Context(), "SELECT 1 FROM future_job WHERE job_key = X'00'").Scan(new(int)); err != sql.ErrNoRows {
		t.Error(err)
	}
	// The commands of the page run as they stand there, but for where vtctld is. A worker without end is one for a slot here.
	page, err := os.ReadFile("../../prescient/shards/README.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for line := range strings.Lines(string(page)) {
		line, is := strings.CutPrefix(line, "prescient ")
		if !is {
			continue
		}
		line, _, _ = strings.Cut(line, "#")
		args := strings.Fields(strings.Replace(strings.Replace(line, "--server vtctld:15999", strings.Join(control, " "), 1), "work", "run", 1))
		if ran++; args[0] == "vschema" {
			args = append([]string{"vschema", "--vtctldclient", program}, args[1:]...)
		}
		execute(args...).Wants(t, cmd.ExitOK)
	}
	if ran != 4 {
		t.Errorf("the page has %d commands", ran)
	}
	apply("--apply", "nope").Wants(t, cmd.ExitFailure, "vtctldclient GetVSchema: exit status 1: node doesn't exist: ")
}

// fake is a program in the place of vtctldclient, which prints a VSchema and notes what it is asked for.
func fake(t *testing.T, prints, further string) (program, asked string) {
	t.Helper()
	folder := t.TempDir()
	program, asked = filepath.Join(folder, "vtctldclient"), filepath.Join(folder, "asked")
	script := "#!/bin/sh\necho \"$*\" >> " + asked + "\ncat <<'END'\n" + prints + "\nEND\n" + further + "\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return program, asked
}

func TestWhatIsWrongBeforeAVSchemaIsAppliedIsSaidAndNothingApplied(t *testing.T) {
	for _, test := range []struct {
		name, prints, further string
		code                  int
		says                  string
	}{
		{"broken", `{"tables": `, "", cmd.ExitUsage, "keyspace shop: "},
		{"a text", "nothing", "", cmd.ExitUsage, "is to be JSON"},
		{"not sharded", `{"sharded": false, "tables": {"orders": {}}}`, "", cmd.ExitUsage, "not sharded"},
		{"it fails", `{"sharded": true}`, `echo '{"level": "ERROR", "msg": "no topology"}' >&2; exit 3`, cmd.ExitFailure, "GetVSchema: exit status 3: no topology"},
		{"it fails in plain words", "", "echo first >&2; echo 'second  line' >&2; exit 1", cmd.ExitFailure, "second line"},
		{"it goes on", "", "exec yes 0123456789012345678901234567890123456789012345678901234567890123456789", cmd.ExitFailure, "more than 16 MB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			program, asked := fake(t, test.prints, test.further)
			got := rig.Execute(t.Context(), cmd.Options{}, nil, "", "vschema", "--apply", "shop", "--vtctldclient", program, "--", "--server=here")
			got.Wants(t, test.code, test.says)
			if text, err := os.ReadFile(asked); err != nil || string(text) != "--server=here GetVSchema shop\n" || got.Out != "" {
				t.Errorf("it was asked %q, %v; and prints %s", text, err, got.Out)
			}
		})
	}
	program, asked := fake(t, `{"sharded": true}`, `case $1 in ApplyVSchema) cp "${2#--vschema-file=}" "$0.got"; exit 1 ;; esac`)
	rig.Execute(t.Context(), cmd.Options{}, nil, "", "vschema", "--apply", "shop", "--vtctldclient", program).Wants(t, cmd.ExitFailure, "ApplyVSchema: exit status 1")
	text, err := os.ReadFile(asked)
	_, name, _ := strings.Cut(strings.TrimSuffix(string(text), " shop\n"), "--vschema-file=")
	if _, left := os.Stat(name); err != nil || !os.IsNotExist(left) {
		t.Errorf("%s: %v, %v", text, err, left)
	}
	if given, err := os.ReadFile(program + ".got"); err != nil || !json.Valid(given) {
		t.Errorf("%s, %v", given, err)
	}
}

func TestVSchemaRefusesWhatDoesNotGoTogether(t *testing.T) {
	empty := rig.File(t, "empty.json", "\n")
	for _, test := range []struct{ args, says string }{
		{"--apply shop --vtctldclient /none/vtctldclient", "/none/vtctldclient"},
		{"--apply shop --into x", "--apply"},
		{"--apply shop:-80", "without a shard"},
		{"--apply --help2", "without a shard"},
		{"--apply shop extra", "unknown command"},
		{"-- --server=x", "unknown command"},
		{"--apply=", "--apply"},
		{"--dry-run", "belong to --apply"},
		{"--vtctldclient x", "belong to --apply"},
		{"--into " + empty, "it is empty"},
		{"--into /none/such", "/none/such"},
	} {
		rig.Execute(t.Context(), cmd.Options{}, nil, "", append([]string{"vschema"}, strings.Fields(test.args)...)...).Wants(t, cmd.ExitUsage, test.says)
	}
}
