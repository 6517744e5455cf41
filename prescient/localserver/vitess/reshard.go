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

// Reshard starts shards of these names, and begins to copy to them the rows that lie in the shards in whose place they are to come. Until Switch these
// go on.
func (c *Cluster) Reshard(ctx context.Context, from []*Shard, into ...string) (*Reshard, error) {
	r := &Reshard{From: from, cluster: c}
	for _, name := range into {
		shard := c.newShard(name)
		shard.away = true
		r.Into = append(r.Into, shard)
	}
	c.Shards = append(c.Shards, r.Into...)
	if err := startShards(ctx, r.Into); err != nil {
		return nil, fmt.Errorf("vitess: starting shards: %w", err)
	}
	// An AUTO_INCREMENT needs the index that would come last.
	return r, r.control(ctx, "create", "--source-shards="+namesOf(from), "--target-shards="+namesOf(r.Into), "--tablet-types=PRIMARY", "--defer-secondary-keys=false")
}

// Copied waits until all rows are there, and new ones come as they are written.
func (r *Reshard) Copied(ctx context.Context) error {
	for _, shard := range r.Into {
		db, err := sql.Open("mysql", shard.Server.DSN("_vt"))
		if err != nil {
			return err
		}
		defer db.Close()
		for {
			var left int
			var says string
			err := db.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(MAX(message), '') FROM vreplication stream
				WHERE state <> 'Running' OR pos = '' OR EXISTS (SELECT 1 FROM copy_state WHERE vrepl_id = stream.id)`).Scan(&left, &says)
			if err == nil && left == 0 {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("vitess: waiting until the rows of shard %s are copied: %w (%d streams, %s, %w)", shard.Name, ctx.Err(), left, says, err)
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
