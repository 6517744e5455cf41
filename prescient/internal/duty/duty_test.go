package duty_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"prescient/prescient/internal/duty"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

func eachServer(t *testing.T, test func(t *testing.T, r *app.Rig)) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, app.New(t, d, 15*time.Minute)) })
}

// eachFlavour is eachServer for what is neither plans nor locks.
func eachFlavour(t *testing.T, test func(t *testing.T, r *app.Rig)) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) { test(t, app.New(t, d, 15*time.Minute)) })
}

func TestOneAtATimeHasADuty(t *testing.T) {
	eachServer(t, func(t *testing.T, r *app.Rig) {
		tables := r.Tables()
		take := func(at, by string) *duty.Held {
			t.Helper()
			h, err := duty.Try(t.Context(), r.As("worker", rig.At(at)), tables, duty.Rollup, by, time.Minute)
			r.Must(err)
			return h
		}
		fence := func(h *duty.Held, at string) error {
			t.Helper()
			tx, err := r.As("worker", rig.At(at)).BeginTx(t.Context(), nil)
			r.Must(err)
			defer tx.Rollback()
			return h.Fence(t.Context(), tx)
		}
		a := take("13:00", "a")
		if a == nil || !a.Alive() {
			t.Fatal("nobody has it, and it was not to be had")
		}
		if take("13:00:30", "b") != nil {
			t.Error("two have it")
		}
		r.Must(a.Keep(t.Context()))
		r.Must(fence(a, "13:00:30"))
		b := take("13:01:00", "b")
		if b == nil {
			t.Fatal("a lease that is over was not to be had")
		}
		if err := fence(a, "13:01:00"); !errors.Is(err, duty.ErrLost) || a.Alive() {
			t.Errorf("the fence of the one before: %v", err)
		}
		if err := a.Keep(t.Context()); !errors.Is(err, duty.ErrLost) {
			t.Errorf("it is kept after it was lost: %v", err)
		}
		r.Must(a.Release(t.Context())) // is not its any more
		if take("13:01:10", "c") != nil {
			t.Error("who lost it gave it back")
		}
		r.Must(fence(b, "13:01:10"))
		r.Must(b.Release(t.Context()))
		c := take("13:01:11", "c")
		if c == nil {
			t.Fatal("what was given back was not to be had")
		}
		recall := func(want string) {
			t.Helper()
			if from, err := duty.Recall(t.Context(), r.As("serve-operator", rig.At("13:01:12")), tables, duty.Rollup); err != nil || from != want {
				t.Errorf("recalled from %q, %v; want %q", from, err, want)
			}
		}
		recall("c")
		recall("") // nobody has it any more
		if err := fence(c, "13:01:12"); !errors.Is(err, duty.ErrLost) {
			t.Errorf("from whom it was recalled has it: %v", err)
		}
		d := take("13:01:12", "d")
		if d == nil {
			t.Fatal("what was recalled was not to be had")
		}
		if by, err := duty.Holder(t.Context(), r.As("serve-viewer", rig.At("13:01:13")), tables, duty.Rollup); err != nil || by != "d" {
			t.Errorf("%q has it, %v", by, err)
		}
		if other, err := duty.Try(t.Context(), r.As("worker", rig.At("13:01:11")), tables, "other", "b", time.Minute); err != nil || other == nil {
			t.Errorf("another duty: %v, %v", other, err)
		}
	})
}

func TestADutyIsKeptForAnotherTerm(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *app.Rig) {
		h, err := duty.Try(t.Context(), r.As("worker", time.Time{}), r.Tables(), duty.Rollup, "a", time.Minute)
		r.Must(err)
		r.Exec("UPDATE p_duty SET allocated_until = '2026-11-20'")
		r.Must(h.Keep(t.Context()))
		if r.Count("SELECT COUNT(*) FROM p_duty WHERE allocated_until = '2026-11-20'") != 1 {
			t.Error("it was renewed before a third of its term was over")
		}
		h.Renewed(time.Now().Add(-21 * time.Second))
		r.Must(h.Keep(t.Context()))
		if r.Count("SELECT COUNT(*) FROM p_duty WHERE allocated_until > UTC_TIMESTAMP(6) + INTERVAL 50 SECOND") != 1 {
			t.Error("it was not renewed")
		}
	})
}

func TestOneOfManyTakesADutyThatNobodyEverHad(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *app.Rig) {
		db, tables := r.As("worker", time.Time{}), r.Tables()
		took := make(chan bool)
		const many = 8
		for range many {
			go func() {
				h, err := duty.Try(context.WithoutCancel(t.Context()), db, tables, duty.Rollup, "w", time.Minute)
				took <- err == nil && h != nil
			}()
		}
		have := 0
		for range many {
			if <-took {
				have++
			}
		}
		if have != 1 {
			t.Errorf("%d have it", have)
		}
	})
}

func TestNoStatementOfADutyScans(t *testing.T) {
	eachServer(t, func(t *testing.T, r *app.Rig) {
		r.Needs(t, rig.ReadPlans)
		r.Exec("INSERT INTO p_duty (name, token, worker) VALUES ('rollup', 1, 'a'), ('other', 1, 'a')")
		conn, err := r.As("worker", time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		s := r.Tables().Stmt
		byName := map[string]string{"p_duty": "PRIMARY 34"}
		rig.CheckPlans(t, conn, []rig.Explained{
			{Statement: "duty/find", Query: s.Get("duty/find"), Args: []any{"rollup"}, Reached: byName},
			{Statement: "duty/first", Query: s.Get("duty/first"), Args: []any{"third", 1, "a", 1}},
			{Statement: "duty/take", Query: s.Get("duty/take"), Args: []any{1, "a", 1, "rollup", 1}, Reached: byName},
			{Statement: "duty/keep", Query: s.Get("duty/keep"), Args: []any{1, "rollup", 1}, Reached: byName},
			{Statement: "duty/fence", Query: s.Get("duty/fence"), Args: []any{"rollup", 1}, Reached: byName},
			{Statement: "duty/give_back", Query: s.Get("duty/give_back"), Args: []any{"rollup", 1}, Reached: byName},
			{Statement: "duty/holder", Query: s.Get("duty/holder"), Args: []any{"rollup"}, Reached: byName},
			{Statement: "duty/recall", Query: s.Get("duty/recall"), Args: []any{"rollup"}, Reached: byName},
		}, s, []string{"duty"})
	})
}
