package ops_test

import (
	"errors"
	"testing"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
	"prescient/prescient/ops/working"
)

func TestWhatIsPausedIsListedAndLifted(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		by := served.By(ops.Operator)
		by.Reason = "the carrier is down"
		n, err := ops.SetPauses.Do(t.Context(), r.Ops, by, ops.Pausing{JobExecs: []string{"ship", prescient.AllEvents}})
		r.Must(err)
		list, err := ops.ListPauses.Do(t.Context(), r.Ops, served.By(ops.Viewer), ops.Nothing{})
		r.Must(err)
		if n.Count != 2 || len(list.Rows) != 2 || list.Rows[1].JobExec != "ship" || list.Rows[1].By != "operator" || list.Rows[1].Reason != "the carrier is down" {
			t.Errorf("%+v, %+v", n, list)
		}
		n, err = ops.LiftPauses.Do(t.Context(), r.Ops, by, ops.Lifting{JobExecs: []string{"ship", "other"}})
		r.Must(err)
		list, err = ops.ListPauses.Do(t.Context(), r.Ops, served.By(ops.Viewer), ops.Nothing{})
		r.Must(err)
		if n.Count != 1 || len(list.Rows) != 1 {
			t.Errorf("%+v, %+v", n, list)
		}
		// Of several, one of which is no name, none is paused.
		_, err = ops.SetPauses.Do(t.Context(), r.Ops, by, ops.Pausing{JobExecs: []string{"fine", "*some"}})
		if list, _ := ops.ListPauses.Do(t.Context(), r.Ops, by, ops.Nothing{}); !errors.Is(err, prescient.ErrInvalid) || len(list.Rows) != 1 {
			t.Errorf("%v, %+v", err, list)
		}
	})
}

func TestEventsThatWereSetAsideAreListedResentAndDropped(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		r.Exec(`INSERT INTO p_event_set_aside (seq, shard, id, topic, event_key, generated_at, payload, inserted_at, refused_at, reason)
			VALUES (7, 3, 'a', 't', 'k', '2026-11-20', 'secret', '2026-11-20', '2026-11-21', 'too large'), (8, 3, 'b', 't', 'k', '2026-11-20', 'secret', '2026-11-20', '2026-11-21', 'too large'),
				(9, 3, 'c', 'u', 'k', '2026-11-20', NULL, '2026-11-20', '2026-11-21', 'too large')`)
		for _, role := range ops.Roles {
			first, err := ops.ListSetAside.Do(t.Context(), r.Ops, served.By(role), ops.SetAsideAsked{Paging: ops.Paging{Limit: 2}})
			r.Must(err)
			if len(first.Rows) != 2 || first.Rows[0].Number != 7 || first.Next != "8" || (first.Rows[0].Bytes == 6) != role.May(ops.Operator) {
				t.Errorf("%s: %+v", role, first)
			}
			rest, err := ops.ListSetAside.Do(t.Context(), r.Ops, served.By(role), ops.SetAsideAsked{Paging: ops.Paging{Limit: 1000, After: first.Next}})
			r.Must(err)
			if len(rest.Rows) != 1 || rest.Rows[0].ID != "c" || rest.Next != "" {
				t.Errorf("%s: %+v", role, rest)
			}
		}
		by := served.By(ops.Operator)
		n, err := ops.ResendEvents.Do(t.Context(), r.Ops, by, ops.EventsChosen{Numbers: []string{"7", "9", "11"}})
		r.Must(err)
		if n.Count != 2 {
			t.Errorf("%+v", n)
		}
		n, err = ops.DropEvents.Do(t.Context(), r.Ops, by, ops.EventsChosen{Numbers: []string{"8"}})
		r.Must(err)
		backlog, err := ops.GetBacklog.Do(t.Context(), r.Ops, served.By(ops.Viewer), ops.Nothing{})
		r.Must(err)
		if n.Count != 1 || len(backlog.Topics) != 2 || !backlog.Whole || backlog.Topics[0].Events != 1 || r.Count("SELECT COUNT(*) FROM p_event_set_aside") != 0 {
			t.Errorf("%+v, %+v", n, backlog)
		}
		_, one := ops.DropEvents.Do(t.Context(), r.Ops, by, ops.EventsChosen{Numbers: []string{"-1"}})
		_, other := ops.ListSetAside.Do(t.Context(), r.Ops, by, ops.SetAsideAsked{Paging: ops.Paging{Limit: 1, After: "x"}})
		if !errors.Is(one, prescient.ErrInvalid) || !errors.Is(other, prescient.ErrInvalid) {
			t.Error(one, other)
		}
	})
}

func TestTheAuditIsListedByPagesAndForViewersWithoutWhatWas(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		by := served.By(ops.Operator)
		for _, reason := range []string{"first", "second"} {
			_, err := ops.SetPauses.Do(t.Context(), r.Ops, by, ops.Pausing{JobExecs: []string{"ship"}, Reason: reason})
			r.Must(err)
		}
		for _, role := range ops.Roles {
			asked := ops.AuditAsked{Kind: string(audit.JobExec), Person: "operator", Paging: ops.Paging{Limit: 1}}
			first, err := ops.ListAudit.Do(t.Context(), r.Ops, served.By(role), asked)
			r.Must(err)
			if len(first.Rows) != 1 || first.Next == "" || first.Rows[0].Command != "pauses.set" || first.Rows[0].Host != "10.0.0.7" ||
				(len(first.Rows[0].Before) > 0 && len(first.Rows[0].After) > 0) != role.May(ops.Operator) {
				t.Errorf("%s: %+v", role, first)
			}
			asked.After = first.Next
			second, err := ops.ListAudit.Do(t.Context(), r.Ops, served.By(role), asked)
			r.Must(err)
			if len(second.Rows) != 1 || second.Rows[0].At.After(first.Rows[0].At) {
				t.Errorf("%s: %+v", role, second)
			}
			found, err := ops.ListAudit.Do(t.Context(), r.Ops, served.By(role), ops.AuditAsked{ID: "ship", Paging: ops.Paging{Limit: 10}})
			r.Must(err)
			if len(found.Rows) != 2 {
				t.Errorf("%s: %+v", role, found)
			}
		}
		for _, asked := range []ops.AuditAsked{{Kind: "colour", Paging: ops.Paging{Limit: 1}}, {Paging: ops.Paging{Limit: 1, After: "x"}}} {
			if _, err := ops.ListAudit.Do(t.Context(), r.Ops, by, asked); !errors.Is(err, prescient.ErrInvalid) {
				t.Error(err)
			}
		}
	})
}

func TestAgentsPoolsAndLongRunsAreListed(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		r.Exec(`INSERT INTO p_agent (name, instance, host, pid, version, assignment, pools, concurrency, busy, long_runs, memory_bytes, clock_ms, started_at, seen_at)
			VALUES ('a', 9007199254740993, 'h', 1, 'v', 'every slot', '{"heavy": 4}', 1, 0, 0, 0, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)
		r.Exec(`INSERT INTO p_long_run (job_key, schedule_id, occurrence, agent, token, allocated_until, slot, due_at, inserted_at, check_count, started_at, called_at, checkpoint, pool) VALUES
			(REPEAT('a', 16), 'export', '1795168800', 'a', 1, UTC_TIMESTAMP(6) + INTERVAL 30 MINUTE, '2026-11-20', '2026-11-20', '2026-11-20', 0, '2026-11-20', '2026-11-20', 'secret', 'heavy'),
			(REPEAT('b', 16), 'export', '1795168801', 'b', 1, UTC_TIMESTAMP(6) + INTERVAL 30 MINUTE, '2026-11-20', '2026-11-20', '2026-11-20', 0, '2026-11-20', '2026-11-20', 'secret', '')`)
		by := served.By(ops.Viewer)
		agents, err := ops.ListAgents.Do(t.Context(), r.Ops, by, ops.Nothing{})
		r.Must(err)
		if len(agents.Rows) != 1 || agents.Rows[0].Instance != 9007199254740993 || agents.Rows[0].Pools["heavy"] != 4 || agents.Rows[0].State != "live" {
			t.Errorf("%+v", agents)
		}
		pools, err := ops.ListPools.Do(t.Context(), r.Ops, by, ops.Nothing{})
		r.Must(err)
		if len(pools.Rows) != 2 || pools.Rows[1].Name != "heavy" || pools.Rows[1].Places != 4 || pools.Rows[1].Running != 1 {
			t.Errorf("%+v", pools)
		}
		first, err := ops.ListLongRuns.Do(t.Context(), r.Ops, by, ops.Paging{Limit: 1})
		r.Must(err)
		if len(first.Rows) != 1 || first.Next == "" || first.Rows[0].Schedule != "export" || first.Rows[0].Phase != "running" || first.Rows[0].Agent != "a" || first.Rows[0].Pool != "heavy" {
			t.Errorf("%+v", first)
		}
		second, err := ops.ListLongRuns.Do(t.Context(), r.Ops, by, ops.Paging{Limit: 1, After: first.Next})
		r.Must(err)
		if len(second.Rows) != 1 || second.Next != "" || second.Rows[0].Agent != "b" {
			t.Errorf("%+v", second)
		}
		if _, err := ops.ListLongRuns.Do(t.Context(), r.Ops, by, ops.Paging{Limit: 1, After: "abc"}); !errors.Is(err, prescient.ErrInvalid) {
			t.Error(err)
		}
	})
}

func TestAgentsAreDrainedByName(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		r.Exec(`INSERT INTO p_agent (name, instance, host, pid, version, assignment, pools, concurrency, busy, long_runs, memory_bytes, clock_ms, started_at, seen_at)
			VALUES ('a', 1, 'h', 1, 'v', 'every slot', '{}', 1, 0, 0, 0, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)
		by, named := served.By(ops.Operator), ops.AgentNamed{Name: "a"}
		listed := func() working.Agent {
			t.Helper()
			all, err := ops.ListAgents.Do(t.Context(), r.Ops, served.By(ops.Viewer), ops.Nothing{})
			r.Must(err)
			return all.Rows[0]
		}
		for _, want := range []int{1, 0} {
			if n, err := ops.DrainAgents.Do(t.Context(), r.Ops, by, named); n.Count != want || err != nil {
				t.Errorf("%+v, %v; want %d", n, err, want)
			}
		}
		if a := listed(); !a.Drain || a.WantedBy != "operator" || a.WantedAt == nil || a.State != "live" {
			t.Errorf("%+v", a)
		}
		r.Exec("UPDATE p_agent SET stopping = 1") // as it does once it has heard of that
		if a := listed(); a.State != "draining" {
			t.Errorf("%+v", a)
		}
		for _, want := range []int{1, 0} {
			if n, err := ops.UndrainAgents.Do(t.Context(), r.Ops, by, named); n.Count != want || err != nil {
				t.Errorf("%+v, %v; want %d", n, err, want)
			}
		}
		if a := listed(); a.Drain || a.WantedBy != "" {
			t.Errorf("%+v", a)
		}
		if _, err := ops.DrainAgents.Do(t.Context(), r.Ops, by, ops.AgentNamed{Name: "b"}); !errors.Is(err, prescient.ErrNotFound) {
			t.Error(err)
		}
		entries, err := ops.ListAudit.Do(t.Context(), r.Ops, by, ops.AuditAsked{Kind: "agent", Paging: ops.Paging{Limit: 10}})
		r.Must(err)
		if len(entries.Rows) != 2 || entries.Rows[0].Command != "agents.undrain" || entries.Rows[1].Person != "operator" {
			t.Errorf("%+v", entries)
		}
	})
}
