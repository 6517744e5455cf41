package schedule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/schedule"
)

// at is the unix second of a time of the day.
func at(clock string) string { return fmt.Sprint(rig.At(clock).Unix()) }

func TestAScheduleFromItsCreationToItsEnd(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		create := []string{"schedule", "create", "digest/42", "0 9 * * mon-fri", "30 11 * * *", "--exec", "send-digest", "--zone", "Europe/Berlin",
			"--payload", `{"to": 42}`, "--owner", "customer/42", "--catch-up", "skip", "--expires", "1h", "--jitter", "0s"}
		got := r.Execute(create...)
		got.Wants(r.T, cmd.ExitOK)
		if got.Out != "created: digest/42 fires first at 2026-11-20 10:30:00 (UTC)\n" {
			r.Error(got)
		}
		r.Says(r.OK(create...), "kept: digest/42 is there already, with the same definition")
		if out := r.OK(append(create, "--json")...); out != `{"id":"digest/42","did":"kept"}`+"\n" {
			r.Error(out)
		}
		r.Execute("schedule", "create", "digest/42", "@daily", "--exec", "x").Wants(r.T, cmd.ExitPending, `"digest/42"`, "change that schedule with update")

		out := r.OK("schedule", "show", "digest/42", "-n", "2")
		r.Says(out, "crontab         0 9 * * mon-fri\n", "crontab         30 11 * * *\n", "zone            Europe/Berlin\n", `payload         {"to": 42} (10 bytes)`,
			"owner           customer/42\n", "catch_up        skip\n", "expires_after   1h\n", "timer due_at    2026-11-20 10:30:00\n",
			"next            2026-11-20 10:30:00\nnext            2026-11-21 10:30:00\n", "digest/42-"+at("10:30")+"  send-digest  2026-11-20 10:30:00")
		type rows struct {
			Version uint64
			Enabled bool
			Timer   *rig.JobRow
			Runs    []rig.JobRow
			Ends    []struct{ Tag, Outcome string }
			Times   []time.Time
		}
		show := func(args ...string) rows {
			r.Helper()
			return rig.Lines[rows](r.T, r.OK(append([]string{"schedule", "show", "--json"}, args...)...))[0]
		}
		if s := show("digest/42"); s.Timer == nil || len(s.Runs) != 1 || len(s.Ends) != 0 || len(s.Times) != 5 || s.Version != 1 {
			r.Errorf("%+v", s)
		}

		out = r.OK("schedule", "update", "digest/42", "0 12 * * *", "--no-payload", "--expires", "0s")
		r.Says(out, "changed: digest/42: crontab 0 9 * * mon-fri, 30 11 * * * → 0 12 * * *\n", `payload "{\"to\": 42}" → none`, "expires_after 1h → none\n")
		r.Says(r.OK("schedule", "update", "digest/42", "--no-payload"), "kept: digest/42 is so already")
		if s := show("digest/42"); s.Version != 2 || !s.Timer.DueAt.Equal(rig.At("11:00")) || len(s.Runs) != 1 || len(s.Ends) != 1 || s.Ends[0].Outcome != "superseded" {
			r.Errorf("%+v", s)
		}
		r.Says(r.OK("schedule", "update", "digest/42", "--topic", "digests", "--payload=", "--no-owner", "--json"),
			`{"id":"digest/42","did":"changed","changes":[{"name":"exec","from":"send-digest"},{"name":"topic","to":"digests"}`, `{"name":"owner","from":"customer/42"}`)

		if out := r.OK("schedule", "pause", "digest/42"); out != "paused: digest/42\n" {
			r.Error(out)
		}
		if s := show("digest/42"); s.Timer != nil || s.Enabled {
			r.Errorf("%+v", s)
		}
		r.Says(r.OK("schedule", "show", "digest/42"), "state           paused\n")
		if out := r.OK("schedule", "pause", "digest/42", "--json"); out != `{"id":"digest/42","did":"kept"}`+"\n" {
			r.Error(out)
		}
		if out := r.OK("schedule", "resume", "digest/42"); out != "resumed: digest/42\n" {
			r.Error(out)
		}
		r.Says(r.OK("schedule", "resume", "digest/42"), "kept: digest/42 was so already")
		r.Says(r.OK("schedule", "versions", "digest/42"), "version", "now", "sends to digests", "runs send-digest", "0 9 * * mon-fri; 30 11 * * *")
		if n := strings.Count(r.OK("schedule", "versions", "digest/42", "--json"), "\n"); n != 3 {
			r.Errorf("%d versions", n)
		}
		r.Says(r.OK("schedule", "back", "digest/42", "1"), "changed: digest/42 is as it was with version 1")
		r.Says(r.OK("schedule", "show", "digest/42"), `payload         {"to": 42} (10 bytes)`, "owner           customer/42\n")
		r.Says(r.OK("schedule", "back", "digest/42", "1", "--json"), `{"id":"digest/42","did":"kept"}`)
		r.Execute("schedule", "back", "digest/42", "99").Wants(r.T, cmd.ExitNotFound, "version 99")
		r.Execute("schedule", "back", "digest/42", "x").Wants(r.T, cmd.ExitUsage, "a number is wanted")
		if out := r.OK("schedule", "delete", "digest/42", "none"); out != "deleted 1 of the 2 named\n" {
			r.Error(out)
		}
		r.Says(r.OK("schedule", "versions", "digest/42"), "send-digest")
		r.Execute("schedule", "versions", "none").Wants(r.T, cmd.ExitNotFound, "none")
		// One of the id that was deleted is gone back to by when it was created.
		of := rig.Lines[struct {
			CreatedAt time.Time `json:"created_at"`
		}](r.T, r.OK("schedule", "versions", "digest/42", "--json"))[0].CreatedAt
		r.OK("schedule", "create", "digest/42", "@daily", "--topic", "other")
		r.Says(r.OK("schedule", "back", "digest/42", "1", "--of", of.Format(time.RFC3339Nano)), "changed: digest/42 is as it was with version 1")
		r.Says(r.OK("schedule", "show", "digest/42"), "owner           customer/42\n")
		r.Execute("schedule", "back", "digest/42", "1", "--of", "2026-11-20 13:00").Wants(r.T, cmd.ExitNotFound, "version 1")
		r.Execute("schedule", "back", "digest/42", "1", "--of", "never").Wants(r.T, cmd.ExitUsage, "--of", "never")
		r.OK("schedule", "delete", "digest/42")
		if n := r.Count("SELECT COUNT(*) FROM future_job"); n != 0 {
			r.Errorf("%d rows are pending", n)
		}
	})
}

// What a machine with other time zones has planned is shown as its timer waits for it, until an update without a change plans it anew; what
// has a list with a star is refused where it is made, changed or imported.
func TestSchedulesFromMachinesWithOtherTimeZones(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		for _, id := range []string{"a", "star"} {
			r.OK("schedule", "create", id, "0 13 * * *", "--zone", "Europe/Berlin", "--topic", "t")
		}
		r.Exec("UPDATE schedule SET utc_offset = 7200 WHERE id = 'a'")
		r.Exec("UPDATE future_job SET due_at = due_at - INTERVAL 1 HOUR, first_check_at = first_check_at - INTERVAL 1 HOUR, next_check_at = next_check_at - INTERVAL 1 HOUR WHERE entity_key = 'a'")
		r.Says(r.OK("schedule", "list"), "2026-11-20 11:00:00", "2026-11-20 12:00:00")
		r.Says(r.OK("schedule", "show", "a"), "next            2026-11-20 11:00:00\nnext            2026-11-21 12:00:00\n")
		r.Says(r.OK("schedule", "update", "a"), "planned anew: a waits for 2026-11-20 12:00:00 (UTC), and no longer for 2026-11-20 11:00:00")
		r.Says(r.OK("schedule", "update", "a", "0 13 * * *", "--json"), `{"id":"a","did":"kept"}`)
		r.Execute("schedule", "update", "none").Wants(r.T, cmd.ExitNotFound)

		const says = `list with a star`
		r.Execute("schedule", "create", "b", "0 9 *,15 * mon", "--topic", "t").Wants(r.T, cmd.ExitUsage, says, "* for each day, or 15")
		r.Execute("schedule", "update", "star", "0 9 1 * */2,5").Wants(r.T, cmd.ExitUsage, says, "0-6/2,5")
		r.Execute("schedule", "next", "0 9 */2,15 * *").Wants(r.T, cmd.ExitUsage, says, "1-31/2,15")
		r.Exec("UPDATE schedule SET crontabs = '0 13 *,15 * mon' WHERE id = 'star'")
		got := r.Execute("schedule", "export")
		r.Says(got.Err, `import refuses "star"`, says)
		r.With(got.Out, "schedule", "import", "-").Wants(r.T, cmd.ExitUsage, says)
		r.Execute("schedule", "update", "star", "--topic", "other").Wants(r.T, cmd.ExitUsage, says)
	})
}

func TestWhatThereIsNotIsSaid(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.OK("schedule", "create", "a", "@daily", "--topic", "t")
		for _, args := range [][]string{{"update", "none", "@daily"}, {"show", "none"}, {"show", "--run", "none-5"}, {"pause", "a", "none"}, {"resume", "none"}, {"run", "none"}} {
			r.Execute(append([]string{"schedule"}, args...)...).Wants(r.T, cmd.ExitNotFound, `no such schedule: "none"`)
		}
		if n := r.Count("SELECT COUNT(*) FROM schedule WHERE enabled"); n != 1 {
			r.Error("a was paused without the other")
		}
		r.Says(r.OK("schedule", "delete", "none", "--json"), `{"deleted":0}`)
		r.Execute("schedule", "create", "b", "* * * * *", "--topic", "t").Wants(r.T, cmd.ExitUsage, `schedule "b"`, "too fine for slots of 15m0s", "unless it may coalesce")
		r.Execute("schedule", "create", "b", "@at 2020-01-01T00:00:00Z", "--topic", "t").Wants(r.T, cmd.ExitUsage, `"b"`, "has no time after now")
		r.OK("schedule", "create", "b", "* * * * *", "--topic", "t", "--coalesce")
	})
}

func TestARunByHandLeadsToItsRows(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.OK("schedule", "create", "a-1", "@daily", "--exec", "x")
		run := r.OK("schedule", "run", "a-1")
		if run != "a-1-m"+at("10:05")+"\n" {
			r.Error(run)
		}
		run = strings.TrimSpace(run)
		r.Execute("schedule", "run", "a-1").Wants(r.T, cmd.ExitPending, run)
		out := r.OK("schedule", "show", "--run", run)
		r.Says(out, run+" of a-1, which runs x\n", "that wait:", "2026-11-20 10:15:00")
		if strings.Contains(out, "a-1-"+fmt.Sprint(rig.Day.AddDate(0, 0, 1).Unix())) {
			r.Errorf("it has rows of another run: %s", out)
		}
		r.OK("schedule", "update", "a-1", "@hourly") // what waits goes on under it
		r.Says(r.OK("schedule", "show", "--run", run), "that wait:", "2026-11-20 10:15:00")
		r.Says(r.OK("schedule", "show", "--run", "a-1-5"), "it has no rows")

		r.OK("schedule", "create", "e", "@daily", "--topic", "t")
		r.Says(r.OK("schedule", "run", "e", "--json"), `{"id":"e","run":"e-m`+at("10:05")+`"}`)
		if n := r.Count("SELECT COUNT(*) FROM event_outbox WHERE id = ?", "e-m"+at("10:05")); n != 1 {
			r.Errorf("%d events", n)
		}
		r.Says(r.OK("schedule", "show", "--run", "e-m"+at("10:05")), "of e, which sends to t", "it has no rows: it is an event")
	})
}

func TestAnAccountThatMayNotReadHistoryIsTold(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.OK("schedule", "create", "a", "@daily", "--exec", "x")
		env := r.EnvironmentOf([]string{"pending"})
		got := rig.Execute(r.Context(), r.Options, env, "", "schedule", "show", "a")
		got.Wants(r.T, cmd.ExitOK, "what ended cannot be seen by this account")
		r.Says(got.Out, "timer due_at    2026-11-21 00:00:00\n", "that wait:")
	})
}

func TestSchedulesAreListed(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		if out := r.OK("schedule", "list"); out != "there are no schedules\n" {
			r.Error(out)
		}
		for i := range 5 {
			r.OK("schedule", "create", fmt.Sprintf("s%d", i), "@hourly", "--exec", "x", "--owner", fmt.Sprintf("customer/%d", i%2))
		}
		r.OK("schedule", "pause", "s4")
		// Of plain SQL, and no good: its timer says so when it is called.
		r.Exec("INSERT INTO schedule (id, crontabs, job_exec) VALUES ('bad', '61 * * * *', 'x')")
		r.Exec("UPDATE schedule SET enabled = FALSE, disabled_at = UTC_TIMESTAMP(6), disabled_reason = 'its minute is 61' WHERE id = 'bad'")
		r.Exec("INSERT INTO schedule_refused (schedule_id) VALUES ('bad')")
		first := r.Execute("schedule", "list", "--limit", "2", "--owner", "customer/0")
		first.Wants(r.T, cmd.ExitOK, "there are more: --after 's2'")
		if want := `id  crontab  zone  fires   owner       next (UTC)
s0  @hourly        runs x  customer/0  2026-11-20 11:00:00
s2  @hourly        runs x  customer/0  2026-11-20 11:00:00
`; strings.Join(strings.Fields(first.Out), " ") != strings.Join(strings.Fields(strings.Replace(want, "  zone", "", 1)), " ") {
			r.Errorf("got\n%s\nwant\n%s", first.Out, want)
		}
		r.Says(r.OK("schedule", "list", "--owner", "customer/0", "--after", "s2"), "s4", "paused")
		if out := r.OK("schedule", "list", "--troubled"); strings.Count(out, "\n") != 2 || !strings.Contains(out, "disabled: its minute is 61") {
			r.Error(out)
		}
		type row struct {
			ID             string
			Crontab, Exec  string
			Enabled        bool
			Next           *time.Time
			DisabledReason string `json:"disabled_reason"`
		}
		rows := rig.Lines[row](r.T, r.OK("schedule", "list", "--json"))
		if len(rows) != 6 || rows[0].ID != "bad" || rows[0].DisabledReason == "" || rows[0].Next != nil || !rows[1].Enabled || rows[1].Next == nil || rows[5].Enabled {
			r.Errorf("%+v", rows)
		}
		r.Says(r.OK("schedule", "show", "bad"), "state           disabled: its minute is 61\n")
		r.Exec("UPDATE schedule SET zone = 'Mars/Nowhere' WHERE id = '" + rows[1].ID + "'")
		r.Says(r.OK("schedule", "show", rows[1].ID), "state           cannot fire: ", "Mars/Nowhere")
		r.Says(r.OK("schedule", "list"), "cannot fire: ")
		r.Exec("UPDATE schedule SET zone = 'UTC' WHERE id = '" + rows[1].ID + "'")
		if out := r.OK("schedule", "list", "--after", "z"); out != "no schedule comes behind this id\n" {
			r.Error(out)
		}
		if out := r.OK("schedule", "list", "--owner", "customer/9"); out != "no schedule matches the filter\n" {
			r.Error(out)
		}
		if out := r.OK("schedule", "delete", "--owner", "customer/1", "--yes"); out != "deleted 2 of customer/1\n" {
			r.Error(out)
		}
	})
}

func TestAJobExecThatNobodyHasIsWarnedOf(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		create := func(args ...string) rig.Result { // by an account that may read history
			return rig.Execute(r.Context(), r.Options, r.Variables, "id: b\ncrontab: '@daily'\nexec: unheard-of\n", append([]string{"schedule"}, args...)...)
		}
		for _, args := range [][]string{{"create", "a", "@daily", "--exec", "unheard-of"}, {"import", "-"}, {"update", "b", "--exec", "unheard"}} {
			create(args...).Wants(r.T, cmd.ExitOK, "nobody seems to have the job_exec unheard", "workers put its runs off")
		}
	})
}

func TestAPayloadIsCarriedByteForByte(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		const bytes = "\x00\xff\n\u202e'\\"
		r.With(bytes, "schedule", "create", "stdin", "@daily", "--topic", "t", "--payload", "-").Wants(r.T, cmd.ExitOK)
		r.OK("schedule", "create", "file", "@daily", "--topic", "t", "--payload-file", rig.File(r.T, "payload", bytes))
		r.OK("schedule", "create", "empty", "@daily", "--topic", "t", "--payload", "")
		r.OK("schedule", "create", "none", "@daily", "--topic", "t")
		if n := r.Count("SELECT COUNT(*) FROM schedule WHERE payload = ?", []byte(bytes)); n != 2 {
			r.Errorf("%d", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM schedule WHERE id = 'empty' AND payload = '' OR id = 'none' AND payload IS NULL"); n != 2 {
			r.Errorf("%d", n)
		}
		r.Execute("schedule", "create", "b", "@daily", "--topic", "t", "--payload-file", rig.File(r.T, "large", strings.Repeat("x", schedule.MaxPayload+1))).
			Wants(r.T, cmd.ExitUsage, fmt.Sprintf("%d bytes; at most %d are allowed", schedule.MaxPayload+1, schedule.MaxPayload))
	})
}

func TestWrongInputIsRefusedBeforeTheDatabaseIsAsked(t *testing.T) {
	many := strings.Repeat("x", 129)
	for _, test := range []struct {
		line []string
		says []string
	}{
		{[]string{"create"}, []string{"takes an id and crontabs"}},
		{[]string{"create", "a"}, []string{"takes an id and crontabs"}},
		{[]string{"create", "a", "@daily"}, []string{"give --exec", "or --topic"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--topic", "t"}, []string{"--exec and --topic exclude each other"}},
		{[]string{"create", "a", "@daily", "--exec="}, []string{"--exec is empty"}},
		{[]string{"create", "", "@daily", "--exec", "x"}, []string{"id of a schedule is empty"}},
		{[]string{"create", many, "@daily", "--exec", "x"}, []string{"id of a schedule", "128"}},
		{[]string{"create", "a", "60 * * * *", "--exec", "x"}, []string{`its minute is "60"; 0 to 59`}},
		{[]string{"create", "a", "0", "9", "*", "*", "*", "--exec", "x"}, []string{`crontab "0"`, "in quotes"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--zone", "Europe/Atlantis"}, []string{`time zone "Europe/Atlantis"`}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--owner", "customer"}, []string{"--owner"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--jitter", "soon"}, []string{"--jitter", "want one such as 90s"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--expires", "1ms"}, []string{"expires_after 1ms", "whole seconds"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--catch-up", "never"}, []string{"--catch-up", "once, skip or all are allowed"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--payload", "a", "--payload-file", "b"}, []string{"exclude each other"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--payload-file", "/none/such"}, []string{"--payload-file", "/none/such"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--overlap", "queue"}, []string{`schedule "a" is not long`, "are for long runs"}},
		{[]string{"create", "a", "@daily", "--topic", "t", "--long"}, []string{`schedule "a" is long and sends events`, "may be long"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--long", "--overlap", "never"}, []string{"--overlap", "allow, forbid or queue are allowed"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--long", "--overlap="}, []string{"--overlap is empty"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--long", "--tolerance", "soon"}, []string{"--tolerance", "want one such as 90s"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--long", "--tolerance", "-5s"}, []string{"tolerance -5s", "whole seconds"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--long", "--quota", "all"}, []string{"--quota", "want one such as 90s", "or none"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--long", "--quota", "-1s"}, []string{"--quota", "quota -1s", "or none"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--long", "--quota", "1ms"}, []string{"quota 1ms", "whole seconds"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--long", "--pool", "a b"}, []string{`pool "a b"`, "only letters"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--pool", "heavy"}, []string{`schedule "a" has pool "heavy" and is not long`}},
		{[]string{"update", "a", "--pool", "heavy", "--no-pool"}, []string{"exclude each other"}},
		{[]string{"update", "a", "--heartbeat", "x", "--no-heartbeat"}, []string{"exclude each other"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--heartbeat", "a b"}, []string{`heartbeat "a b"`, "only letters"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--heartbeat", ""}, []string{"--heartbeat"}},
		{[]string{"create", "a", "@daily", "--exec", "x", "--long=false", "--quota", "1s"}, []string{`schedule "a" is not long`}},
		{[]string{"create", "a", "@daily", "--exec", "schedule.fire"}, []string{"schedule.fire", "kept for timers"}},
		{[]string{"create", "a", "@daily", "--topic", "a b"}, []string{`topic "a b"`, "are allowed"}},
		{[]string{"update"}, []string{"takes the id of a schedule"}},
		{[]string{"update", "a", "--owner", "a/b", "--no-owner"}, []string{"exclude each other"}},
		{[]string{"update", "a", "--payload", "x", "--no-payload"}, []string{"exclude each other"}},
		{[]string{"delete"}, []string{"takes ids of schedules"}},
		{[]string{"delete", "a", ""}, []string{"is empty"}},
		{[]string{"delete", "--owner", "a/b"}, []string{"--yes"}},
		{[]string{"delete", "--owner", "", "--yes"}, []string{"--owner is empty"}},
		{[]string{"delete", "a", "--owner", "a/b", "--yes"}, []string{"either ids or --owner"}},
		{[]string{"delete", "a", "--yes"}, []string{"--yes is for --owner"}},
		{[]string{"list", "--limit", "0"}, []string{"--limit 0: 1 to 9999 are allowed"}},
		{[]string{"list", "a"}, []string{"takes no argument"}},
		{[]string{"show"}, []string{"takes the id of one schedule"}},
		{[]string{"show", "a", "--run", "a-5"}, []string{"takes the id of one schedule"}},
		{[]string{"show", "--run", "a-x"}, []string{`id "a-x" is no occurrence`, "a unix second"}},
		{[]string{"show", "a", "-n", "1001"}, []string{"-n 1001: 0 to 1000 are allowed"}},
		{[]string{"pause"}, []string{"takes ids of schedules"}},
		{[]string{"resume", many}, []string{"128"}},
		{[]string{"run"}, []string{"takes the id of one schedule"}},
		{[]string{"import"}, []string{"takes a file"}},
		{[]string{"import", "/none/such"}, []string{"/none/such"}},
		{[]string{"import", "-", "--delete-missing"}, []string{"give --owner"}},
		{[]string{"import", "-", "--delete-missing", "--owner", "a/b"}, []string{"stdin has no schedules"}},
		{[]string{"import", "-", "--format", "csv"}, []string{`--format "csv": yaml and jsonl are allowed`}},
		{[]string{"export", "--format", "csv"}, []string{`--format "csv": yaml and jsonl are allowed`}},
		{[]string{"export", "--format", "yaml", "--json"}, []string{"--json is for --format jsonl"}},
	} {
		got := rig.Execute(t.Context(), cmd.Options{}, map[string]string{"PRESCIENT_DSN": rig.NoServer}, "", append([]string{"schedule"}, test.line...)...)
		got.Wants(t, cmd.ExitUsage, test.says...)
		if got.Out != "" {
			t.Errorf("%v", got)
		}
	}
}

func TestWorkersFireWhatTheCommandsMade(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.OK("schedule", "create", "a", "15 10 * * *", "--topic", "t", "--payload", "p")
		r.At("10:15:01")
		r.OK("run")
		if n := r.Count("SELECT COUNT(*) FROM event_outbox WHERE id = ? AND payload = 'p'", "a-"+at("10:15")); n != 1 {
			r.Errorf("%d events", n)
		}
		r.Says(r.OK("schedule", "show", "a"), "timer due_at    2026-11-21 10:15:00\n")
	})
}
