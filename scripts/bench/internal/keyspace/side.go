package keyspace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prescient/prescient/connect"
	"prescient/prescient/localserver/vitess"
	"prescient/prescient/shards"
	"prescient/sql/migrate"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

// side is what is measured beside others: a keyspace, or a MySQL alone.
type side struct {
	name    string
	dsn     string   // of the worker
	environ []string // of the worker
	cluster *vitess.Cluster
	parts   []part
}

// part is the MySQL of a shard, or the one that is alone, as the bench fills it: past Vitess.
type part struct {
	*rig.Place
	shard *vitess.Shard
	has   string // which entities of bench_n lie here, in SQL
}

// group are processes whose CPU is told apart.
type group struct {
	name string
	pids []int
}

// onServer is a MySQL alone.
func onServer(ctx context.Context, s *rig.Server) (*side, error) {
	p, err := s.Install(ctx, "vitess", rig.Day, false)
	if err != nil {
		return nil, err
	}
	return &side{name: page.Alone, dsn: s.DSN(p.Name), parts: []part{{Place: p, has: "TRUE"}}}, nil
}

// onShards starts a keyspace, with the settings of the bench's own servers.
func onShards(ctx context.Context, b *rig.Bench, count int) (_ *side, err error) {
	vschema, err := shards.VSchema("", nil)
	if err != nil {
		return nil, err
	}
	cluster, err := vitess.Start(ctx, vitess.Options{Shards: count, VSchema: string(vschema), ServerArgs: b.DurableArgs(page.MySQL)})
	if err != nil {
		return nil, err
	}
	s := &side{name: page.Shards(count), dsn: cluster.DSN(), cluster: cluster}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(ctx))
		}
	}()
	for _, shard := range cluster.Shards {
		if err := migrated(ctx, shard); err != nil {
			return nil, err
		}
		server, err := rig.ServerOf(shard.Server)
		if err != nil {
			return nil, err
		}
		p, err := server.Open(ctx, "vt_"+vitess.Keyspace)
		if err != nil {
			return nil, err
		}
		s.parts = append(s.parts, part{Place: p, shard: shard, has: within(shard.Name)})
	}
	return s, cluster.Control(ctx, "ReloadSchemaKeyspace", vitess.Keyspace)
}

// migrated makes the tables of a shard, in a session that is targeted at it.
func migrated(ctx context.Context, shard *vitess.Shard) error {
	db, err := connect.Open(shard.DSN(), time.Minute)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = migrate.Up(ctx, db.DB, migrate.Schema{Resolution: rig.Day})
	return err
}

// groups are the processes of the servers.
func (s *side) groups() []group {
	mysqld := group{name: "mysqld"}
	for _, p := range s.parts {
		mysqld.pids = append(mysqld.pids, p.Pid)
	}
	list := []group{mysqld}
	if s.cluster != nil {
		for _, name := range []string{"vttablet", "vtgate", "etcd"} {
			list = append(list, group{name, s.cluster.Pids(name)})
		}
	}
	return list
}

// calls is how many statements the worker has sent so far: those that vtgate has sent on, or those that the MySQL has answered.
func (s *side) calls(ctx context.Context) (all float64, err error) {
	for _, p := range s.parts {
		var n float64
		if p.shard == nil {
			n, err = p.Questions()()
		} else {
			var calls int
			calls, err = p.shard.Calls(ctx)
			n = float64(calls)
		}
		if err != nil {
			return 0, fmt.Errorf("counting statements: %w", err)
		}
		all += n
	}
	return all, nil
}

func (s *side) close(ctx context.Context) (err error) {
	for _, p := range s.parts {
		if s.cluster == nil {
			err = errors.Join(err, p.Drop(ctx))
			continue
		}
		p.Close()
	}
	if s.cluster != nil {
		err = errors.Join(err, s.cluster.Close())
	}
	return err
}
