package campaign

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"prescient/prescient/schedule"
	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/checker/evidence"

	"prescient/scripts/chaos/stage"
)

// outsiders are the scenarios in which those who may do little do all that they may: nobody else is to notice.
func outsiders() []stage.Scenario {
	return []stage.Scenario{
		{Name: "open-schedules", About: "apps hold schedules in open transactions for up to 8 s: by a run, a create, a change, a lock", Faults: holdSchedules,
			Rules: func(r *checker.Rules) { r.MaxLate = 14 * time.Second }},
		{Name: "read-lock", About: "a backup has a global read lock for 3 s, over slots, again and again", Own: true, Faults: lockReads,
			Rules: func(r *checker.Rules) { r.MaxLate = 30 * time.Second }},
		{Name: "bounds", About: "two apps write rows at every bound, by plain SQL and the rights of their roles", Own: true, Faults: writeAtBounds},
		{Name: "tzdata", About: "one worker of three has another time zone database than the rest", Faults: followZones,
			Workers: stage.Workers{EnvOf: otherZones}},
	}
}

// holdSchedules has apps hold schedules of others', and roll back.
func holdSchedules(ctx context.Context, s *stage.Stage) {
	var apps sync.WaitGroup
	defer apps.Wait()
	for i := range 3 {
		dice := s.Dice(700 + uint64(i))
		apps.Go(func() {
			pause := time.Duration(dice.IntN(500)) * time.Millisecond
			if i == 0 {
				pause = 5 * time.Second // in which what it held is caught up with
			}
			for stage.Pause(ctx, pause) {
				if err := holdSchedule(ctx, s, dice, i == 0); err != nil && ctx.Err() == nil {
					s.Logf("an app that holds a schedule: %v", err)
				}
			}
		})
	}
}

// holdSchedule is one such transaction: on one of the schedules that there are, or on all that have long runs, and for longer.
func holdSchedule(ctx context.Context, s *stage.Stage, dice *rand.Rand, long bool) error {
	tx, err := s.App.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	which, lasts := "SELECT id FROM "+stage.Prefix+"schedule WHERE is_long = 0 ORDER BY RAND() LIMIT 1", time.Duration(1+dice.IntN(5))*time.Second
	if long {
		which, lasts = "SELECT id FROM "+stage.Prefix+"schedule WHERE is_long = 1 ORDER BY id", 8*time.Second
	}
	ids, err := textsOf(ctx, tx, which)
	if err != nil {
		return err
	}
	for _, id := range ids {
		how := dice.IntN(5)
		if strings.HasPrefix(id, "job/") { // it is changed with its job
			how = 4
		}
		if err := takeSchedule(ctx, s, tx, id, how); err != nil {
			return err
		}
	}
	s.During("schedule held open", "", 0, func() { stage.Pause(ctx, lasts) })
	return nil
}

func textsOf(ctx context.Context, tx *sql.Tx, query string) (list []string, err error) {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}

// takeSchedule locks a schedule in one of the ways that an app has.
func takeSchedule(ctx context.Context, s *stage.Stage, tx *sql.Tx, id string, how int) (err error) {
	switch how {
	case 0:
		_, err = s.Plans.RunNow(ctx, tx, id)
	case 1:
		var one schedule.Stored
		if one, err = s.Plans.Get(ctx, tx, id); err == nil {
			_, err = s.Plans.Create(ctx, tx, one.Schedule)
		}
	case 2:
		_, err = s.Plans.Pause(ctx, tx, id)
	case 3:
		_, err = s.Plans.Delete(ctx, tx, id)
	default:
		_, err = tx.ExecContext(ctx, "SELECT 1 FROM "+stage.Prefix+"schedule WHERE id = ? FOR UPDATE", id)
	}
	return err
}

// sessionsOfAll is how many sessions the workers of a scenario may have together: what each process is bound to.
const sessionsOfAll = 3 * 40

// lockReads is a backup that locks all tables, and watches how many sessions of the workers gather behind it.
func lockReads(ctx context.Context, s *stage.Stage) {
	conn, done, err := s.Admin(ctx)
	if err != nil {
		s.Logf("a read lock: %v", err)
		return
	}
	defer done()
	for stage.Pause(ctx, 1500*time.Millisecond) {
		s.During("read lock", "", stage.Lease, func() {
			if _, err := conn.ExecContext(ctx, "FLUSH TABLES WITH READ LOCK"); err != nil {
				return // the time of faults is over
			}
			for until := time.Now().Add(3 * time.Second); time.Now().Before(until) && stage.Pause(ctx, 200*time.Millisecond); {
				if n := s.Sessions(ctx, conn); n > sessionsOfAll {
					s.Find("sessions", "%d sessions of the workers wait behind a read lock; %d are allowed", n, sessionsOfAll)
					break
				}
			}
			if _, err := conn.ExecContext(context.WithoutCancel(ctx), "UNLOCK TABLES"); err != nil {
				s.Logf("a read lock: %v", err)
			}
		})
	}
}

// timerOf has a schedule of plain SQL begin.
const timerOf = "INSERT INTO " + stage.Prefix + "future_job (entity_name, entity_key, job_exec, due_at) VALUES ('schedule', ?, 'schedule.fire', UTC_TIMESTAMP(6))"

// writeAtBounds has two apps, each with the rights of a role, write whatever the tables take.
func writeAtBounds(ctx context.Context, s *stage.Stage) {
	var apps sync.WaitGroup
	defer apps.Wait()
	for i, role := range []string{"app-sql", "app"} {
		app, err := s.Account(ctx, "chaos_"+strings.ReplaceAll(role, "-", "_"), role)
		if err != nil {
			s.Logf("an account of %s: %v", role, err)
			continue
		}
		dice := s.Dice(800 + uint64(i))
		apps.Go(func() {
			defer app.Close()
			taken, refused := 0, 0
			for n := 0; stage.Pause(ctx, time.Duration(dice.IntN(60))*time.Millisecond); n++ {
				key := fmt.Sprintf("%s-%d-%d", evidence.OutsiderPrefix, i, n)
				into, columns, values := atBounds(dice, key)
				statement := "INSERT INTO " + stage.Prefix + into + " (" + strings.Join(columns, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
				if _, err := app.ExecContext(ctx, statement); err != nil {
					refused++
					continue
				}
				taken++
				s.Fault("row at a bound of "+into, "nobody", 0) // it explains nothing
				if into == "schedule" {
					_, _ = app.ExecContext(ctx, timerOf, key) // when it is over, the time of faults is
				}
			}
			s.Logf("%s %s: %d rows at bounds were taken, %d refused", s.Engine.Name, role, taken, refused)
		})
	}
}
