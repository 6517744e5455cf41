package notify

import (
	"errors"
	"testing"
	"time"

	"prescient/prescient/doctor"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// What was told is read as it was written, by the rights of a worker, and the doctor of who may only look tells who cannot be told.
func TestTheTableKeepsWhatWasTold(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		db := r.As("worker", time.Time{})
		f := &findings{db: db, tables: *r.Tables(), name: "w"}
		held, err := f.take(t.Context())
		r.Must(err)
		s := settings(Receiver{Name: "team", Rate: 1}, Receiver{Name: "am", Sender: alertmanager{}})
		s.Hold, s.Gone = -1, -1
		look := func(found ...doctor.Finding) (p plan) {
			t.Helper()
			now, rows, err := f.read(t.Context(), s.names())
			r.Must(err)
			p = decide(now, see(found, nil), rows, s, nil)
			r.Must(f.write(t.Context(), held, p))
			return p
		}
		found := []doctor.Finding{bad("failing", "exp'ort\\", "a\"b"), bad(Code, "am"), warn("clock")}
		found[0].Text = "It says: 'x' \\ — \U0001f600"
		first := look(found...)
		if len(first.messages) != 2 || len(first.messages[0].Items) != 3 || len(first.messages[1].Items) != 2 {
			t.Fatalf("%+v", first.messages)
		}
		again := look(found...)
		if len(again.write)+len(again.forget) != 0 || again.messages[0].ID != first.messages[0].ID || again.messages[0].Items[2].Text == "" {
			t.Errorf("after a death: %+v", again)
		}
		for _, m := range first.messages {
			r.Must(f.told(t.Context(), m))
		}
		_, rows, err := f.read(t.Context(), s.names())
		r.Must(err)
		for _, one := range rows {
			if one.code == Code && one.receiver == "am" {
				continue // that it cannot be told it is not told
			}
			if one.told == nil || one.message != "" || one.code == "failing" && (one.text != found[0].Text || len(one.names) != 2 || len(one.told.names) != 2 || one.told.severity != doctor.SeverityBad) {
				t.Errorf("%+v", one)
			}
		}
		r.Must(f.told(t.Context(), first.messages[0])) // another has noted it by now: nothing is changed
		report, err := doctor.Examine(t.Context(), r.As("operator", time.Time{}), doctor.Options{Prefix: "p_", Dialect: r.Setting, Only: []string{"notify"}})
		if err != nil || len(report) != 1 || report[0].Severity != doctor.SeverityBad || report[0].About[0] != "am" {
			t.Errorf("%+v, %v", report, err)
		}
		over := look()
		if len(over.messages) != 2 || over.messages[0].Items[0].Kind != Over {
			t.Errorf("%+v", over)
		}
		for _, m := range over.messages {
			r.Must(f.told(t.Context(), m))
		}
		if n := r.Count("SELECT COUNT(*) FROM p_finding"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
		// Who lost the lease writes nothing.
		r.Exec("UPDATE p_duty SET token = token + 1")
		now, rows, err := f.read(t.Context(), s.names())
		r.Must(err)
		if err := f.write(t.Context(), held, decide(now, see(found, nil), rows, s, nil)); err == nil || r.Count("SELECT COUNT(*) FROM p_finding") != 0 {
			t.Errorf("it wrote: %v", err)
		}
	})
}

// What somebody wrote by plain SQL, or has locked, harms no more than itself.
func TestRowsByPlainSQLAreReadAndLockedOnesWaitedForInVain(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		r.Exec(`INSERT INTO p_finding (code, receiver, severity, found, names, text, remedy, seen_since, looked_at, told_at, told_severity, told_names, message, message_kind) VALUES
			('failing', 'team', 'bad', 0, '[7]', '', '', '9999-12-31', '9999-12-31', '9999-12-31', 'bad', '{"a": {}}', NULL, NULL),
			('clock', 'team', 'warn', 4294967295, '7', '', '', '1000-01-01', '1000-01-01', NULL, NULL, NULL, 'x', 'over'),
			('notify', 'a"b', 'bad', 1, '{}', '', '', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), NULL, NULL, NULL, NULL, NULL),
			('0', 'team', 'bad', 1, '{}', '', '', '2026-11-20', '2000-01-01', '2026-11-20', 'bad', NULL, 'a\r\nBcc: eve@example.org', 'new')`)
		r.Exec("INSERT INTO p_finding (code, receiver, severity, found, names, text, remedy, seen_since, looked_at) WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900)" +
			" SELECT CONCAT('0', i, m), 'team', 'bad', 1, '{}', '', '', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM n, (SELECT 'a' AS m UNION SELECT 'b' UNION SELECT 'c') three")
		r.Exec("INSERT INTO p_finding (code, receiver, severity, found, names, text, remedy, seen_since, looked_at) VALUES ('purge', 'team', 'bad', 1, JSON_ARRAY(REPEAT('x', 1000000)), '', '', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
		if report, err := doctor.Examine(t.Context(), r.As("operator", time.Time{}), doctor.Options{Prefix: "p_", Dialect: r.Setting, Only: []string{"notify"}}); err != nil || len(report) != 1 || report[0].Severity != doctor.SeverityOK {
			t.Errorf("%+v, %v", report, err)
		}
		f := &findings{db: r.As("worker", time.Time{}), tables: *r.Tables(), name: "w"}
		held, err := f.take(t.Context())
		r.Must(err)
		s := settings(Receiver{Name: "team"})
		s.Hold, s.Gone = -1, -1
		now, rows, err := f.read(t.Context(), s.names())
		r.Must(err)
		p := decide(now, see(nil, nil), rows, s, nil)
		r.Must(f.write(t.Context(), held, p))
		for _, m := range p.messages {
			r.Must(f.told(t.Context(), m))
		}
		// What no look wrote is nobody's, and goes once it is old.
		if n := r.Count("SELECT COUNT(*) FROM p_finding WHERE code NOT LIKE '0%'"); n != 1 || len(p.messages) != 1 || len(p.forget) != 3 {
			t.Errorf("%d rows are left, %d are forgotten, %+v", n, len(p.forget), p.messages)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_finding WHERE code = '0'"); n != 0 {
			t.Error("what is old was kept")
		}
		for range 30 {
			if _, rows, err = f.read(t.Context(), s.names()); err != nil || len(rows) > othersAtATime {
				t.Fatalf("%d rows, %v", len(rows), err)
			}
		}
		r.Exec("DELETE FROM p_finding")
		for _, wrong := range []string{"told_at = '2026-11-20'", "told_severity = 'bad'", "message = 'x'", "message_kind = 'new'"} {
			if r.Setting != "" {
				break
			}
			if _, err := r.Root.ExecContext(t.Context(), "INSERT INTO p_finding SET code = 'x', receiver = 'x', severity = 'bad', found = 1, names = '{}', text = '', remedy = '', seen_since = '2026-11-20', looked_at = '2026-11-20', "+wrong); err == nil {
				t.Errorf("%s was taken", wrong)
			}
		}
		p = decide(now, see([]doctor.Finding{bad("missed")}, nil), nil, s, nil)
		r.Must(f.write(t.Context(), held, p))
		tx, err := r.As("analyst", time.Time{}).BeginTx(t.Context(), nil) // who may only look
		r.Must(err)
		defer tx.Rollback()
		if _, err := tx.ExecContext(t.Context(), "SELECT * FROM p_finding LOCK IN SHARE MODE"); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := f.write(t.Context(), held, p); !errors.Is(err, errLocked) || time.Since(began) > statementTime+20*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		r.Must(held.Keep(t.Context()))
		if !held.Alive() {
			t.Error("the lease was lost")
		}
	})
}

func TestNoStatementOfFindingsScans(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		r.Needs(t, rig.ReadPlans)
		f := &findings{db: r.As("worker", time.Time{}), tables: *r.Tables(), name: "w"}
		held, err := f.take(t.Context())
		r.Must(err)
		s := settings(Receiver{Name: "a"}, Receiver{Name: "b"}, Receiver{Name: "c"})
		var found []doctor.Finding
		for _, code := range doctor.FindingCodes() {
			found = append(found, bad(code))
		}
		r.Must(f.write(t.Context(), held, decide(at("12:00:00"), see(found, nil), nil, s, nil)))
		r.Exec("ANALYZE TABLE p_finding")
		conn, err := f.db.Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		g := f.tables.Stmt
		rig.CheckPlans(t, conn, []rig.Explained{
			{Statement: "finding/write", Query: f.tables.Fill("finding/write", "{rows}", string(appendRow(nil, row{code: "x", receiver: "x", severity: doctor.SeverityBad})))},
			{Statement: "finding/told", Query: g.Get("finding/told"), Args: []any{"bad", 1, "[]", "clock", "a", nil}, Reached: map[string]string{"p_finding": "PRIMARY 132"}},
			{Statement: "finding/forget", Query: g.Get("finding/forget"), Args: []any{"clock", "a", "x"}, Reached: map[string]string{"p_finding": "PRIMARY 132"}},
			{Statement: "finding/list", Query: f.tables.Fill("finding/list", "{codes}", literal.Join(",", literal.AppendText, doctor.FindingCodes()), "{of}", "AND receiver IN ('a','b','d')"), Reached: map[string]string{"p_finding": "PRIMARY 132"}},
			{Statement: "finding/others", Query: g.Get("finding/others"), Args: []any{"clock", "clock", "a", 100}, Reached: map[string]string{"p_finding": "PRIMARY 132"}},
			{Statement: "finding/untold", Query: g.Get("finding/untold"), Reached: map[string]string{"p_finding": "PRIMARY 66"}},
		}, g, []string{"finding"})
	})
}
