package stage

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/worker"
)

// planners is how many apps change schedules.
const planners = 2

// planner is an app that has schedules of its own, and changes its mind about them.
type planner struct {
	*app
	schedules *schedule.Schedules
	name      string
	most      int
	made      int
	known     []*planned
}

// planned is a schedule as its app knows it.
type planned struct {
	schedule.Schedule
	version int
	paused  bool
}

func (s *Stage) newPlanner(number uint64) *planner {
	return &planner{app: s.newApp(100 + number), schedules: s.Plans, name: fmt.Sprintf("p%d", number), most: s.Scenario.Load.Schedules / planners}
}

// plan makes schedules and changes them until ctx ends.
func (p *planner) plan(ctx context.Context) {
	for p.most > 0 && ctx.Err() == nil {
		wait := 700 * time.Millisecond
		if len(p.known) < p.most*3/4 {
			wait = 60 * time.Millisecond // at first
		}
		if len(p.known) < p.most {
			p.create()
		}
		if len(p.known) > p.most/2 {
			p.changeOne()
		}
		Pause(ctx, time.Duration(p.dice.Int64N(int64(2*wait))))
	}
}

// crontabs are as fine as the slots are, or nearly.
var crontabs = [][]string{{"* * * * * *"}, {"*/2 * * * * *"}, {"*/3 * * * * *"}, {"1-59/4 * * * * *"}, {"@every 1s"}, {"@every 2s"}, {"@every 3s"},
	{"@every 5s"}, {"*/5 * * * * *", "*/7 * * * * *"}, {"10-40 * * * * *", "@every 6s"}, {"* * * * *", "*/6 * * * * *"}, {"0 0 3 * * *", "@every 4s"}}

var zones = []string{"", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "America/Santiago"}

func oneOf[T any](dice *rand.Rand, list ...T) T { return list[dice.IntN(len(list))] }

// timeline gives a schedule another timeline.
func (p *planner) timeline(one *planned) {
	one.Crontabs, one.Zone, one.Jitter = oneOf(p.dice, crontabs...), oneOf(p.dice, zones...), oneOf(p.dice, 0, 0, 0, 3*time.Second)
}

// define gives a schedule another payload, other bounds for its long runs, and the next version.
func (p *planner) define(one *planned) {
	one.version++
	payload, err := json.Marshal(worker.Planned{Definition: fmt.Sprintf("%s, %d", one.ID, one.version), Fails: oneOf(p.dice, 0, 0, 0, 1),
		NapMS: oneOf(p.dice, 0, 0, 0, 100, 1500), Steps: oneOf(p.dice, 2, 4, 8, 16)})
	if err != nil {
		panic(err) // two numbers and a text
	}
	one.Payload = payload
	if one.Long {
		one.Tolerance, one.Quota = oneOf(p.dice, 0, 0, time.Second), oneOf(p.dice, 0, 0, schedule.NoQuota, 2*time.Second, 4*time.Second)
	}
}

func (p *planner) create() {
	p.made++
	one := &planned{Schedule: schedule.Schedule{ID: fmt.Sprintf("%s.%d", p.name, p.made), CatchUp: oneOf(p.dice, schedule.Once, schedule.Skip, schedule.All),
		CatchUpWithin: oneOf(p.dice, 0, 2*time.Second, 2*time.Second, 3*time.Second)}}
	switch p.dice.IntN(4) {
	case 0:
		one.JobExec = worker.RunExec
	case 1:
		one.JobExec, one.Long, one.Overlap = worker.LongRunExec, true, oneOf(p.dice, "", longrun.Forbid, longrun.Queue, longrun.Queue, longrun.Allow)
	default:
		one.Topic = "chaos"
	}
	p.timeline(one)
	p.define(one)
	result := p.change("create", one, func(ctx context.Context, tx *sql.Tx) error {
		_, err := p.schedules.Create(ctx, tx, one.Schedule)
		return err
	})
	if result == checker.Committed {
		p.known = append(p.known, one)
	}
}

// changeOne changes one of the schedules; where nobody can tell what came of it, it is left alone from then on.
func (p *planner) changeOne() {
	at := p.dice.IntN(len(p.known))
	one := *p.known[at]
	do, call := p.choose(&one)
	switch p.change(do, &one, call) {
	case checker.Committed:
		if p.known[at] = &one; do == "delete" {
			p.known = slices.Delete(p.known, at, at+1)
		}
	case checker.Unknown:
		p.known = slices.Delete(p.known, at, at+1)
	}
}

func (p *planner) choose(one *planned) (do string, call func(ctx context.Context, tx *sql.Tx) error) {
	switch n := p.dice.IntN(100); {
	case n < 15:
		return "delete", func(ctx context.Context, tx *sql.Tx) error {
			_, err := p.schedules.Delete(ctx, tx, one.ID)
			return err
		}
	case one.paused:
		one.paused = false
		return "resume", func(ctx context.Context, tx *sql.Tx) error { _, err := p.schedules.Resume(ctx, tx, one.ID); return err }
	case n < 35:
		one.paused = true
		return "pause", func(ctx context.Context, tx *sql.Tx) error { _, err := p.schedules.Pause(ctx, tx, one.ID); return err }
	case n < 60:
		p.timeline(one)
	}
	p.define(one)
	return "update", func(ctx context.Context, tx *sql.Tx) error {
		_, err := p.schedules.Update(ctx, tx, one.Schedule)
		return err
	}
}

var errEnded = errors.New("the connection was killed")

// change changes a schedule in a transaction, notes what became of it, and returns that. Some transactions are rolled back, and
// the connections of some are killed.
func (p *planner) change(do string, one *planned, call func(ctx context.Context, tx *sql.Tx) error) checker.Result {
	end := p.dice.IntN(100)
	c := &checker.Change{Do: do}
	if do == "create" || do == "update" {
		c.Definition = &checker.Definition{Crontabs: one.Crontabs, Zone: one.Zone, Jitter: one.Jitter, Topic: one.Topic,
			CatchUp: string(one.CatchUp), Within: one.CatchUpWithin, Payload: string(one.Payload),
			Overlap: string(one.Overlap), Tolerance: one.Tolerance, Quota: one.Quota}
		if c.Definition.Within == 0 {
			c.Definition.Within = time.Minute
		}
	}
	result, began := p.transact(end < 6, 0, func(ctx context.Context, tx *sql.Tx) error {
		passedOver := func(n *int) error {
			return tx.QueryRowContext(ctx, "SELECT COALESCE(passed_over, 0) FROM "+Prefix+"schedule WHERE "+p.at(one.ID)+" FOR UPDATE").Scan(n)
		}
		if do != "create" { // the row is locked, so that this is what its timer did in all
			if err := passedOver(&c.PassedOver); err != nil {
				return err
			}
		}
		if err := call(ctx, tx); err != nil {
			return err
		}
		switch do { // which does what its timer had to do yet
		case "pause":
			if err := passedOver(&c.PassedOver); err != nil {
				return err
			}
		case "update":
			if err := passedOver(&c.PassedBy); err != nil {
				return err
			}
			c.PassedBy -= c.PassedOver
		}
		if do != "delete" {
			if err := p.read(ctx, tx, one.ID, c); err != nil {
				return err
			}
		}
		if end >= 6 && end < 10 {
			if p.sharded { // vtgate has no KILL
				return errEnded
			}
			_, _ = tx.ExecContext(ctx, "KILL CONNECTION_ID()") // it says that it was killed
			return errEnded
		}
		return nil
	})
	p.journal.NoteSince(began, checker.Event{Kind: checker.Plan, Key: one.ID, Result: result, Change: c})
	return result
}

// at names a schedule, and where it lies on a sharded keyspace.
func (p *planner) at(id string) string {
	place := prescient.Entity{Name: prescient.ScheduleEntity, Key: id}.KeyspaceID()
	if p.sharded {
		return fmt.Sprintf("place = X'%X' AND id = '%s'", place[:], id)
	}
	return "id = '" + id + "'"
}

// read reads in a change's transaction what it comes to.
func (p *planner) read(ctx context.Context, tx *sql.Tx, id string, c *checker.Change) error {
	const layout = "2006-01-02 15:04:05.999999"
	var created, updated, first string
	if err := tx.QueryRowContext(ctx, "SELECT version, created_at, COALESCE(updated_at, created_at) FROM "+Prefix+"schedule WHERE "+p.at(id)).Scan(&c.Version, &created, &updated); err != nil {
		return err
	}
	key := prescient.KeyOf(prescient.Entity{Name: prescient.ScheduleEntity, Key: id}, schedule.TimerExec, "")
	// A plain read may also see the row as it was before another moved it.
	err := tx.QueryRowContext(ctx, "SELECT due_at FROM "+Prefix+"future_job WHERE job_key = ? FOR UPDATE", key[:]).Scan(&first)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	for at, text := range map[*time.Time]string{&c.CreatedAt: created, &c.UpdatedAt: updated, &c.First: first} {
		if text == "" {
			continue // it has no timer
		}
		if *at, err = time.Parse(layout, text); err != nil {
			return err
		}
	}
	return nil
}
