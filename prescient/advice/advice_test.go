package advice

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/advice/estimate"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/internal/store"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// history writes checks that were inserted at 05:00, a second apart: they are called at 06:00 and then hourly until done.
func history(r *whole.Rig, tables store.Tables, jobExec string, of []prescient.Outcome, n int) {
	r.T.Helper()
	var ends []byte
	var pending []string
	for i := range n {
		inserted := rig.At("05:00").Add(time.Duration(i) * time.Second)
		answers := i % 3
		slot := rig.At("06:00").Add(time.Duration(answers) * time.Hour)
		job := prescient.FutureJob{EntityName: "order", EntityKey: fmt.Sprint(i), JobExec: jobExec, DueAt: slot, FirstCheckAt: rig.At("06:00"), NextCheckAt: slot, CheckCount: answers, InsertedAt: inserted, Revision: uint64(i + 1)}
		end := store.End{Job: job, Key: job.Key(), Outcome: of[i%len(of)], Started: slot.Add(time.Second), Ended: slot.Add(2 * time.Second), Worker: "w"}
		switch end.Outcome {
		case "":
			pending = append(pending, fmt.Sprintf("('order', '%d', '%s', '', X'%s', '%[4]s', '2026-11-20 06:00', '%[4]s', %d, '%s', 1)", i, jobExec, job.Key(), slot.Format("2006-01-02 15:04:05"), answers, inserted.Format("2006-01-02 15:04:05")))
			continue
		case prescient.Cancelled:
			end.Started = time.Time{}
		}
		if len(ends) > 0 {
			ends = append(ends, ',')
		}
		ends = store.AppendEnd(ends, end)
	}
	r.Exec(tables.Fill("slotrun/history_insert", "{rows}", string(ends)))
	if len(pending) > 0 {
		r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, tag, job_key, due_at, first_check_at, next_check_at, check_count, inserted_at, revision) VALUES " + strings.Join(pending, ","))
	}
}

func TestAdviceIsReadFromHistoryAndWhatIsPending(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := whole.New(t, d, 15*time.Minute)
		db := r.As("operator", rig.At("12:00"))
		o := Options{Prefix: "p_", Dialect: r.Setting}
		tables, err := store.OpenTables(t.Context(), r.Pool(time.Time{}), "p_", 0, r.Setting)
		r.Must(err)
		history(r, tables, "order-unshipped", []prescient.Outcome{prescient.Done}, 600)
		history(r, tables, "order-unpaid", []prescient.Outcome{prescient.Done, prescient.Done, prescient.Cancelled, "", prescient.MaxChecks}, 400)
		got, err := Read(t.Context(), db, o, rig.At("05:00"), rig.At("12:00"))
		r.Must(err)
		if got.Share != 1 || got.Ends != 920 || got.Pending != 80 || len(got.Groups) != 2 || got.SlotSeconds != 900 {
			t.Fatalf("%+v", got)
		}
		unshipped, unpaid := got.Groups[0], got.Groups[1]
		if unshipped.JobExec != "order-unshipped" || unshipped.Entity != "order" || unshipped.Found != 600 || unshipped.Curve == nil || unshipped.Curve.FirstSeconds < 3000 {
			t.Errorf("%+v", unshipped)
		}
		if unpaid.Found != 160 || unpaid.Reported != 80 || unpaid.AtGuard != 80 || unpaid.Ended != 320 || unpaid.Checks <= 320 || unpaid.Checks >= 400 {
			t.Errorf("%+v", unpaid) // of what is pending and was not called nothing is known
		}

		// A third each is settled by 06:00, 07:00 and 08:00.
		for age, want := range map[time.Duration]float64{time.Hour: 1. / 3, 2 * time.Hour: 2. / 3, 3 * time.Hour: 1} {
			if is, _ := unshipped.Curve.Happened(rig.At("05:00"), age); math.Abs(is-want) > 0.06 {
				t.Errorf("%v have happened after %s; want %v", is, age, want)
			}
		}

		o.JobExec, o.Entity, o.OtherCancels = "order-unpaid", "order", true
		got, err = Read(t.Context(), db, o, rig.At("05:00"), rig.At("12:00"))
		if r.Must(err); len(got.Groups) != 1 || got.Groups[0].Reported != 0 {
			t.Errorf("%+v", got)
		}
		o.JobExec, o.OtherCancels, o.Most = "", false, 300
		got, err = Read(t.Context(), db, o, rig.At("05:00"), rig.At("12:00"))
		if r.Must(err); got.Ends != 300 || got.Share < 0.2 || got.Share > 0.5 || got.Pending < 10 || got.Pending > 40 {
			t.Errorf("of 300 ends: %+v", got)
		}
		o.JobExec = "order-unpaid"
		got, err = Read(t.Context(), db, o, rig.At("05:00"), rig.At("12:00"))
		if r.Must(err); got.Groups[0].Ended != 300 || got.Ends < 800 { // of others there may be any number
			t.Errorf("of 300 ends of one of them: %+v", got)
		}
		got, err = Read(t.Context(), db, Options{Prefix: "p_", Dialect: r.Setting}, rig.At("05:08"), rig.At("12:00"))
		if r.Must(err); len(got.Groups) != 1 || got.Groups[0].Found != 120 {
			t.Errorf("inserted from 05:08 on: %+v", got)
		}
		if _, err := Read(t.Context(), db, o, rig.At("05:00"), rig.At("05:00")); !errors.Is(err, prescient.ErrInvalid) {
			t.Error(err)
		}
	})
}

func TestNoStatementOfAdviceScansATable(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r := whole.New(t, d, 15*time.Minute)
		r.Needs(t, rig.ReadPlans)
		f := r.Fill()
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		none, some := make([]byte, 16), append([]byte{0x80}, make([]byte, 15)...)
		ends, pending := f.Tables.Stmt.Get("advice/ends"), f.Tables.Stmt.Get("advice/pending")
		rig.CheckPlans(t, conn, []rig.Explained{
			{Statement: "advice/ends", Query: ends, Args: []any{some, lastKey[:], some, rig.At("04:05"), rig.At("04:00"), 100}, Reached: map[string]string{"p_job_history": "job_key 24", "job": "PRIMARY 32"}},
			{Statement: "advice/pending", Query: pending, Args: []any{some, lastKey[:], 100}, Reached: map[string]string{"p_future_job": "job_key 16"}},
		}, f.Tables.Stmt, []string{"advice"})
		for what, read := range map[string]int{
			"ends":    rig.Reads(t, conn, ends, none, lastKey[:], none, rig.At("04:05"), rig.At("04:00"), 100),
			"pending": rig.Reads(t, conn, pending, none, lastKey[:], 100),
		} {
			if read > 330 { // an entry of the index and the row, and one each of further partitions
				t.Errorf("a page of 100 %s reads %d entries", what, read)
			}
		}
	})
}

func TestAShareOfTheKeys(t *testing.T) {
	for _, test := range []struct {
		key  prescient.Key
		want float64
	}{{lastKey, 1}, {prescient.Key{0x80}, 0.5}, {prescient.Key{}, 0}, {before(prescient.Key{1}), 1. / 256}} {
		if got := shareOf(test.key); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%x: %v; want %v", test.key, got, test.want)
		}
	}
	if got := before(prescient.Key{1, 0, 0}); got[0] != 0 || got[15] != 0xff {
		t.Errorf("%x", got)
	}
	if some := spread(make([]estimate.Check, 107), 100); len(some) != 100 {
		t.Errorf("%d checks", len(some))
	}
}
