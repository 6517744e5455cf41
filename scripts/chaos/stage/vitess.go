package stage

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/localserver/vitess"
	"prescient/prescient/shards"
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
