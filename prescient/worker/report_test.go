package worker

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/books"
)

func TestAnyFigureMakesASlotNotIdle(t *testing.T) {
	if !(books.Figures{Slot: rig.At("13:15"), Took: time.Second, Lateness: time.Second}).Idle() {
		t.Error("nothing was done")
	}
	for _, at := range reflect.VisibleFields(reflect.TypeFor[books.Figures]()) {
		if at.Type.Kind() != reflect.Int {
			continue
		}
		var f books.Figures
		reflect.ValueOf(&f).Elem().FieldByIndex(at.Index).SetInt(1)
		if f.Idle() {
			t.Errorf("%s is not seen", at.Name)
		}
	}
}

func TestAnHourOfSlotsIsSummedUpByItsFirstSuccessor(t *testing.T) {
	var h hourSum
	served := func(from string, n int, every time.Duration, figures books.Figures) (over []slotSum) {
		for i := range n {
			slot := rig.At(from).Add(time.Duration(i) * every)
			if sum := h.begin(slot); sum.slots > 0 {
				over = append(over, sum)
			}
			figures.Slot = slot
			h.add(figures)
		}
		return over
	}
	busy := books.Figures{Counts: books.Counts{Done: 2, Moved: 1}, Troubles: []books.Trouble{{Kind: books.TroubleError, Rows: 1},
		{Kind: books.TroubleTimeout, Rows: 2}, {Kind: books.TroublePanic, Rows: 3}, {Kind: books.TroubleUnregistered, Rows: 4}, {Kind: "max_checks", Rows: 5}, {Kind: books.TroublePutOff, Rows: 6}}}
	if over := served("12:59:58", 2, time.Second, books.Figures{}); over != nil {
		t.Errorf("within the hour: %+v", over)
	}
	want := []slotSum{{since: rig.At("12:59:58"), last: rig.At("12:59:59"), slots: 2, empty: 2}}
	if over := served("13:00:00", 3600, time.Second, books.Figures{}); !reflect.DeepEqual(over, want) {
		t.Errorf("%+v; want %+v", over, want)
	}
	want = []slotSum{{since: rig.At("13:00:00"), last: rig.At("13:59:59"), slots: 3600, empty: 3600}}
	if over := served("14:00:00", 2, 15*time.Minute, busy); !reflect.DeepEqual(over, want) {
		t.Errorf("%+v; want %+v", over, want)
	}
	// The clock is set back.
	want = []slotSum{{since: rig.At("14:00"), last: rig.At("14:15"), slots: 2, rows: 6, errors: 2, timeouts: 4, panics: 6, unregistered: 8, unsettled: 22}}
	over := served("09:30", 2, 15*time.Minute, books.Figures{Paused: true})
	if !reflect.DeepEqual(over, want) {
		t.Errorf("%+v; want %+v", over, want)
	}
	var log lines
	logger := zerolog.New(&log)
	logger.Log().EmbedObject(over[0]).Send()
	if log.count(`"rows":6,"errors":2,"timeouts":4,"panics":6,"unregistered":8,"unsettled":22}`) != 1 {
		t.Errorf("the line of these: %s", log.all())
	}
	if end, want := h.end(), (slotSum{since: rig.At("09:30"), last: rig.At("09:45"), slots: 2, paused: 2}); end != want {
		t.Errorf("%+v; want %+v", end, want)
	}
	if h.add(books.Figures{Paused: true}) || h.add(books.Figures{}) || !h.add(busy) || !new(hourSum).add(books.Figures{Paused: true}) {
		t.Error("what is worth a line: something was done, or the first that is paused")
	}
}

// A worker that stays up has no line at info for a slot that is empty, but one for all of them.
func TestEmptySlotsAreLoggedAtDebugAndSummedUp(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		var log lines
		execs := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		w := r.worker(time.Time{}, execs, Options{Log: zerolog.New(&log).Level(zerolog.DebugLevel), Sweep: Sweep{Every: -1}})
		stop := r.startWork(w)
		empty := func() int { return log.count(`{"level":"debug","slot":`) }
		r.Eventually("empty slots are served", func() bool { return empty() >= 2 })
		now, err := w.Now(t.Context())
		r.Must(err)
		_, err = r.Client.Insert(t.Context(), r.App, prescient.NewJob{Entity: rig.Order("1"), JobExec: "check", DueAt: now})
		r.Must(err)
		r.Eventually("one that is not", func() bool { return log.count(`{"level":"info","slot":`) == 1 })
		r.Must(stop())
		if n := log.count(`"rows":0`); n != empty() {
			t.Errorf("%d empty slots, %d of them at debug: %s", n, empty(), log.all())
		}
		sums := log.count(`"message":"slots served"`) // two where an hour begins meanwhile
		if want := fmt.Sprintf(`"slots":%d,"empty":%d,"rows":1,"message":"slots served"`, empty()+1, empty()); sums == 1 && log.count(want) != 1 || sums < 1 || sums > 2 {
			t.Errorf("no %s in %s", want, log.all())
		}
	})
}

// What is returned is not logged as well.
func TestAnErrorIsReturnedOrLogged(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		var log lines
		w := r.worker(rig.At("13:15:01"), prescient.NewRegistry(), Options{Log: zerolog.New(&log).Level(zerolog.InfoLevel), Sweep: Sweep{Every: -1}})
		r.Insert(rig.At("12:30"), prescient.NewJob{Entity: rig.Order("1"), JobExec: "check", DueAt: rig.At("13:00")})
		r.Insert(rig.At("12:30"), prescient.NewJob{Entity: rig.Order("1"), JobExec: "other", DueAt: rig.At("13:15")})
		r.Exec("UPDATE p_slot_config SET version = version + 1")
		_, run := w.Run(t.Context())
		_, sweep := w.Sweep(t.Context())
		for what, err := range map[string]error{"Run": run, "Sweep": sweep, "Work": w.Work(t.Context())} {
			rig.WantErr(t, what, err, prescient.ErrConfigChanged)
			if rig.Contains(err, "1970") {
				t.Errorf("%s names a slot that there is not: %v", what, err)
			}
		}
		if log.all() != "" {
			t.Errorf("logged as well: %s", log.all())
		}
	})
}

func TestThatTheClockCannotBeReadNamesNoSlot(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		w := r.worker(rig.At("13:15:01"), prescient.NewRegistry(), Options{Times: Times{Patience: time.Millisecond}})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, now := w.Now(ctx)
		_, sweep := w.Sweep(ctx)
		for what, err := range map[string]error{"Now": now, "Sweep": sweep, "Work": w.Work(ctx)} {
			if err == nil || !strings.HasPrefix(err.Error(), "reading the database's clock: ") {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}
