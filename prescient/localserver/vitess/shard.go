package vitess

import (
	"context"
	"fmt"
)

// A Shard is a part of the keyspace.
type Shard struct {
	// Name is how Vitess calls it, by the range of its keyspace ids: -80.
	Name string
	// Tablet is its first one, and the primary until Reparent.
	*Tablet
	// Replicas are those of AddReplica.
	Replicas []*Tablet
	cluster  *Cluster
	away     bool // it takes no writes: it was divided, or is yet to take the place of one that is
}

// DSN returns the data source name of the shard alone: statements come to it nearly as they are.
func (s *Shard) DSN() string { return s.cluster.dsn(Keyspace + ":" + s.Name) }

// shardNames divide the keyspace ids into so many ranges of one size.
func shardNames(count int) []string {
	bound := func(i int) string {
		if i == 0 || i == count {
			return ""
		}
		return fmt.Sprintf("%02x", i*256/count)
	}
	list := make([]string, count)
	for i := range list {
		list[i] = bound(i) + "-" + bound(i+1)
	}
	return list
}

// newShard is a shard that is not started yet.
func (c *Cluster) newShard(name string) *Shard {
	s := &Shard{Name: name, cluster: c}
	s.Tablet = s.newTablet()
	return s
}

func (s *Shard) newTablet() *Tablet {
	s.cluster.tablets++
	return &Tablet{shard: s, number: 100 + s.cluster.tablets}
}

// startShards starts shards at the same time, each with its first tablet as the primary.
func startShards(ctx context.Context, list []*Shard) error {
	var servers, tablets []func(context.Context) error
	for _, shard := range list {
		servers = append(servers, shard.startServer)
		tablets = append(tablets, func(ctx context.Context) error {
			if err := shard.startTablet(ctx); err != nil {
				return err
			}
			return shard.Reparent(ctx, shard.Tablet)
		})
	}
	if err := atOnce(ctx, servers); err != nil {
		return err
	}
	return atOnce(ctx, tablets)
}

// AddReplica starts a second tablet of the shard, or a further one, which follows its primary.
func (s *Shard) AddReplica(ctx context.Context) (*Tablet, error) {
	replica := s.newTablet()
	s.Replicas = append(s.Replicas, replica)
	if err := replica.startServer(ctx); err != nil {
		return nil, fmt.Errorf("vitess: %w", err)
	}
	if err := replica.startTablet(ctx); err != nil {
		return nil, fmt.Errorf("vitess: %w", err)
	}
	return replica, nil
}

// Reparent makes a tablet the primary, and the one before a replica.
func (s *Shard) Reparent(ctx context.Context, to *Tablet) error {
	return s.cluster.Control(ctx, "PlannedReparentShard", "--new-primary="+to.alias(), Keyspace+"/"+s.Name)
}

// ReparentFromDead makes a tablet the primary while the one before does not answer.
func (s *Shard) ReparentFromDead(ctx context.Context, to *Tablet) error {
	return s.cluster.Control(ctx, "EmergencyReparentShard", "--new-primary="+to.alias(), Keyspace+"/"+s.Name)
}
