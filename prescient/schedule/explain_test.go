package schedule

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/event"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/schedule/internal/occurrences"
	text "prescient/sql"
)

func TestNoStatementOfSchedulesScansATable(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		r.Needs(t, rig.ReadPlans)
		s := New(r.Client)
		var many []Schedule
		for i := range 6000 {
			many = append(many, Schedule{ID: fmt.Sprintf("s%05d", i), Crontabs: []string{"0 12 * * *"}, Topic: "t", Owner: rig.Order(fmt.Sprint(i % 1000))})
		}
		_, err := s.CreateMany(t.Context(), r.AppAt(rig.At("10:00")), many)
		r.Must(err)
		r.Exec("UPDATE p_schedule SET is_long = 1, job_exec = 'x', topic = ''")
		r.Exec("INSERT INTO p_schedule_refused (schedule_id) SELECT id FROM p_schedule")
		r.Exec("INSERT INTO p_schedule_deleted (id, fired_until) SELECT id, '2026-11-20 12:00:00' FROM p_schedule")
		for part := range slices.Chunk(many, 1000) {
			r.Must(s.keepVersions(t.Context(), r.App, idsOf(part, func(one Schedule) string { return one.ID })))
		}
		r.Exec("ANALYZE TABLE p_schedule, p_schedule_refused, p_schedule_deleted, p_schedule_version, p_future_job")
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		rig.CheckPlans(t, conn, statements(s, many), s.tables.Stmt, []string{"schedule"})
	})
}

func statements(s *Schedules, many []Schedule) (list []rig.Explained) {
	const byID, byOwner = "PRIMARY 514", "owner 580"
	reached := map[string]string{"p_schedule": byID}
	add := func(statement, query string, reached map[string]string) {
		list = append(list, rig.Explained{Statement: statement, Query: query, Reached: reached})
	}
	for _, n := range []int{1, 2, idsPerStatement, 2 * idsPerStatement} {
		ids := idList(idsOf(many[:n], func(one Schedule) string { return one.ID }))
		for _, lock := range []string{"", "FOR UPDATE"} {
			add(fmt.Sprintf("schedule/find %d %s", n, lock), s.tables.Fill("schedule/find", "{payload}", string(ofEvents), "{ids}", ids, "{lock}", lock), reached)
		}
		add(fmt.Sprintf("schedule/switch %d", n), s.tables.Fill("schedule/switch", "{enabled}", "0", "{updated_at}", "UTC_TIMESTAMP(6)", "{disabled_at}", "NULL", "{reason}", "NULL", "{ids}", ids), reached)
		add(fmt.Sprintf("schedule/terms %d", n), s.tables.Fill("schedule/terms", "{ids}", ids), reached)
		add(fmt.Sprintf("schedule/long %d", n), s.tables.Fill("schedule/long", "{ids}", ids), reached)
		add(fmt.Sprintf("schedule/lock_free %d", n), s.tables.Fill("schedule/lock_free", "{ids}", ids), reached)
		add(fmt.Sprintf("schedule/started %d", n), s.tables.Fill("schedule/started", "{at}", "NULL", "{ids}", ids), reached)
		if n <= idsPerStatement { // a call for timers may name more
			add(fmt.Sprintf("schedule/delete %d", n), s.tables.Fill("schedule/delete", "{ids}", ids), reached)
			for _, statement := range []string{"schedule/before", "schedule/fired_until"} {
				reached := map[string]string{"p_schedule": byID, "p_schedule_deleted": byID}
				if statement == "schedule/before" && s.tables.Dialect == text.Full {
					reached["p_slot_config"] = "PRIMARY 1"
				}
				if statement == "schedule/fired_until" {
					delete(reached, "p_schedule")
				}
				add(fmt.Sprintf("%s %d", statement, n), s.tables.Fill(statement, "{ids}", ids, "{now}", "'2026-11-20 10:00:00'"), reached)
			}
			add(fmt.Sprintf("schedule/accepted %d", n), s.tables.Fill("schedule/accepted", "{ids}", ids), map[string]string{"p_schedule_refused": byID})
		}
		add(fmt.Sprintf("schedule/tally %d", n), s.tables.Fill("schedule/tally", "{ids}", ids, "{passed}", "", "{caught}", "WHEN 's00001' THEN 7"), reached)
		add(fmt.Sprintf("schedule/ahead %d", n), s.tables.Fill("schedule/ahead", "{ids}", ids, "{ahead}", " WHEN 's00001' THEN 7"), reached)
		var events []sent
		for _, one := range many[:min(n, copiedAtATime)] {
			events = append(events, sent{Event: event.Event{ID: one.ID + "-1", Key: one.ID, GeneratedAt: rig.At("10:00")}})
		}
		add(fmt.Sprintf("schedule/event_copied %d", n), s.tables.Fill("schedule/event_copied", "{rows}", copiedRows(events)), map[string]string{"one": byID})
	}
	version := map[string]string{"p_schedule_version": byID}
	exact := map[string]string{"p_schedule_version": "PRIMARY 526"}
	counted := map[string]string{"one": byID, "version": byID}
	plain := s.tables.Dialect == text.Plain
	if plain {
		delete(counted, "version")
	}
	for _, n := range []int{1, 2, idsPerStatement} {
		ids := idList(idsOf(many[:n], func(one Schedule) string { return one.ID }))
		add(fmt.Sprintf("schedule/version_keep %d", n), s.tables.Fill("schedule/version_keep", "{ids}", ids), reached)
		if plain && n == 1 && s.tables.Server == text.MariaDB { // it sorts the one group; the servers that are spoken to in plain are others
			continue
		}
		add(fmt.Sprintf("schedule/version_many %d", n), s.tables.Fill("schedule/version_many", "{ids}", ids, "{most}", "50"), counted)
	}
	add("schedule/version_oldest", s.tables.Fill("schedule/version_oldest", "{id}", "'s00001'", "{limit}", "10"), version)
	add("schedule/version_list", s.tables.Fill("schedule/version_list", "{payload}", string(toCompare), "{id}", "'s00001'", "{limit}", "10"), version)
	add("schedule/version_find", s.tables.Fill("schedule/version_find", "{payload}", string(withPayload), "{id}", "'s00001'", "{created}", "'2026-11-20 10:00:00.000000'", "{version}", "1"), exact)
	add("schedule/version_forget", s.tables.Fill("schedule/version_forget", "{id}", "'s00001'", "{versions}",
		"created_at = '2026-11-20 10:00:00.000000' AND version = 1 OR created_at = '2026-11-20 10:00:00.000000' AND version = 2"), exact)
	add("schedule/by_hand", s.tables.Fill("schedule/by_hand", "{second}", "'2026-11-20 10:00:00'", "{id}", "'s00001'"), reached)
	add("schedule/replace", s.tables.Fill("schedule/replace", "{rows}", string(s.appendRow(nil, many[0].withDefaults(), true, rig.At("10:00"), occurrences.Ahead{Int64: 3600, Valid: true}))), nil)
	add("schedule/of_owner", s.tables.Fill("schedule/of_owner", "{payload}", string(toCompare), "{name}", "'order'", "{key}", "'7'"), map[string]string{"p_schedule": byOwner})
	add("schedule/list_refused", s.tables.Fill("schedule/list_refused", "{payload}", string(noPayload), "{after}", "'s00010'", "{limit}", "100"),
		map[string]string{"p_schedule_refused": byID, "p_schedule": byID})
	add("schedule/deleted", s.tables.Fill("schedule/deleted", "{rows}", "('new', '2026-11-20 10:00:00')"), nil)
	add("schedule/refused", s.tables.Fill("schedule/refused", "{rows}", "('new')"), nil)
	add("schedule/list", s.tables.Fill("schedule/list", "{payload}", string(noPayload), "{index}", "PRIMARY", "{filter}", "id > 's03000'", "{limit}", "100"), reached)
	add("schedule/insert", s.tables.Fill("schedule/insert", "{rows}", string(s.appendRow(nil, many[0].withDefaults(), true, rig.At("10:00"), occurrences.Ahead{Int64: 3600, Valid: true}))), nil)
	return list
}

func TestAFiringTakesAFewStatements(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		s := New(r.Client)
		for _, target := range []Schedule{{Topic: "t"}, {JobExec: "digest"}} {
			var timers []prescient.FutureJob
			var many []Schedule
			for i := range idsPerStatement {
				one := target
				one.ID, one.Crontabs = fmt.Sprintf("%s%s%d", one.Topic, one.JobExec, i), []string{"0 * * * *"}
				many = append(many, one)
				timers = append(timers, prescient.FutureJob{EntityName: prescient.ScheduleEntity, EntityKey: one.ID, JobExec: TimerExec,
					DueAt: rig.At("11:00"), NextCheckAt: rig.At("11:00"), CalledAt: rig.At("11:00:01")})
			}
			_, err := s.CreateMany(t.Context(), r.AppAt(rig.At("10:00")), many)
			r.Must(err)
			var hooks rig.Hooks
			tx, err := r.HookedPool(rig.At("11:00:01"), &hooks).Beginx()
			r.Must(err)
			before := len(hooks.Log)
			r.Must(s.fireTimers(t.Context(), tx, prescient.NewBatch(timers...)))
			sent := slices.Clone(hooks.Log[before:])
			r.Must(tx.Rollback())
			if len(sent) != 2 {
				t.Errorf("%d statements for %d timers: %.60q", len(sent), len(timers), sent)
			}
		}
	})
}

// A schedule that has no more occurrences is centuries away: what a call for its timer writes then is tried alone.
func TestAScheduleThatIsOverHasItsEntry(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		s := New(r.Client)
		_, err := s.Create(t.Context(), r.AppAt(rig.At("10:00")), Schedule{ID: "a", Crontabs: []string{"0 12 * * *"}, Topic: "t"})
		r.Must(err)
		one, err := s.Get(t.Context(), r.App, "a")
		r.Must(err)
		tx, err := r.As("worker", rig.At("12:00:01")).Beginx()
		r.Must(err)
		f := &firing{Schedules: s, of: map[string]Stored{"a": one}, over: []string{"a"}}
		r.Must(f.write(t.Context(), tx, true))
		r.Must(tx.Commit())
		found, err := s.log.List(t.Context(), r.As("operator", time.Time{}), audit.Filter{ID: "a"})
		r.Must(err)
		if one, err = s.Get(t.Context(), r.App, "a"); err != nil || one.Enabled || found[0].Verb != verbEnd || found[0].Version != one.Version ||
			found[0].Command != byTimer || string(found[0].After) != `{"enabled":false,"disabled_reason":"it has no more occurrences"}` {
			t.Errorf("%+v, %+v, %v", found, one, err)
		}
	})
}
