package stage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/localserver/vitess"
	"prescient/prescient/schedule"
	"prescient/prescient/shards"
	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/checker/evidence"
	"prescient/scripts/chaos/wire"
	"prescient/scripts/chaos/worker"
)

// VitessName is what an engine of shards is called.
const VitessName = "vitess"

// database is the keyspace in a shard's own MySQL.
const database = "vt_" + vitess.Keyspace

// Vitess is a keyspace of two shards, which each scenario has for itself. Apps and workers are on vtgate; what the checker reads comes from the MySQL of each.
type Vitess struct {
	*vitess.Cluster
	primaries map[*vitess.Shard]*vitess.Tablet // since a reparent
}

func startVitess(context.Context) (Engine, error) {
	return Engine{Name: VitessName, Vitess: &Vitess{}}, vitess.Check()
}

// Fresh is an engine that nothing was changed of, until done is called.
func (e Engine) Fresh(ctx context.Context) (fresh Engine, done func() error, err error) {
	if e.Vitess == nil {
		return e, func() error { return nil }, nil
	}
	vschema, err := shards.VSchema(Prefix, []byte(ownVSchema()))
	if err != nil {
		return e, nil, err
	}
	cluster, err := vitess.Start(ctx, vitess.Options{Shards: 2, VSchema: string(vschema), ServerArgs: []string{"--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1",
		"--plugin-load-add=semisync_source.so", "--plugin-load-add=semisync_replica.so"}})
	if err != nil {
		return e, nil, err
	}
	e.Vitess = &Vitess{Cluster: cluster, primaries: make(map[*vitess.Shard]*vitess.Tablet)}
	if e.config, err = mysql.ParseDSN(cluster.DSN()); err == nil {
		e.hosts = []string{e.config.Addr}
	}
	return e, e.Vitess.Close, err
}

// Close ends it.
func (v *Vitess) Close() error {
	if v.Cluster == nil {
		return nil
	}
	return v.Cluster.Close()
}

// ownVSchema has the tables of the run itself be each shard's own, so that no reshard copies them.
func ownVSchema() string {
	var tables []string
	for _, name := range []string{"effects", "step_effects", "changes", "handled", "claims", "starts"} {
		tables = append(tables, fmt.Sprintf(`"%s%s": {"type": "reference"}`, Prefix, name))
	}
	return `{"sharded": true, "tables": {` + strings.Join(tables, ", ") + `}}`
}

func (v *Vitess) shard(name string) *vitess.Shard {
	for _, shard := range v.Shards {
		if shard.Name == name {
			return shard
		}
	}
	panic("there is no shard " + name)
}

// Primary is the tablet of a shard that takes writes.
func (v *Vitess) Primary(shard *vitess.Shard) *vitess.Tablet {
	if tablet := v.primaries[shard]; tablet != nil {
		return tablet
	}
	return shard.Tablet
}

// Moved notes that a shard has another primary.
func (v *Vitess) Moved(shard *vitess.Shard, to *vitess.Tablet) { v.primaries[shard] = to }

// ledgerOf is the tables of a shard, in its own MySQL.
func (s *Stage) ledgerOf(shard *vitess.Shard, era int) (*ledger, error) {
	keys, err := evidence.KeysOf(shard.Name)
	return &ledger{Of: evidence.Of{Keys: keys, Era: era}, dsn: func(params string) string {
		return with(s.Engine.Vitess.Primary(shard).Server.DSN(database), params)
	}}, err
}

// Divided has the shards in the place of another be read after it.
func (s *Stage) Divided(from *vitess.Shard, into []*vitess.Shard) error {
	for _, p := range s.parts {
		if p.shard != from.Name {
			continue
		}
		p.ledgers[len(p.ledgers)-1].divided = true
		for _, shard := range into {
			l, err := s.ledgerOf(shard, 1)
			if err != nil {
				return err
			}
			p.ledgers = append(p.ledgers, l)
		}
	}
	return nil
}

// PrepareShards makes new shards ready, as vschema prepare does, once vtgate knows them.
func (s *Stage) PrepareShards(ctx context.Context, from *vitess.Shard, into []*vitess.Shard) error {
	source, err := connect.Open(from.DSN(), 0)
	if err != nil {
		return err
	}
	defer source.Close()
	for _, shard := range into {
		target, err := connect.Open(shard.DSN(), 0)
		if err != nil {
			return err
		}
		for until := time.Now().Add(time.Minute); ; Pause(ctx, 300*time.Millisecond) {
			if _, err = shards.Prepare(ctx, source, target, Prefix, ""); err == nil || time.Now().After(until) {
				break
			}
		}
		if err = errors.Join(err, target.Close()); err != nil {
			return fmt.Errorf("preparing shard %s: %w", shard.Name, err)
		}
	}
	return nil
}

// Watch has a new shard note what its tables do not keep.
func (s *Stage) Watch(ctx context.Context, shard *vitess.Shard) error {
	db, err := open(shard.Server.DSN(database))
	if err != nil {
		return err
	}
	return errors.Join(evidence.Watch(ctx, db, Prefix), db.Close())
}

// gates is how many networks between apps and a vtgate there were in this process.
var gates atomic.Int64

// appDSN names the database for the apps: of a Vitess, by the network that breaks.
func (s *Stage) appDSN() (string, error) {
	const params = "readTimeout=10s&timeout=5s"
	if s.Scenario.AppWire == nil {
		return s.dsn(params), nil
	}
	plan, err := wire.With(s.Scenario.AppWire, s.Seed)
	if err != nil {
		return "", err
	}
	plan.Whole = func() bool { return !s.begun.Load() || s.over.Load() }
	plan.Tell = func(what, statement string, lasts time.Duration) {
		s.journal.Note(checker.Event{Kind: checker.Fault, What: what + " to an app", Worker: "an app", Key: statement[:min(len(statement), 60)], Took: lasts + aftermath})
	}
	network := fmt.Sprintf("%s-app-%d", wire.Network, gates.Add(1))
	mysql.RegisterDialContext(network, plan.Dial)
	return with(s.Engine.dsn(s.Database, 0, func(config *mysql.Config) { config.Net = network }), params), nil
}

// clockDSN names who is asked for the time: of a Vitess the last shard, of which alone nothing is broken, by the way of the workers. All are on one
// machine.
func (s *Stage) clockDSN() string {
	if s.Engine.Vitess == nil {
		return s.dsn("")
	}
	return s.Engine.Vitess.Shards[1].DSN()
}

// awaitTables rehearses what apps do, and takes it back, until vtgate has heard of all tables and columns.
func (s *Stage) awaitTables(ctx context.Context) error {
	if err := s.Engine.Vitess.Control(ctx, "ReloadSchemaKeyspace", vitess.Keyspace); err != nil {
		return err
	}
	var err error
	for until := time.Now().Add(time.Minute); time.Now().Before(until); Pause(ctx, 200*time.Millisecond) {
		if err = s.rehearse(ctx); err == nil {
			return nil
		}
	}
	return fmt.Errorf("waiting until vtgate knows the tables: %w", err)
}

func (s *Stage) rehearse(ctx context.Context) error {
	c, err := client.New(ctx, s.App, client.Options{Prefix: Prefix})
	if err != nil {
		return err
	}
	for n := range 8 { // some on each shard
		tx, err := s.App.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		name := fmt.Sprint("rehearsal", n)
		one := prescient.NewJob{Entity: prescient.Entity{Name: entity, Key: name}, JobExec: "done", DueAt: s.Now().Add(time.Hour)}
		_, err = c.Insert(ctx, tx, one)
		if err == nil {
			_, err = c.Reschedule(ctx, tx, one.Entity, one.JobExec, "", one.DueAt.Add(time.Hour))
		}
		if err == nil {
			_, err = c.Cancel(ctx, tx, one.Entity, one.JobExec)
		}
		if err == nil {
			_, err = schedule.New(c).Create(ctx, tx, schedule.Schedule{ID: name, Crontabs: []string{"@daily"}, JobExec: "done"})
		}
		if err == nil {
			_, err = schedule.New(c).Delete(ctx, tx, name)
		}
		if err = errors.Join(err, tx.Rollback()); err != nil {
			return err
		}
	}
	return nil
}

// queue is a pool on the shard with the check of the queue of changes, and so with those. In one database that is the pool of the apps.
func (s *Stage) queue() (*sql.DB, func(), error) {
	if s.Engine.Vitess == nil {
		return s.App, func() {}, nil
	}
	place := evidence.PlaceOf(evidence.QueueEntity, worker.QueueExec)
	for _, p := range s.parts {
		if p.keys.Have(place) {
			db, err := open(with(s.Engine.Vitess.shard(p.shard).DSN(), "readTimeout=10s&timeout=5s"))
			return db, func() { _ = db.Close() }, err
		}
	}
	return nil, nil, errors.New("no shard has the queue of changes")
}

// AwaitsReplica has the primary of a shard answer a COMMIT only once a replica has it, so that nothing that was answered is lost with the primary.
func (v *Vitess) AwaitsReplica(ctx context.Context, shard *vitess.Shard, replica *vitess.Tablet) error {
	for _, on := range []struct {
		tablet     *vitess.Tablet
		statements []string
	}{
		{replica, []string{"SET GLOBAL rpl_semi_sync_replica_enabled = 1", "STOP REPLICA IO_THREAD", "START REPLICA IO_THREAD"}},
		{v.Primary(shard), []string{"SET GLOBAL rpl_semi_sync_source_timeout = 3600000", "SET GLOBAL rpl_semi_sync_source_enabled = 1"}},
	} {
		db, err := open(on.tablet.Server.DSN(database))
		if err != nil {
			return err
		}
		for _, statement := range on.statements {
			if _, errOf := db.ExecContext(ctx, statement); errOf != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", statement, errOf))
			}
		}
		if err = errors.Join(err, db.Close()); err != nil {
			return err
		}
	}
	return nil
}
