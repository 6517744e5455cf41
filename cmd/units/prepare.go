package units

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient/audit"
	"prescient/prescient/shards"
	"prescient/sql"
	"prescient/sql/migrate"
)

// prepared is what vschema prepare --json prints of a shard.
type prepared struct {
	Shard  string          `json:"shard"`
	From   string          `json:"from"`
	Copied []shards.Copied `json:"copied"`
}

// Prepare returns the command vschema prepare.
func Prepare(prog *program.Program) *cobra.Command {
	return program.Reasoned(&cobra.Command{
		Use:   "prepare [SHARD]...",
		Short: "Make new shards of a keyspace ready to be served",
		Long: `Copies to shards that are to come in the place of others what has to be the same on each and what no reshard copies: the
slots, what is paused, rules, shared steps, who may call the API and sign in, and how far change queues are. So it is called
once the tables are there, after vtctldclient Reshard … create, and again right before switchtraffic, for what was changed
since. It replaces what the shards have of that. Without SHARD it does so for all that are not served yet, and for those that
were switched to unprepared: no worker runs anything there before. vtgate knows a new shard a minute later at the latest.`,
		Example: fmt.Sprintf(`  vtctldclient Reshard --workflow divide --target-keyspace shop create --source-shards=-80 --target-shards=-40,40-80 \
    --defer-secondary-keys=false
  %s vschema prepare
  vtctldclient Reshard --workflow divide --target-keyspace shop switchtraffic`, prog.Name),
		RunE: func(cmd *cobra.Command, args []string) error {
			return prog.Open(cmd, 0, func(s *program.Session) error { return prepare(cmd, s, args) })
		},
	})
}

func prepare(cmd *cobra.Command, s *program.Session, wanted []string) error {
	ctx := cmd.Context()
	served, err := s.Shards(ctx)
	if err != nil {
		return err
	}
	if len(served) == 0 {
		return exit.Usage(errors.New("shards are prepared on the DSN of a sharded keyspace of Vitess"))
	}
	ready, targets, err := toPrepare(ctx, s, served)
	switch {
	case err != nil:
		return err
	case len(ready) == 0:
		return errors.New("no shard that is served has what is to be copied: `migrate` makes the first")
	}
	for _, shard := range wanted {
		if !slices.Contains(targets, shard) {
			return exit.Usage(fmt.Errorf("shard %q is not to be prepared: it is served and ready, or vtgate knows no primary of it; to be prepared are %q", shard, targets))
		}
	}
	if len(wanted) == 0 {
		wanted = targets
	}
	if len(wanted) == 0 {
		return output.Answer(cmd.OutOrStdout(), s.Program.JSON, []prepared{}, "all shards are ready: %q", served)
	}
	for _, shard := range wanted {
		if err := prepareShard(cmd, s, ready[0], shard); err != nil {
			return fmt.Errorf("shard %s: %w", shard, err)
		}
	}
	return nil
}

// toPrepare divides the shards into those that are served and ready, and those that are to be prepared.
func toPrepare(ctx context.Context, s *program.Session, served []string) (ready, targets []string, err error) {
	targets, err = shards.Waiting(ctx, s.DB)
	if err != nil {
		return nil, nil, s.Explain(err)
	}
	for _, shard := range served {
		err := s.OnShard(shard, nil, func(on *program.Session) error {
			is, err := shards.Prepared(ctx, on.DB, s.Config.TablePrefix)
			if is {
				ready = append(ready, shard)
			} else {
				targets = append(targets, shard)
			}
			return on.Explain(err)
		})
		if err != nil && !errors.Is(err, shards.ErrNoTables) {
			return nil, nil, fmt.Errorf("shard %s: %w", shard, err)
		}
	}
	return ready, targets, nil
}

// prepareShard prepares one by another, whose audit has it: what the new one is to have of the audit comes by the reshard.
func prepareShard(cmd *cobra.Command, s *program.Session, from, shard string) error {
	ctx := cmd.Context()
	var did prepared
	err := s.OnShard(from, nil, func(source *program.Session) error {
		return s.OnShard(shard, nil, func(target *program.Session) error {
			dialect := sql.Dialect(s.Config.Dialect)
			copied, err := shards.Prepare(ctx, source.DB, target.DB, s.Config.TablePrefix, dialect)
			if err != nil {
				return target.Explain(err)
			}
			did = prepared{Shard: shard, From: from, Copied: copied}
			// A reshard makes no view.
			if _, err := migrate.Repair(ctx, target.DB.DB, migrate.Schema{Prefix: s.Config.TablePrefix, Resolution: s.Config.Grid.Resolution(), Dialect: dialect}); err != nil {
				return target.Explain(err)
			}
			log, err := audit.Open(ctx, source.DB, audit.Options{Prefix: s.Config.TablePrefix, Dialect: dialect})
			if err != nil {
				return source.Explain(err)
			}
			return source.Explain(log.Record(ctx, source.DB, audit.Entry{Kind: audit.Installation, ID: audit.InstallationID, Verb: "prepare",
				After: map[string]string{"shard": shard, "from": from}}))
		})
	})
	if err != nil {
		return err
	}
	if s.Program.JSON {
		return output.JSON(cmd.OutOrStdout(), did)
	}
	p := output.To(cmd.OutOrStdout())
	p.Say("shard %s has from shard %s:", shard, from)
	for _, table := range did.Copied {
		if table.Rows > 0 {
			p.Say("  %s: %s", table.Table, output.Count(table.Rows))
		}
	}
	return p.Err()
}
