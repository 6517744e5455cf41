package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
// keeps no other from being done, and an interrupt all that follow; before what one prints for people stands which it is, and in each object of JSON.
func (prog *Program) OpenEach(cmd *cobra.Command, lease time.Duration, do func(s *Session) error) error {
	return prog.Open(cmd, lease, func(s *Session) error {
		list, err := s.Shards(cmd.Context())
		switch {
		case err != nil:
			return err
		case len(list) == 0:
			return do(s)
		}
		var errs []error
		for _, shard := range list {
			if err := s.onShard(cmd, shard, do); err != nil {
				errs = append(errs, fmt.Errorf("shard %s: %w", shard, err))
			}
			if cmd.Context().Err() != nil {
				break
			}
		}
		return together(errs)
	})
}

// together is what the errors of shards come to. Where output says them all, the worst exit code counts; else those that it does not say, with their
// exit code, or that of any failure where they have several: none is to be taken for all that went wrong.
func together(errs []error) error {
	var unsaid []error
	code := exit.CodeOK
	for _, err := range errs {
		switch is := exit.Code(err); {
		case exit.Printed(err):
			continue
		case is == exit.CodeInterrupted, code == exit.CodeOK:
			code = is
		case code != is && code != exit.CodeInterrupted:
			code = exit.CodeFailure
		}
		unsaid = append(unsaid, err)
	}
	switch {
	case len(unsaid) > 0:
		return &exit.Error{Code: code, Err: errors.Join(unsaid...)}
	case len(errs) > 0:
		return slices.MaxFunc(errs, func(a, b error) int { return cmp.Compare(exit.Code(a), exit.Code(b)) })
	}
	return nil
}

// onShard is OnShard for one of several, one after the other, which what is printed names.
func (s *Session) onShard(cmd *cobra.Command, shard string, do func(s *Session) error) error {
	out := cmd.OutOrStdout()
	if !s.Program.JSON {
		if err := output.Say(out, "shard %s:", shard); err != nil {
			return err
		}
		return s.OnShard(shard, nil, do)
	}
	named, err := output.OnShard(out, shard)
	if err != nil {
		return err
	}
	cmd.SetOut(named)
	defer cmd.SetOut(out)
	return s.OnShard(shard, nil, do)
}

// ConnectEach is OpenEach with a client.
func (prog *Program) ConnectEach(cmd *cobra.Command, do func(s *Session) error) error {
	return prog.OpenEach(cmd, 0, func(s *Session) error {
		if err := s.NewClient(cmd.Context()); err != nil {
			return err
		}
		return do(s)
	})
}

// ReadEach is OpenEach for a command that writes nothing, as Read.
func (prog *Program) ReadEach(cmd *cobra.Command, do func(s *Session) error) error {
	return prog.OpenEach(cmd, 0, func(s *Session) error { return s.read(cmd.Context(), do) })
}

// OneShard refuses a command on each of several shards that would never come to the second.
func (s *Session) OneShard(what string) error {
	if s.Shard == "" {
		return nil
	}
	return exit.Usage(fmt.Errorf("%s looks at one shard of Vitess, which the DSN is to name, as in /shop:%s", what, s.Shard))
}
