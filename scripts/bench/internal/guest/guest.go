package guest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
	"prescient/scripts/bench/internal/slotrun"
)

// Section is the section.
var Section = rig.Section{
	Name: "guest",
	About: "what an app feels while a slot of 200,000 rows runs beside it, of job_execs that do nothing, by one worker and by three, each a process; on a " +
		"connection of its own each, without a pause: an UPDATE of an order by its primary key (plain), and a Cancel of a check " +
		"of that slot that was pending a moment before (cancel; where the run comes first, it waits for that). Only what is sent while the slot runs " +
		"is counted. Late: the slot is swept, 57 s after it came, while slots of 1,000 rows come every 30 s; the last row is after the sweep began, that of now " +
		"after its slot. Last row: how long after the slot its last bucket was finished. Largest transaction: of the slot run. With a replica: a second " +
		"server on the same processors, with its flavour's defaults; how long a small transaction took to get there, and how long after the slot run's " +
		"end the replica had all of it",
	Args: func(_ *rig.Bench, on page.Engine) []string {
		if on == page.MariaDB {
			return []string{"--log-bin=binlog"} // MySQL has one by default
		}
		return nil
	},
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) (err error) {
		if err := measure(ctx, b, s, nil); err != nil || !s.CanReplicate() {
			return err
		}
		replica, err := s.StartReplica(ctx, b)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, replica.Close()) }()
		return measure(ctx, b, s, replica)
	},
}

// guest is how a slot is run beside the app.
type guest struct {
	name    string
	workers int // none: nothing runs
	slotrun.Workload
}

// guests are the contestants.
func guests() []guest {
	list := []guest{{name: page.NoGuest}}
	for _, pace := range []struct {
		name string
		slotrun.Workload
	}{
		{"full", slotrun.Workload{Form: "one"}},
		{"default", slotrun.Workload{Form: "one", Needed: finishWithin}},
	} {
		list = append(list,
			guest{name: page.GuestName(pace.name, 1), workers: 1, Workload: pace.Workload},
			guest{name: page.GuestName(pace.name, 3), workers: 3, Workload: pace.Workload})
		pace.Late = lateBy
		list = append(list, guest{name: page.LateGuestName(pace.name), workers: 1, Workload: pace.Workload})
	}
	return list
}

const (
	// finishWithin is what a slot has by default where slots are 5 minutes apart, or more.
	finishWithin = 30 * time.Second
	resolution   = finishWithin                // of the section: a slot has no longer than until the next
	quietFor     = 10 * time.Second            // how long the app is watched where nothing runs
	lateBy       = resolution + 27*time.Second // of a worker that was away: what came before is overdue, and 3 s later the next slot comes
	ofNow        = 1000                        // rows of each slot that comes meanwhile
	slotsOfNow   = 20
)

// hosts is where guests are.
type hosts struct {
	*rig.Stage
	replica *rig.Replica // nil: without
	takes   time.Duration
}

// measure gives each its turns, in a database of its own with other rows pending.
func measure(ctx context.Context, b *rig.Bench, s *rig.Server, replica *rig.Replica) error {
	name := "guest"
	list := guests()
	if replica != nil {
		name, list = "guest_replica", list[1:]
	}
	h, err := install(ctx, b, s, name, replica)
	if err != nil {
		return err
	}
	if !b.Keep {
		defer h.Drop(ctx)
	}
	for round := 1; round <= b.Rounds; round++ {
		for _, g := range list {
			if replica != nil {
				g.name += ", with a replica"
			}
			if !b.Wants(g.name) {
				continue
			}
			if err := h.turn(ctx, b, g, round); err != nil {
				return fmt.Errorf("%s: %w", g.name, err)
			}
		}
	}
	return nil
}

// install makes a database with orders and other rows pending.
func install(ctx context.Context, b *rig.Bench, s *rig.Server, name string, replica *rig.Replica) (*hosts, error) {
	p, err := s.Install(ctx, name, resolution, false)
	if err != nil {
		return nil, err
	}
	if replica != nil {
		if err := p.FillThroughBinlog(); err != nil {
			return nil, err
		}
		if err := p.MakeBeats(ctx); err != nil {
			return nil, err
		}
	}
	due := b.Scaled(200_000)
	if err := p.MakeNumbers(ctx, due); err != nil {
		return nil, err
	}
	for _, query := range []string{
		"CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, placed_at DATETIME NOT NULL, shipped_at DATETIME(6) NULL, customer VARCHAR(100) NOT NULL)",
		"INSERT INTO orders SELECT n, UTC_TIMESTAMP(), NULL, REPEAT('x', 60) FROM bench_n",
	} {
		if _, err := p.Exec(ctx, query); err != nil {
			return nil, err
		}
	}
	h := &hosts{Stage: &rig.Stage{Place: p, Due: due}, replica: replica,
		takes: 200*time.Millisecond + time.Duration(due)*20*time.Microsecond}
	return h, h.Fill(ctx, 0, b.Scaled(300_000))
}

// empty takes away what the turn before left.
func (h *hosts) empty(ctx context.Context) error {
	for _, query := range []string{"DELETE FROM future_job WHERE next_check_at < UTC_DATE() + INTERVAL 2 DAY", "TRUNCATE TABLE job_history", "TRUNCATE TABLE slot_run"} {
		if _, err := h.Exec(ctx, query); err != nil {
			return err
		}
	}
	return h.settle(ctx)
}

// settle waits until the servers have nothing left to do.
func (h *hosts) settle(ctx context.Context) error {
	if h.replica != nil {
		if err := h.replica.Await(ctx); err != nil {
			return err
		}
	}
	return h.AwaitCalm(ctx)
}

// turn fills a slot that is to come, and lets the guest run it while the app works.
func (h *hosts) turn(ctx context.Context, b *rig.Bench, g guest, round int) (err error) {
	fill := rig.SlotFill{Every: resolution, Due: h.Due, Exec: strconv.Quote(rig.DueExec), Empty: h.empty, Settle: h.settle}
	if h.Slot, h.takes, err = fill.Fill(ctx, h.Place, h.takes); err != nil {
		return err
	}
	if g.Late > 0 {
		if err := h.fillNow(ctx); err != nil {
			return err
		}
	}
	begins := h.Slot.Add(g.Late)
	binlog, err := h.NewBinlog(ctx)
	if err != nil {
		return err
	}
	a, err := startApp(ctx, h.Stage, begins)
	if err != nil {
		return err
	}
	var beats *rig.Beats
	if h.replica != nil {
		beats = h.replica.StartBeats(ctx, h.Place)
	}
	g.Workload.DSN, g.Workload.Slot = h.DSN(h.Name), h.Slot
	if g.workers == 0 {
		err = rig.Pause(ctx, time.Until(h.Slot.Add(quietFor)))
	} else {
		_, err = slotrun.InChildren(ctx, g.Workload, g.workers)
	}
	if err := errors.Join(err, a.stop()); err != nil {
		return err
	}
	figures, ended := make(map[string]float64), h.Slot.Add(quietFor)
	if g.workers > 0 {
		if ended, err = h.ran(ctx, begins, figures); err != nil {
			return err
		}
		if err := h.check(ctx, a.cancelled); err != nil {
			return err
		}
		if g.Late > 0 {
			if err := h.ranNow(ctx, figures); err != nil {
				return err
			}
		}
		if err := h.inBinlog(ctx, binlog, figures); err != nil {
			return err
		}
	}
	a.felt(begins, ended, figures)
	if beats != nil {
		most, after, err := beats.Behind(begins, ended)
		if err != nil {
			return err
		}
		figures["replica behind s, most"], figures["replica has all s after"] = most.Seconds(), after.Seconds()
	}
	r := page.Record{Case: g.name, Round: round, Rows: h.Due, Figures: figures}
	b.Say("  %-52s %s", g.name, page.FiguresText(r.Figures))
	return b.Book.Add(r)
}

// ran reads in the ledger when the slot run ended that began at a time, and how fast it was.
func (h *hosts) ran(ctx context.Context, began time.Time, figures map[string]float64) (ended time.Time, err error) {
	var after, took float64
	err = h.App.QueryRowContext(ctx, `SELECT TIMESTAMPDIFF(MICROSECOND, ?, MAX(finished_at)) / 1e6,
		TIMESTAMPDIFF(MICROSECOND, MIN(started_at), MAX(finished_at)) / 1e6 FROM slot_run WHERE slot = ?`,
		began.Format(time.DateTime), h.Slot.Format(time.DateTime)).Scan(&after, &took)
	figures["last row s"], figures["rows/s"] = after, float64(h.Due)/took
	return began.Add(time.Duration(after * float64(time.Second))), err
}

// fillNow makes rows for the slots that come while the late one is swept.
func (h *hosts) fillNow(ctx context.Context) error {
	for i := 2; i < 2+slotsOfNow; i++ {
		if _, err := h.Exec(ctx, fmt.Sprintf("INSERT INTO future_job (entity_name, entity_key, job_exec, due_at) SELECT 'now%d', n, '%s', '%s' FROM bench_n WHERE n < %d",
			i, rig.DueExec, h.Slot.Add(time.Duration(i)*resolution).Format(time.DateTime), ofNow)); err != nil {
			return err
		}
	}
	return nil
}

// ranNow reads how long after their slots those ended that came meanwhile.
func (h *hosts) ranNow(ctx context.Context, figures map[string]float64) error {
	var slots int
	var after float64
	if err := h.App.QueryRowContext(ctx, `SELECT COUNT(DISTINCT slot), COALESCE(MAX(TIMESTAMPDIFF(MICROSECOND, slot, finished_at)), 0) / 1e6
		FROM slot_run JOIN job_history USING (slot) WHERE slot > ?`, h.Slot.Format(time.DateTime)).Scan(&slots, &after); err != nil {
		return err
	}
	figures["slots of now"], figures["last row of now s"] = float64(slots), after
	return nil
}

// check looks whether each row ended once, those that the app cancelled as cancelled.
func (h *hosts) check(ctx context.Context, cancelled int) error {
	var left, ended, ofApp int
	if err := h.App.QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM future_job WHERE next_check_at = ?),
		COUNT(*), COALESCE(SUM(outcome = 'cancelled'), 0) FROM job_history WHERE slot = ?`, h.Slot.Format(time.DateTime), h.Slot.Format(time.DateTime)).Scan(&left, &ended, &ofApp); err != nil {
		return err
	}
	if left != 0 || ended != h.Due || ofApp != cancelled {
		return fmt.Errorf("%d rows are left, %d ended, %d cancelled; want 0, %d, and %d", left, ended, ofApp, h.Due, cancelled)
	}
	return nil
}

// inBinlog adds what the slot run wrote to the binlog: the transactions that have its fence in them.
func (h *hosts) inBinlog(ctx context.Context, from string, figures map[string]float64) error {
	if from == "" {
		return nil
	}
	sizes, err := h.InBinlog(ctx, from, "slot_run")
	if err != nil {
		return err
	}
	if len(sizes) == 0 {
		return errors.New("the slot run is not in the binlog, row by row")
	}
	sum := 0
	for _, size := range sizes {
		sum += size
	}
	figures["binlog bytes a row"] = float64(sum) / float64(h.Due)
	figures["binlog kB, largest transaction"] = float64(slices.Max(sizes)) / 1000
	return nil
}
