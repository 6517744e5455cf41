package delayq

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	text "prescient/sql"
)

func TestDataIsReadyInTheSlotOfItsTimeAndInTheNextOpenOneWhereThatIsOver(t *testing.T) {
	now := at("13:07:00")
	years := now.AddDate(9, 0, 0)
	eachFlavour(t, 15*time.Minute, func(t *testing.T, r *rig) {
		for _, test := range []struct {
			name             string
			now, ready, slot time.Time
		}{
			{"ahead", now, at("14:01"), at("14:15")},
			{"on a slot", now, at("14:15"), at("14:15")},
			{"a nanosecond after a slot", now, at("14:15").Add(1), at("14:30")},
			{"in another zone", now, at("14:01").In(time.FixedZone("", -8*3600)), at("14:15")},
			{"before the next slot", now, at("13:07:00.000001"), at("13:15")},
			{"now", now, now, at("13:15")},
			{"now, on a slot", at("13:15"), at("13:15"), at("13:30")},
			{"over", now, at("13:06:59"), at("13:15")},
			{"over for a year", now, now.AddDate(-1, 0, 0), at("13:15")},
			{"the zero time", now, time.Time{}, at("13:15")},
			{"beyond the horizon of other checks", now, years, years.Truncate(15 * time.Minute).Add(15 * time.Minute)},
		} {
			r.delay("mails", test.now, test.ready, "x")
			job := r.one()
			if !job.NextCheckAt.Equal(test.slot) || job.NextCheckAt.Before(test.ready) || job.JobExec != "mails" || job.ExpiresAt != nil {
				t.Errorf("%s: %+v; want slot %s", test.name, job, test.slot)
			}
			r.exec("DELETE FROM p_future_job")
		}
	})
}

func TestDelayIsDelayContextWithoutAnID(t *testing.T) {
	eachFlavour(t, 15*time.Minute, func(t *testing.T, r *rig) {
		q := r.queue("app", at("13:07"), Options{})
		r.must(q.Delay(at("14:00"), []byte("hello")))
		job := r.one()
		item, err := ItemOf(job)
		if err != nil || string(item.Data) != "hello" || job.EntityName != "delayq" || job.JobExec != "delayq" || item.ID != job.EntityKey {
			t.Errorf("%+v, %v", job, err)
		}
	})
}

func TestDataThatCannotBeDelayedIsRefusedWithNothingWritten(t *testing.T) {
	eachFlavour(t, 15*time.Minute, func(t *testing.T, r *rig) {
		q := r.app("mails", at("13:07"))
		_, long := q.DelayContext(t.Context(), at("14:00"), make([]byte, MaxData+1))
		_, far := q.DelayContext(t.Context(), at("13:07").Add(prescient.MaxHorizon+time.Second), nil)
		if !errors.Is(long, prescient.ErrInvalid) || !strings.HasPrefix(long.Error(), "delayq mails: ") {
			t.Errorf("too long: %v", long)
		}
		if !errors.Is(far, prescient.ErrBeyondHorizon) {
			t.Errorf("too far ahead: %v", far)
		}
		if rows := r.pending(); len(rows) > 0 {
			t.Errorf("pending: %+v", rows)
		}
	})
}

func TestTheLongestDataComesBackAsItIs(t *testing.T) {
	eachFlavour(t, 15*time.Minute, func(t *testing.T, r *rig) {
		random := rand.NewChaCha8([32]byte{42})
		var sent, got [][]byte
		for _, n := range []int{0, 1, 2, 1 << 10, MaxData} {
			data := make([]byte, n)
			_, _ = random.Read(data)
			sent = append(sent, data)
			_, err := r.app("mails", at("13:07")).DelayContext(t.Context(), at("13:10"), data)
			r.must(err)
		}
		r.run(at("13:15"), r.handles(func(_ string, item Item) error {
			got = append(got, item.Data)
			return nil
		}, Options{Name: "mails", Concurrency: 1}))
		for _, data := range sent {
			found := false
			for _, one := range got {
				found = found || bytes.Equal(one, data)
			}
			if !found || len(got) != len(sent) {
				t.Errorf("the data of %d bytes is not among the %d that came", len(data), len(got))
			}
		}
		if ended := r.ended(); len(ended) != len(sent) || ended[0].Outcome != prescient.Done {
			t.Errorf("ended: %d", len(ended))
		}
	})
}

func TestARolledBackTransactionDelaysNothing(t *testing.T) {
	eachFlavour(t, 15*time.Minute, func(t *testing.T, r *rig) {
		q := r.app("mails", at("13:07"))
		tx, err := r.pool("app", at("13:07")).BeginTx(t.Context(), nil)
		r.must(err)
		if _, err := q.DelayTx(t.Context(), tx, at("14:00"), []byte("never")); err != nil {
			t.Fatal(err)
		}
		r.must(tx.Rollback())
		if rows := r.pending(); len(rows) > 0 {
			t.Fatalf("pending after the rollback: %+v", rows)
		}

		txx, err := r.pool("app", at("13:07")).BeginTxx(t.Context(), nil)
		r.must(err)
		id, err := q.DelayTx(t.Context(), txx, at("14:00"), []byte("once"))
		r.must(err)
		if rows := r.pending(); len(rows) > 0 {
			t.Fatalf("pending before the commit: %+v", rows)
		}
		r.must(txx.Commit())
		if job := r.one(); job.EntityKey != id {
			t.Errorf("pending: %+v; want %s", job, id)
		}
	})
}

func TestCancelTakesBackWhatWasDelayedUnderAnID(t *testing.T) {
	eachFlavour(t, 15*time.Minute, func(t *testing.T, r *rig) {
		first := r.delay("mails", at("13:07"), at("14:00"), "first")
		second := r.delay("mails", at("13:07"), at("14:00"), "second")
		cancels := func(name, id string, want bool) {
			t.Helper()
			if got, err := r.app(name, at("13:08")).Cancel(t.Context(), id); err != nil || got != want {
				t.Errorf("%s cancelled %s: %t, %v; want %t", name, id, got, err, want)
			}
		}
		cancels("news", first, false) // another queue's
		cancels("mails", newID(time.Now()), false)
		cancels("mails", first, true)
		cancels("mails", first, false)
		if job := r.one(); job.EntityKey != second {
			t.Errorf("pending: %+v; want %s", job, second)
		}
		if ended := r.ended(); len(ended) != 1 || ended[0].EntityKey != first || ended[0].Outcome != prescient.Cancelled {
			t.Errorf("ended: %+v", ended)
		}
		if _, err := r.app("mails", at("13:08")).Cancel(t.Context(), ""); !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("no id: %v", err)
		}

		tx, err := r.pool("app", at("13:08")).BeginTx(t.Context(), nil)
		r.must(err)
		if got, err := r.app("mails", at("13:08")).CancelTx(t.Context(), tx, second); err != nil || !got {
			t.Errorf("in a transaction: %t, %v", got, err)
		}
		r.must(tx.Rollback())
		var called []string
		r.run(at("14:00"), r.handles(func(_ string, item Item) error {
			called = append(called, string(item.Data))
			return nil
		}, Options{Name: "mails"}))
		if strings.Join(called, " ") != "second" {
			t.Errorf("called with %q; want what was not cancelled", called)
		}
		cancels("mails", second, false) // it is done
	})
}

// The answer of a call that is under way counts for nothing once it is cancelled.
func TestACancelDuringTheCallWins(t *testing.T) {
	eachFlavour(t, 15*time.Minute, func(t *testing.T, r *rig) {
		id := r.delay("mails", at("13:07"), at("13:10"), "x")
		app, calls := r.app("mails", at("13:15")), 0
		r.run(at("13:15"), r.handles(func(string, Item) error {
			calls++
			if got, err := app.Cancel(t.Context(), id); err != nil || !got {
				t.Errorf("cancelled: %t, %v", got, err)
			}
			return errors.New("to be tried again")
		}, Options{Name: "mails"}))
		ended := r.ended()
		if len(r.pending()) > 0 || calls != 1 || len(ended) != 1 || ended[0].Outcome != prescient.Cancelled {
			t.Errorf("%d calls, pending %+v, ended %+v", calls, r.pending(), ended)
		}
	})
}

func TestPlainSQLCanDelay(t *testing.T) {
	eachFlavour(t, 15*time.Minute, func(t *testing.T, r *rig) {
		insert := "INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, payload) VALUES " +
			"('delayq', '7', 'mails', UTC_TIMESTAMP(6) - INTERVAL 1 HOUR, JSON_OBJECT('data', TO_BASE64(?)))"
		if r.setting.On(r.server) == text.Plain { // its tables fill in nothing
			insert = "INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, job_key, first_check_at, next_check_at, revision, inserted_at, payload) " +
				"SELECT 'delayq', '7', 'mails', slot, CONCAT(SUBSTRING(UNHEX(SHA2(CONCAT('delayq', UNHEX('00'), '7'), 256)), 1, 12), " +
				"SUBSTRING(UNHEX(SHA2(CONCAT('mails', UNHEX('00'), ''), 256)), 1, 4)), slot, slot, FLOOR(RAND() * 9e18), UTC_TIMESTAMP(6), " +
				"JSON_OBJECT('data', TO_BASE64(?)) FROM (SELECT TIMESTAMP'1970-01-01 00:00:00' + INTERVAL " +
				"(TIMESTAMPDIFF(SECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6)) DIV 900) * 900 SECOND AS slot) placed"
		}
		data := strings.Repeat("long enough for several lines ", 10)
		r.exec(insert, data)
		slot := r.one().NextCheckAt
		var got Item
		r.run(slot.Add(time.Second), r.handles(func(_ string, item Item) error {
			got = item
			return nil
		}, Options{Name: "mails"}))
		if got.ID != "7" || string(got.Data) != data {
			t.Errorf("called with %+v", got)
		}
	})
}
