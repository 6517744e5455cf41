package ops_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/ops"
)

func eachServer(t *testing.T, test func(t *testing.T, r *served.Rig)) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, served.New(t, d, 15*time.Minute)) })
}

// eachFlavour is eachServer on one server of each flavour, for what has nothing of its own at the same time: the release of a server has no
// part in that.
func eachFlavour(t *testing.T, test func(t *testing.T, r *served.Rig)) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) { test(t, served.New(t, d, 15*time.Minute)) })
}

func TestACheckIsInsertedSeenMovedAndCancelled(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		o, by := r.OpsAt(rig.At("10:00")), served.By(ops.Operator)
		by.Reason = "the customer asked"
		did, err := ops.InsertChecks.Do(t.Context(), o, by, ops.Inserting{Checks: []ops.NewCheck{served.Check("42", "ship", rig.At("13:01")), served.Check("43", "ship", rig.At("13:01"))}})
		r.Must(err)
		if len(did.Checks) != 2 || did.Checks[0].Did != "inserted" || !did.Checks[1].Slot.Equal(rig.At("13:15")) {
			t.Errorf("%+v", did)
		}
		one := ops.Check{Entity: "order/42", JobExec: "ship"}
		for _, role := range ops.Roles {
			got, err := ops.GetCheck.Do(t.Context(), o, served.By(role), one)
			r.Must(err)
			if sees := string(got.Payload) != ""; sees != role.May(ops.Operator) {
				t.Errorf("%s sees the payload: %t", role, sees)
			}
		}
		moved, err := ops.RescheduleCheck.Do(t.Context(), o, by, ops.Rescheduling{Check: one, DueAt: rig.At("15:00")})
		r.Must(err)
		if moved.Did != "rescheduled" || !moved.Slot.Equal(rig.At("15:00")) {
			t.Errorf("%+v", moved)
		}
		page, err := ops.ListPending.Do(t.Context(), o, served.By(ops.Viewer), ops.ListAsked{Paging: ops.Paging{Limit: 1}})
		r.Must(err)
		if len(page.Rows) != 1 || page.Rows[0].EntityKey != "43" || page.Next == "" {
			t.Errorf("%+v", page)
		}
		page, err = ops.ListPending.Do(t.Context(), o, served.By(ops.Viewer), ops.ListAsked{Paging: ops.Paging{Limit: 1, After: page.Next}})
		r.Must(err)
		if len(page.Rows) != 1 || page.Rows[0].EntityKey != "42" || page.Next != "" {
			t.Errorf("%+v", page)
		}
		n, err := ops.CancelChecks.Do(t.Context(), o, by, ops.Cancelling{Entity: "order/42"})
		r.Must(err)
		if n.Count != 1 {
			t.Errorf("%+v", n)
		}
		ended, err := ops.ListEnded.Do(t.Context(), o, served.By(ops.Viewer), ops.EndsAsked{ListAsked: ops.ListAsked{Narrowed: ops.Narrowed{Entity: "order/42"}, Paging: ops.Paging{Limit: 10}}})
		r.Must(err)
		if len(ended.Rows) != 1 || ended.Rows[0].Outcome != prescient.Cancelled || len(ended.Rows[0].Payload) > 0 {
			t.Errorf("%+v", ended)
		}
		_, err = ops.GetCheck.Do(t.Context(), o, by, one)
		if !errors.Is(err, prescient.ErrNotFound) {
			t.Errorf("%v", err)
		}
		log, err := audit.Open(t.Context(), r.Pool(time.Time{}), audit.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		entries, err := log.List(t.Context(), r.Pool(time.Time{}), audit.Filter{ID: audit.CheckID(rig.Order("42"), "ship", "")})
		r.Must(err)
		var verbs []string
		for _, e := range entries {
			if e.Person != "operator" || e.Reason != "the customer asked" || e.Host != "10.0.0.7" {
				t.Errorf("%+v", e)
			}
			verbs = append(verbs, e.Verb+" by "+e.Command)
		}
		slices.Sort(verbs) // they have one time
		if got := strings.Join(verbs, ", "); got != "cancel by checks.cancel, reschedule by checks.reschedule" {
			t.Error(got)
		}
	})
}

func TestARoleMayNotDoWhatAHigherOneIsNeededFor(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		for _, role := range []ops.Role{"", "nobody", ops.Viewer} {
			_, err := ops.CancelChecks.Do(t.Context(), r.Ops, ops.Caller{Name: "x", Role: role}, ops.Cancelling{Entity: "order/42"})
			if !errors.Is(err, ops.ErrForbidden) {
				t.Errorf("%q: %v", role, err)
			}
		}
	})
}

func TestAnIdempotencyKeyIsDoneOnce(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		o, by := r.Ops, served.By(ops.Operator)
		by.Key = "a-key"
		due := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
		asked := ops.Inserting{Checks: []ops.NewCheck{served.Check("42", "ship", due)}}
		insert := func(by ops.Caller, asked ops.Inserting) (string, error) {
			did, err := ops.InsertChecks.Do(t.Context(), o, by, asked)
			return fmt.Sprintf("%+v", did), err
		}
		first, err := insert(by, asked)
		r.Must(err)
		second, err := insert(by, asked)
		r.Must(err)
		if first != second || len(r.Pending()) != 1 {
			t.Errorf("%s, then %s", first, second)
		}
		// Another request by the same key, and the same key for another operation.
		if _, err := insert(by, ops.Inserting{Checks: []ops.NewCheck{served.Check("43", "ship", due)}}); !errors.Is(err, ops.ErrKeyUsed) {
			t.Error(err)
		}
		if _, err := ops.CancelChecks.Do(t.Context(), o, by, ops.Cancelling{Entity: "order/42"}); !errors.Is(err, ops.ErrKeyUsed) {
			t.Error(err)
		}
		// Another caller's key is another.
		admin := served.By(ops.Admin)
		admin.Key = by.Key
		if did, err := insert(admin, asked); err != nil || !strings.Contains(did, "kept") {
			t.Error(did, err)
		}
		// A deed that failed leaves its key free.
		by.Key = "another"
		if _, err := insert(by, ops.Inserting{Checks: []ops.NewCheck{served.Check("44", "ship", time.Time{})}}); !errors.Is(err, prescient.ErrInvalid) {
			t.Error(err)
		}
		_, err = insert(by, asked)
		r.Must(err)
		// After 24 hours it is free.
		r.Exec("UPDATE p_api_key SET at = at - INTERVAL 25 HOUR")
		by.Key = "a-key"
		if did, err := insert(by, asked); err != nil || !strings.Contains(did, "kept") {
			t.Error(did, err)
		}
		for _, bad := range []string{"with a blank", "é", strings.Repeat("x", 129)} {
			by.Key = bad
			if _, err := insert(by, asked); !errors.Is(err, prescient.ErrInvalid) {
				t.Errorf("%q: %v", bad, err)
			}
		}
	})
}

func TestAKeyThatIsUnderWayIsToldAtOnce(t *testing.T) {
	eachServer(t, func(t *testing.T, r *served.Rig) {
		tx, err := r.As("serve-operator", time.Time{}).BeginTxx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		by := served.By(ops.Operator)
		by.Key = "k"
		_, err = tx.ExecContext(t.Context(), "INSERT INTO p_api_key (token, idempotency_key, operation, body, at) VALUES (?, 'k', 'x', REPEAT('x', 32), UTC_TIMESTAMP(6))", by.Token)
		r.Must(err)
		began := time.Now()
		_, err = ops.CancelChecks.Do(t.Context(), r.Ops, by, ops.Cancelling{Entity: "order/42"})
		if !errors.Is(err, ops.ErrUnderWay) || time.Since(began) > 10*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// Ten at once with one key: one does it, and the others either get its answer or are told that it is under way.
func TestOfManyWithOneKeyOneIsDone(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		by := served.By(ops.Operator)
		by.Key = "k"
		asked := ops.Inserting{Checks: []ops.NewCheck{served.Check("42", "ship", time.Now().Add(time.Hour).UTC())}}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				did, err := ops.InsertChecks.Do(t.Context(), r.Ops, by, asked)
				if err == nil && did.Checks[0].Did != "inserted" || err != nil && !errors.Is(err, ops.ErrUnderWay) {
					t.Errorf("%+v, %v", did, err)
				}
			})
		}
		wg.Wait()
		if n := r.Count("SELECT COUNT(*) FROM p_api_key"); n != 1 || len(r.Pending()) != 1 {
			t.Errorf("%d keys, %d checks", n, len(r.Pending()))
		}
	})
}

// Who sees payloads gets fewer rows where these are long, and all of them by the cursor.
func TestAPageIsBoundedByItsLength(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		o := r.OpsAt(rig.At("10:00"))
		long := []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
		for i := range 24 {
			job := prescient.NewJob{Entity: rig.Order("42"), JobExec: "ship", Tag: fmt.Sprintf("%02d", i), DueAt: rig.At("13:01")}
			if i < 12 {
				job.Payload = long
			}
			_, err := r.Client.Insert(t.Context(), r.AppAt(rig.At("10:00")), job)
			r.Must(err)
		}
		for _, role := range []ops.Role{ops.Viewer, ops.Operator} {
			seen, pages := make(map[string]bool), 0
			for asked := (ops.ListAsked{Paging: ops.Paging{Limit: 1000}}); ; pages++ {
				page, err := ops.ListPending.Do(t.Context(), o, served.By(role), asked)
				r.Must(err)
				size := 0
				for _, row := range page.Rows {
					seen[row.Tag], size = true, size+len(row.Payload)
				}
				if size > 10*len(long) {
					t.Errorf("%s: a page of %d bytes", role, size)
				}
				if asked.After = page.Next; page.Next == "" {
					break
				}
			}
			if many := pages > 0; len(seen) != 24 || pages > 11 || many != role.May(ops.Operator) {
				t.Errorf("%s: %d rows in %d pages", role, len(seen), pages+1)
			}
		}
		_, err := r.Client.Cancel(t.Context(), r.AppAt(rig.At("10:00")), rig.Order("42"))
		r.Must(err)
		life, err := ops.GetLife.Do(t.Context(), o, served.By(ops.Operator), ops.LifeAsked{Entity: "order/42", Limit: 100})
		r.Must(err)
		if len(life.Pending) != 0 || life.PendingMore || len(life.Ended) == 0 || len(life.Ended) > 23 || life.EndedNext == "" {
			t.Errorf("%d ended, next %s", len(life.Ended), life.EndedNext)
		}
	})
}
