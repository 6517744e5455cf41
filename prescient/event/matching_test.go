package event_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/event"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
)

// What a filter matches is sent again a thousand at a time, what the tables refuse stays and stops nothing, and what is refused later is not met.
func TestAllThatAFilterMatchesAreSentAgainOrDropped(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		r.Needs(t, rig.ColumnDefaults)
		outbox := event.New(r.Client)
		const n = 2*event.MostMatching + 205
		rows := make([]string, 0, n)
		for seq := 1; seq <= n; seq++ {
			topic, at := "t", "11:00:00"
			switch {
			case seq == 7 || seq == 1500:
				topic = "" // as plain SQL wrote it before there were bounds
			case seq%2 == 0:
				topic = "other"
			case seq > n-4:
				at = "13:00:00"
			}
			rows = append(rows, fmt.Sprintf("(%d, 1, 'i%d', '%s', 'k', '2026-11-20', '{}', '2026-11-20', '2026-11-20 %s', 'r')", seq, seq, topic, at))
		}
		r.Exec("INSERT INTO p_event_set_aside (seq, shard, id, topic, event_key, generated_at, payload, inserted_at, refused_at, reason) VALUES " + strings.Join(rows, ","))
		db := r.As("operator", rig.At("12:00"))
		left := func(of string) int { return r.Count("SELECT COUNT(*) FROM p_event_set_aside WHERE " + of) }

		for _, wrong := range []event.Matching{{}, {Topic: "t", All: true}, {Topic: "größer"}, {ID: "\xff"}, {All: true, Until: time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)}} {
			if _, err := outbox.DropMatching(t.Context(), db, wrong); err == nil {
				t.Errorf("%+v was taken", wrong)
			} else {
				rig.WantErr(t, "wrong", err, prescient.ErrInvalid)
			}
			if _, err := outbox.CountMatching(t.Context(), db, wrong); err == nil {
				t.Errorf("%+v was counted", wrong)
			}
		}
		ofT := left("topic = 't' AND refused_at < '2026-11-20 12:00'")
		if is, err := outbox.CountMatching(t.Context(), db, event.Matching{Topic: "t"}); err != nil || is.Count != ofT || !is.Whole || !is.Until.Equal(rig.At("12:00")) {
			t.Errorf("%+v, %v; want %d", is, err, ofT)
		}
		did, err := outbox.ResendMatching(t.Context(), db, event.Matching{Topic: "t"})
		if err != nil || did.Count != event.MostMatching || did.Next == 0 {
			t.Fatalf("%+v, %v", did, err)
		}
		// It is refused again, under a number that comes later.
		r.Exec("INSERT INTO p_event_set_aside (seq, shard, id, topic, event_key, generated_at, payload, inserted_at, refused_at, reason) VALUES (90000, 1, 'i1', 't', 'k', '2026-11-20', '{}', '2026-11-20', '2026-11-20 12:00:01', 'r')")
		db = r.As("operator", rig.At("12:05"))
		did, err = outbox.ResendMatching(t.Context(), db, event.Matching{Topic: "t", After: did.Next, Until: did.Until})
		if err != nil || did.Count != ofT-event.MostMatching || did.Next != 0 {
			t.Errorf("%+v, %v", did, err)
		}
		if n := left("topic = 't' AND refused_at < '2026-11-20 12:00'"); n != 0 || left("id = 'i1'") != 1 || r.Count("SELECT COUNT(*) FROM p_event_outbox") != ofT {
			t.Errorf("%d are left", n)
		}

		// The rest, of all topics: two of them are refused.
		by, sent, refused := event.Matching{All: true}, 0, []string(nil)
		for {
			did, err := outbox.ResendMatching(t.Context(), db, by)
			r.Must(err)
			sent, refused = sent+did.Count, append(refused, did.Refused...)
			if by.After, by.Until = did.Next, did.Until; by.After == 0 {
				break
			}
		}
		if all := strings.Join(refused, " "); len(refused) != 2 || !strings.Contains(all, "event 7, ") || !strings.Contains(all, "event 1500, ") || sent == 0 {
			t.Errorf("%d are sent, %q", sent, refused)
		}
		if entries := r.Count("SELECT COUNT(*) FROM p_audit_log WHERE kind = 'event' AND verb = 'resend'"); entries != ofT+sent {
			t.Errorf("%d entries of the audit for %d events", entries, ofT+sent)
		}
		if did, err = outbox.DropMatching(t.Context(), db, event.Matching{ID: "i7"}); err != nil || did.Count != 1 || left("id = 'i7'") != 0 || left("id = 'i1500'") != 1 {
			t.Errorf("%+v, %v", did, err)
		}
	})
}
