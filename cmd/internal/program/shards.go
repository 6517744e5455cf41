package program

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/prescient"
	"prescient/prescient/shards"
	"prescient/sql"
)

// Shards lists the shards of Vitess that the command is to do its work on, each for itself; none where the DSN is that of one database. It is
// that of a keyspace otherwise, which in the dialect plain may be one whose only shard is spoken to as it is.
func (s *Session) Shards(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, ConnectTime)
	defer cancel()
	if untargeted, err := shards.Untargeted(ctx, s.DB); err != nil || !untargeted {
		return nil, s.Explain(err)
	}
	list, err := shards.List(ctx, s.DB)
	if err == nil && len(list) == 1 && sql.Dialect(s.Config.Dialect) == sql.Plain {
		return nil, nil
	}
	return list, s.Explain(err)
}

// OnShard does something in a session of its own on a shard: with its own pool, registry and log. away is called each time that the shard
// answers that it has no server; nil for nothing.
func (s *Session) OnShard(shard string, away func(), do func(s *Session) error) error {
	dsn, err := s.Config.RequireDSN()
	if err != nil {
		return err
	}
	on := &Session{Program: s.Program, Config: s.Config, Log: s.Log.With().Str("shard", shard).Logger(), Registry: prescient.NewRegistry(),
		Shard: shard, lease: s.lease, away: away}
	if on.DB, err = on.OpenPool(dsn, on.lease); err != nil {
		return err
	}
	defer on.close()
	return do(on)
}

// OpenEach is Open for what is done on each shard of Vitess for itself, one after the other, where the DSN is that of a keyspace. One that fails
// keeps no other from being done; before what one prints for people stands which it is.
func (prog *Program) OpenEach(cmd *cobra.Command, lease time.Duration, do func(s *Session) error) error {
	return prog.Open(cmd, lease, func(s *Session) error {
		list, err := s.Shards(cmd.Context())
		switch {
		case err != nil:
			return err
		case len(list) == 0:
			return do(s)
		}
		var said, unsaid []error
		for _, shard := range list {
			if !prog.JSON {
				if err := output.Say(cmd.OutOrStdout(), "shard %s:", shard); err != nil {
					return err
				}
			}
			err := s.OnShard(shard, nil, do)
			switch known := new(exit.Error); {
			case err == nil:
			case errors.As(err, &known) && known.Printed:
				said = append(said, err)
			default:
				unsaid = append(unsaid, fmt.Errorf("shard %s: %w", shard, err))
			}
		}
		if len(unsaid) > 0 {
			return errors.Join(unsaid...)
		}
		return errors.Join(said...)
	})
}
