package checks_test

import (
	"fmt"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

func TestInsertFile(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		r.At("13:00")
		orders := rig.File(r.T, "orders.csv", "\ufeffentity,due_at,payload,on_pending\r\n"+
			"order/1,2026-11-20 15:01,\"{\"\"lines\"\": 3}\",\r\norder/2,+1h,,\r\norder/2,+2h,,replace\r\n\r\n")
		if out := r.OK("insert", "--file", orders, "--exec", "unshipped"); out != "inserted 2, replaced 1, kept 0 that were pending\n" {
			r.Error(out)
		}
		more := `{"entity_name": "order", "entity_key": "3", "job_exec": "late", "in": "1d", "payload": {"a": [1]}, "tag": "t"}

{"entity": "order/1", "payload": null}
`
		got := r.With(more, "insert", "--file", "-", "--exec", "unshipped", "--in", "3h", "--json")
		if got.Code != cmd.ExitOK || got.Out != `{"inserted":1,"kept":1,"replaced":0,"bad":0}`+"\n" {
			r.Errorf("%v", got)
		}
		var rows []string
		for _, j := range r.Jobs() {
			rows = append(rows, fmt.Sprintf("%s %s %s %s %s", j.EntityKey, j.JobExec, j.Tag, j.DueAt.Format("02 15:04"), strings.ReplaceAll(string(j.Payload), " ", "")))
		}
		if got, want := strings.Join(rows, "\n"), "2 unshipped  20 15:00 null\n1 unshipped  20 15:01 {\"lines\":3}\n3 late t 21 13:00 {\"a\":[1]}"; got != want {
			r.Errorf("pending:\n%s\nwant\n%s", got, want)
		}
	})
}

func TestInsertFileReportsBadLinesAndDoesNothingHalf(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		r.At("13:00")
		var text strings.Builder
		for i := range 2500 { // lines 1 to 2500
			fmt.Fprintf(&text, `{"entity": "order/%d", "job_exec": "x", "in": "1h"}`+"\n", i)
		}
		text.WriteString(`{"entity": "order/0", "job_exec": "x", "in": "1h", "on_pending": "error"}` + "\n")
		text.WriteString(`{"entity": "order/a", "job_exec": "x", "in": "31d"}` + "\n")
		text.WriteString(`{"entity": "order/b", "job_exec": "x", "in": "1h", "spread": "1h"}` + "\n")
		list := rig.File(r.T, "list.jsonl", text.String())
		got := r.Execute("insert", "--file", list)
		got.Wants(r.T, cmd.ExitUsage, list+":2501: already pending: x of order/0", list+":2502: beyond the horizon", "2 of 2503 lines are bad; nothing was inserted")
		if n := strings.Count(got.Err, "\n"); n != 3 || got.Out != "" {
			r.Errorf("%v", got)
		}
		if n := r.Count("SELECT COUNT(*) FROM future_job"); n != 0 {
			r.Errorf("%d rows were inserted all the same", n)
		}
		got = r.Execute("insert", "--file", list, "--keep-going")
		got.Wants(r.T, cmd.ExitPartly, ":2501: already pending", "2 of 2503 lines are bad and were left out")
		if got.Out != "inserted 2501, replaced 0, kept 0 that were pending\n" || r.Count("SELECT COUNT(*) FROM future_job") != 2501 {
			r.Errorf("%v", got)
		}
	})
}

func TestBadLinesOfAFileAreNamedBeforeTheDatabaseIsAsked(t *testing.T) {
	t.Parallel()
	const good = `{"entity": "order/1", "job_exec": "x", "in": "1h"}`
	jsonl := func(lines ...string) (string, string) { return "a.jsonl", strings.Join(lines, "\n") }
	env := map[string]string{"PRESCIENT_DSN": rig.NoServer}
	for about, test := range map[string]struct {
		file func() (name, text string)
		args []string
		says []string
	}{
		"every bad line": {func() (string, string) {
			return jsonl(good, "{", good, "", `{"entity": "order", "job_exec": "x", "in": "1h"}`, `[]`, good+good, good+"\xff",
				`{"entity": "a/b", "job_exec": "x", "in": "soon"}`, `{"entity": "a/b", "job_exec": "x"}`, `{"entity": "a/b", "in": "1h"}`,
				`{"job_exec": "x", "in": "1h"}`, `{"entity": "a/b", "job_exec": "x", "due_at": "now", "in": "1h"}`,
				`{"entity": "a/b", "job_exec": "x", "in": "1h", "spread": "-1h"}`, `{"entity": "a/b", "job_exec": "x", "in": "1h", "colour": 1}`,
				`{"entity": "a/b", "entity_key": "c", "job_exec": "x", "in": "1h"}`, `{"entity": "a/b", "job_exec": "x", "due_at": "soon"}`)
		}, nil, []string{":2: it is no JSON object", `:5: invalid: entity "order"`, ":6: it is no JSON object", ":7: something stands behind",
			":8: it is not UTF-8", ":9: in: ", ":10: it has neither due_at nor in", ":11: it has no job_exec", ":12: it has no entity",
			":13: due_at and in exclude", ":14: spread -1h: 0s and positive times are allowed", `:15: it is no JSON object of a check: unknown field "colour"`, ":16: entity excludes",
			`:17: due_at: time "soon"`, "14 of 16 lines are bad; nothing was inserted"}},
		"a line too long": {func() (string, string) { return jsonl(good, `{"payload": "`+strings.Repeat("x", 5<<20)+`"}`, "{") }, nil,
			[]string{":2: it is longer than", ":3: it is no JSON"}},
		"csv": {func() (string, string) {
			return "a.csv", "entity,payload\norder/1,1,2\n\"order/\n2\",1\norder/3,{\norder\"4,\norder/5,1\n"
		}, []string{"--exec", "x", "--in", "1h"}, []string{":2: it has 3 fields, want 2", ":5: invalid: payload of order/3", `:6: bare " in non-quoted-field`, "3 of 5 lines"}},
		"csv with an open quote":  {func() (string, string) { return "a.csv", "entity\n\"" + strings.Repeat("x\n", 3<<20) }, nil, []string{"is a quote not closed?"}},
		"csv of unknown columns":  {func() (string, string) { return "a.csv", "entity,colour\n" }, nil, []string{`unknown column "colour"; entity, entity_name`}},
		"csv with a column twice": {func() (string, string) { return "a.csv", "entity,Entity\n" }, nil, []string{"the column entity is there twice"}},
		"csv that is empty":       {func() (string, string) { return "a.txt", "" }, []string{"--format", "csv"}, []string{"it is empty"}},
		"a format that is none":   {func() (string, string) { return jsonl(good) }, []string{"--format", "xml"}, []string{"jsonl and csv are allowed"}},
		"an entity beside it":     {func() (string, string) { return jsonl(good) }, []string{"--entity", "a/b"}, []string{"--file excludes --entity"}},
		"a flag that is wrong":    {func() (string, string) { return jsonl(good) }, []string{"--in", "soon"}, []string{"--in: "}},
	} {
		t.Run(about, func(t *testing.T) {
			name, text := test.file()
			args := append([]string{"insert", "--file", rig.File(t, name, text)}, test.args...)
			rig.Execute(t.Context(), cmd.Options{}, env, "", args...).Wants(t, cmd.ExitUsage, test.says...)
		})
	}
	rig.Execute(t.Context(), cmd.Options{}, env, "", "insert", "--file", "/nonexistent").Wants(t, cmd.ExitUsage, "--file: open /nonexistent")
	rig.Execute(t.Context(), cmd.Options{}, env, "", "insert", "--keep-going").Wants(t, cmd.ExitUsage, "are for --file")
}
