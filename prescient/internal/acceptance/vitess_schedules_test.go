package acceptance

import (
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/client"
	"prescient/prescient/event"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/localserver/vitess"
	"prescient/prescient/schedule"
)

// What an app does for a schedule goes to the shard of its timer, an event whose key names an entity to that of the entity, and what an operator
// does for an entity, with its entry in the audit, there as well.
func TestSchedulesEventsAndTheAuditGoToTheirShardOfVitess(t *testing.T) {
	cluster, app, c := twoShards(t)
	schedules, outbox := schedule.New(c), event.New(c)
	ctx := t.Context()

	const many = 6
	id := func(i int) string { return fmt.Sprintf("digest/%d", i) }
	timer := func(i int) prescient.Entity { return prescient.Entity{Name: prescient.ScheduleEntity, Key: id(i)} }
	order := func(i int) prescient.Entity { return prescient.Entity{Name: "order", Key: fmt.Sprint(i)} }
	one := func(i int) schedule.Schedule {
		return schedule.Schedule{ID: id(i), Crontabs: []string{"30 8 * * *"}, JobExec: "digest", Owner: prescient.Entity{Name: "user", Key: fmt.Sprint(i)}}
	}
	get := func(db prescient.DB, i int, want func(schedule.Stored) bool) error {
		is, err := schedules.Get(ctx, db, id(i))
		if err == nil && !want(is) {
			err = fmt.Errorf("it is %+v", is)
		}
		return err
	}
	steps := []struct {
		name string
		of   func(i int) prescient.Entity
		do   func(db prescient.DB, i int) error
	}{
		{"create", timer, func(db prescient.DB, i int) error {
			_, err := schedules.Create(ctx, db, one(i))
			return err
		}},
		{"get", timer, func(db prescient.DB, i int) error {
			return get(db, i, func(s schedule.Stored) bool { return s.Enabled && s.Version == 1 })
		}},
		{"change", timer, func(db prescient.DB, i int) error {
			other := one(i)
			other.Payload = []byte("other")
			if _, err := schedules.Update(ctx, db, other); err != nil {
				return err
			}
			return get(db, i, func(s schedule.Stored) bool { return string(s.Payload) == "other" && s.Version == 2 })
		}},
		{"pause and resume", timer, func(db prescient.DB, i int) error {
			if _, err := schedules.Pause(ctx, db, id(i)); err != nil {
				return err
			}
			_, err := schedules.Resume(ctx, db, id(i))
			return err
		}},
		{"versions", timer, func(db prescient.DB, i int) error {
			kept, err := schedules.Versions(ctx, db, id(i), false)
			if err == nil && len(kept) != 1 {
				err = fmt.Errorf("%d are kept", len(kept))
			}
			return err
		}},
		{"delete", timer, func(db prescient.DB, i int) error {
			_, err := schedules.Delete(ctx, db, id(i))
			return err
		}},
		{"publish", order, func(db prescient.DB, i int) error {
			return outbox.Publish(ctx, db, event.Event{ID: fmt.Sprint(i), Topic: "orders", Key: order(i).String()})
		}},
		{"insert", order, func(db prescient.DB, i int) error {
			_, err := c.Insert(ctx, db, prescient.NewJob{Entity: order(i), JobExec: "one", DueAt: time.Now().Add(time.Hour)})
			return err
		}},
		{"cancel", order, func(db prescient.DB, i int) error {
			_, err := c.Cancel(audit.With(ctx, audit.By{Operator: true}), db, order(i))
			return err
		}},
	}
	shardOf := func(e prescient.Entity) int { id := e.KeyspaceID(); return int(id[0] >> 7) }
	defer eachCommitIsOnOneShard(t, cluster)
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			for i := range many {
				own := shardOf(step.of(i))
				before := calls(t, cluster.Shards[1-own])
				tx, err := app.BeginTxx(t.Context(), nil)
				rig.Fatal(t, err)
				err = step.do(tx, i)
				rig.Fatal(t, err)
				rig.Fatal(t, tx.Commit())
				if n := calls(t, cluster.Shards[1-own]) - before; n > 0 {
					t.Errorf("for %s %d statements went to the shard of others", step.of(i), n)
				}
			}
		})
	}
	// A session that is targeted at a shard changes its schedules as one on a MySQL does.
	shard := sqlx.NewDb(servertest.Open(t, cluster.Shards[0].DSN(), "parseTime=true"), "mysql")
	c, err := client.New(ctx, shard, client.Options{Prefix: "p_"})
	rig.Fatal(t, err)
	schedules = schedule.New(c)
	for i := range many {
		if shardOf(timer(i)) != 0 {
			continue
		}
		_, err := schedules.Create(ctx, shard, one(i))
		rig.Fatal(t, err)
		changed := one(i)
		changed.Payload = []byte("changed")
		_, err = schedules.Update(ctx, shard, changed)
		rig.Fatal(t, err)
		rig.Fatal(t, get(shard, i, func(s schedule.Stored) bool { return string(s.Payload) == "changed" }))
	}
	// Each row has a place, without which it would stop a reshard, and lies on the shard that this is of. What became of the installation each shard has.
	for i, shard := range cluster.Shards {
		own := servertest.Open(t, shard.Server.DSN("vt_"+vitess.Keyspace), "")
		for _, table := range []string{"schedule", "schedule_version", "schedule_deleted", "event_outbox", "audit_log"} {
			query := "SELECT COALESCE(HEX(place), 'none') FROM p_" + table
			if table == "audit_log" {
				query += " WHERE kind <> 'installation' OR place IS NULL"
			}
			rows, err := own.QueryContext(t.Context(), query)
			rig.Fatal(t, err)
			for rows.Next() {
				var place string
				rig.Fatal(t, rows.Scan(&place))
				bytes, err := hex.DecodeString(place)
				if err != nil || int(bytes[0]>>7) != i {
					t.Errorf("%s has a row at %s on %s, %v", table, place, shard.Name, err)
				}
			}
			rig.Fatal(t, rows.Err())
			rig.Fatal(t, rows.Close())
		}
	}
}
