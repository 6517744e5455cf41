package vitess

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// workflow is the name of what copies rows from shards to others.
const workflow = "reshard"

// A Reshard is the division of shards into others.
type Reshard struct {
	From, Into []*Shard
	cluster    *Cluster
}

// AddShards starts shards that are to come in the place of others: they take statements that are targeted at them, and no others.
func (c *Cluster) AddShards(ctx context.Context, names ...string) ([]*Shard, error) {
	var list []*Shard
	for _, name := range names {
		shard := c.newShard(Keyspace, name)
		shard.away = true
		list = append(list, shard)
	}
	c.Shards = append(c.Shards, list...)
	if err := c.startShards(ctx, list); err != nil {
		return nil, fmt.Errorf("vitess: starting shards: %w", err)
	}
	return list, nil
}

// Reshard makes the tables of shards on others, and begins to copy the rows. Until Switch all goes on on the former.
func (c *Cluster) Reshard(ctx context.Context, from, into []*Shard) (*Reshard, error) {
	r := &Reshard{From: from, Into: into, cluster: c}
	// An AUTO_INCREMENT needs the index that would come last.
	return r, r.control(ctx, "create", "--source-shards="+namesOf(from), "--target-shards="+namesOf(into), "--tablet-types=PRIMARY", "--defer-secondary-keys=false")
}

// Copied waits until all rows are there, and new ones come as they are written.
func (r *Reshard) Copied(ctx context.Context) error {
	for _, shard := range r.Into {
		db, err := sql.Open("mysql", shard.Server.DSN("_vt_"+shard.keyspace))
		if err != nil {
			return err
		}
		defer db.Close()
		for last := ""; ; {
			var left int
			var says string
			err := db.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(MAX(CONCAT_WS(' ', state, message,
				(SELECT GROUP_CONCAT(table_name) FROM copy_state WHERE vrepl_id = stream.id))), '') FROM vreplication stream
				WHERE state <> 'Running' OR pos = '' OR EXISTS (SELECT 1 FROM copy_state WHERE vrepl_id = stream.id)`).Scan(&left, &says)
			if err == nil && left == 0 {
				break
			}
			if ctx.Err() == nil {
				last = fmt.Sprint(left, " streams: ", says, ", ", err)
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("vitess: waiting until the rows of shard %s are copied: %w (%s)", shard.Name, ctx.Err(), last)
			case <-time.After(pause):
			}
		}
	}
	return nil
}

// Switch has the new shards take reads and writes, and the ones before refuse them.
func (r *Reshard) Switch(ctx context.Context) error {
	// For the way back vtctldclient would have to reach the vttablets of the new shards as a client, which only vtctld does.
	if err := r.control(ctx, "switchtraffic", "--enable-reverse-replication=false"); err != nil {
		return err
	}
	for _, shard := range r.From {
		shard.away = true
	}
	for _, shard := range r.Into {
		shard.away = false
	}
	return nil
}

// Complete ends it: there is no way back.
func (r *Reshard) Complete(ctx context.Context) error { return r.control(ctx, "complete") }

func (r *Reshard) control(ctx context.Context, action string, args ...string) error {
	return r.cluster.Control(ctx, append([]string{"Reshard", "--workflow=" + workflow, "--target-keyspace=" + Keyspace, action}, args...)...)
}

func namesOf(list []*Shard) string {
	var names []string
	for _, shard := range list {
		names = append(names, shard.Name)
	}
	return strings.Join(names, ",")
}
