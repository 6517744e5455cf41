package event_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/event"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
	text "prescient/sql"
)

// What an app puts at the end of the numbers, and under whatever clock, keeps nobody from inserting.
func TestNoNumberOfAnAppStopsTheNextInsert(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		r.Needs(t, rig.ColumnDefaults)
		outbox := event.New(r.Client)
		r.Needs(t, rig.Accounts)
		conn, err := r.AppAs("app-sql", time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		insert := func(names, values string) error {
			_, err := conn.ExecContext(t.Context(), "INSERT INTO p_event_outbox (shard, id, topic, event_key, generated_at, inserted_at"+names+") VALUES (1, 'i', 't', 'k', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)"+values+")")
			return err
		}
		if err := insert(", seq", ", 18446744073709551615"); !errno.Is(err, errno.ColumnDenied) {
			t.Errorf("an app gives a number: %v", err)
		}
		for _, set := range []string{"insert_id = 18446744073709551614", "insert_id = 18446744073709551615", "timestamp = 1", "timestamp = 2147483646"} {
			_, err := conn.ExecContext(t.Context(), "SET SESSION "+set)
			r.Must(err)
			if err := insert("", ""); err != nil {
				t.Errorf("after SET %s: %v", set, err)
			}
			if err := outbox.Publish(t.Context(), r.App, event.Event{ID: "next", Topic: "t", Key: "k"}); err != nil {
				t.Errorf("another app, after SET %s: %v", set, err)
			}
		}
	})
}

// Each statement's rows, and those of one statement after the other, come in order of their numbers.
func TestNumbersAreInTheOrderOfInserts(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		r.Needs(t, rig.OnePool) // the order is that of a shard
		outbox := event.New(r.Client)
		many := make([]event.Event, 500)
		n := 0
		for range 4 {
			for i := range many {
				n++
				many[i] = event.Event{ID: fmt.Sprint(n), Topic: "t", Key: "k"}
			}
			r.Must(outbox.Publish(t.Context(), r.App, many...))
		}
		r.Exec("INSERT INTO p_event_outbox (shard, id, topic, event_key, generated_at, inserted_at) SELECT shard, CAST(id AS UNSIGNED) + 2000, topic, event_key, generated_at, inserted_at FROM p_event_outbox ORDER BY seq")
		if wrong := r.Count("SELECT COUNT(*) FROM (SELECT CAST(id AS UNSIGNED) AS id, ROW_NUMBER() OVER (ORDER BY seq) AS place FROM p_event_outbox) all_of_them WHERE id <> place"); wrong != 0 {
			t.Errorf("%d events are not in the place in which they were inserted", wrong)
		}
	})
}

// Plain SQL is taken where the client takes the same event, and nowhere else.
func TestPlainSQLIsHeldToWhatTheClientHolds(t *testing.T) {
	t.Parallel()
	names := []string{"", " ", "a", "a b", "a ", " a", "\t", "a\n", "\na", "a\x00b", "a\x7f", "a\u0085b", "ü", "日本", "\U0001F600", "a\u00a0", "a\u2028b", "a/b", "a%", "a'b", `a\`, strings.Repeat("ä", 128)}
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		r.Needs(t, rig.ColumnDefaults)
		db := r.AppAs("app-sql", time.Time{})
		takes := func(shard int, id, topic, key, generated, inserted string, bytes int) bool {
			_, err := db.Exec("INSERT INTO p_event_outbox (shard, id, topic, event_key, generated_at, payload, inserted_at) VALUES (?, ?, ?, ?, "+generated+", REPEAT('x', ?), "+inserted+")", shard, id, topic, key, bytes)
			if err != nil && !errno.Is(err, errno.CheckMariaDB, errno.CheckMySQL, 1366, 3988) {
				t.Errorf("%q: %v", id, err)
			}
			return err == nil
		}
		const now = "UTC_TIMESTAMP(6)"
		for _, name := range names {
			for _, e := range []event.Event{{ID: name, Topic: "t", Key: "k"}, {ID: "i", Topic: name, Key: "k"}, {ID: "i", Topic: "t", Key: name}} {
				got, want := takes(1, e.ID, e.Topic, e.Key, now, now, 1), e.Validate() == nil
				if got != want {
					t.Errorf("%+q: plain SQL is taken: %t; the client takes it: %t", e, got, want)
				}
			}
		}
		for name, got := range map[string]bool{
			"shard 64":           takes(64, "i", "t", "k", now, now, 1),
			"shard 255":          takes(255, "i", "t", "k", now, now, 1),
			"a long payload":     takes(1, "i", "t", "k", now, now, event.MaxPayload+1),
			"an early time":      takes(1, "i", "t", "k", "'0999-12-31'", now, 1),
			"an early insertion": takes(1, "i", "t", "k", now, "'0999-12-31'", 1),
		} {
			if got {
				t.Errorf("%s is taken", name)
			}
		}
		if !takes(63, "i", "t", "k", "'1000-01-01'", now, event.MaxPayload) {
			t.Error("what is just within the bounds is refused")
		}
		conn, err := db.Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		for _, statement := range []string{"INSERT INTO p_event_outbox (shard, id, topic, event_key, generated_at, inserted_at) VALUES (1, 'i', 't', 'k', '0000-00-00', UTC_TIMESTAMP(6))",
			"INSERT INTO p_event_outbox (shard, id, topic, event_key, generated_at, inserted_at) VALUES (1, 'i', 't', 'k', UTC_TIMESTAMP(6), '0000-00-00')",
			"INSERT INTO p_event_seen (consumer, id, seen_at) VALUES ('c', 'i', '0000-00-00')"} {
			_, err := conn.ExecContext(t.Context(), "SET SESSION sql_mode = ''")
			r.Must(err)
			if _, err := conn.ExecContext(t.Context(), statement); !errno.Is(err, errno.CheckMariaDB, errno.CheckMySQL) {
				t.Errorf("%s: %v", statement, err)
			}
		}
	})
}

// An id or a consumer that comparisons would take for another is not noted as that.
func TestOnceTellsIdsApartThatComparisonsDoNot(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		outbox := event.New(r.Client)
		for _, id := range []string{"e-1", "e-1 ", " e-1", "e-1\n", "e-1\x00"} {
			for i, want := range []bool{true, false} {
				first, err := outbox.Once(t.Context(), r.App, "mailer", id)
				if r.Must(err); first != want {
					t.Errorf("%q, time %d: first is %t", id, i+1, first)
				}
			}
		}
		if _, err := outbox.Once(t.Context(), r.App, "mailer ", "id"); err == nil {
			t.Error("a consumer's name that ends in a blank is taken")
		}
		if r.Dialect == text.Plain {
			return
		}
		for _, values := range []string{"('c', 'i ')", "(' c', 'i')", "('', 'i')", "('c', '')", "('c', 'i\n')"} {
			if _, err := r.AppAs("app-sql", time.Time{}).Exec("INSERT INTO p_event_seen (consumer, id, seen_at) VALUES " + strings.Replace(values, ")", ", UTC_TIMESTAMP(6))", 1)); !errno.Is(err, errno.CheckMariaDB, errno.CheckMySQL) {
				t.Errorf("%q: %v", values, err)
			}
		}
	})
}

// One that was set aside before the outbox had bounds costs itself alone, and is named.
func TestWhatTheOutboxRefusesIsNotResentAndNamed(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		r.Needs(t, rig.ColumnDefaults)
		outbox := event.New(r.Client)
		var rows []string
		var seqs []uint64
		for seq := range uint64(2*event.PerStatement + 7) {
			topic := "t"
			if seq == 3 || seq == 150 {
				topic = ""
			}
			rows = append(rows, fmt.Sprintf("(%d, 1, 'i%d', '%s', 'k', UTC_TIMESTAMP(6), '{}', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 'r')", seq+1, seq, topic))
			seqs = append(seqs, seq+1)
		}
		r.Exec("INSERT INTO p_event_set_aside (seq, shard, id, topic, event_key, generated_at, payload, inserted_at, refused_at, reason) VALUES " + strings.Join(rows, ","))
		n, err := outbox.Resend(t.Context(), r.As("operator", time.Time{}), seqs...)
		if want := len(seqs) - 2; n != want || r.Count("SELECT COUNT(*) FROM p_event_outbox") != want || r.Count("SELECT COUNT(*) FROM p_event_set_aside") != 2 {
			t.Errorf("%d were resent; want %d: %v", n, want, err)
		}
		rig.WantErr(t, "resent", err, prescient.ErrInvalid)
		if !rig.Contains(err, "event 4, ", "event 151, ") {
			t.Errorf("the error does not name them: %v", err)
		}
		if n, err := outbox.Drop(t.Context(), r.As("operator", time.Time{}), 4, 151); n != 2 || err != nil {
			t.Errorf("%d were dropped, %v", n, err)
		}
	})
}
