package stage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prescient/prescient/connect"
	"prescient/prescient/localserver/vitess"
	"prescient/prescient/shards"
	"prescient/scripts/chaos/checker/evidence"
)

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

// clockDSN names who is asked for the time: of a Vitess the last shard, of which alone nothing is broken, by the way of the workers. All are on one
// machine.
func (s *Stage) clockDSN() string {
	if s.Engine.Vitess == nil {
		return s.dsn("")
	}
	return s.Engine.Vitess.Shards[1].DSN()
}
