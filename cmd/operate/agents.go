package operate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient/agent"
	"prescient/sql"
)

// watchEvery is how often agents and status look again with --watch.
const watchEvery = 2 * time.Second

// Agents returns the command agents.
func Agents(prog *program.Program) *cobra.Command {
	var watch, pools bool
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List the processes and timers that work, what they serve and how much they do",
		Long: fmt.Sprintf(`Lists the agents: processes of work, which are heard of every %[1]s. One that was not for %[2]s is dead: it crashed, is
frozen, or is cut off from the database. It is listed for %[3]s more, unless one of its name is back. One that ended is not listed.

Timers that call run or sweep are listed between their calls, too. One is dead where it did not come for its next slot, or was silent for
twice as long as there is between its sweeps, and %[2]s passed since. Timers that serve the same slots are one; its host is that of the last.

What drain told to take nothing new is draining once it has heard that, within %[4]s.

busy is the share of worker.concurrency that was in use between the last two heartbeats of the agent, host load that of its host in
the last minute. What stands in parentheses is what a dead agent said last.

--pools lists the pools of long runs instead: how many live agents serve each, how many places they have, how many runs of it agents have,
and how many wait for one, for how long.`, agent.Every, agent.DeadAfter, agent.ForgottenAfter, agent.Every+agent.Every/10),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if pools {
				return watched(cmd, prog, watch, agent.Pools, "There is no pool: no live agent serves one, and no long run is under way.", poolColumns, poolCells)
			}
			return watched(cmd, prog, watch, agent.List, fmt.Sprintf("There is no agent: in these tables no process of work and no timer was heard of in the last %s.", agent.ForgottenAfter), agentColumns, agentCells)
		},
	}
	cmd.Flags().BoolVar(&pools, "pools", false, "list the pools of long runs, and what waits in them")
	cmd.Flags().BoolVar(&watch, "watch", false, fmt.Sprintf("look again every %s, until interrupted", watchEvery))
	cmd.AddCommand(drainCommand(prog), undrainCommand(prog))
	return cmd
}

// watched prints a list once, or again and again.
func watched[T any](cmd *cobra.Command, prog *program.Program, watch bool, read func(context.Context, *sqlx.DB, string, sql.Dialect) ([]T, error), none string,
	columns []output.Column, cells func(T) []string) error {
	return prog.ReadEach(cmd, func(s *program.Session) error {
		return again(cmd, s, watch, func(ctx context.Context, to io.Writer) error {
			list, err := read(ctx, s.DB, s.Config.TablePrefix, sql.Dialect(s.Config.Dialect))
			if err != nil {
				return s.Explain(err)
			}
			return output.Rows(to, prog.JSON, list, none, columns, cells)
		})
	})
}

// again looks once, or again and again, and prints each look in one piece, so that a terminal does not flicker.
func again(cmd *cobra.Command, s *program.Session, watch bool, look func(ctx context.Context, to io.Writer) error) error {
	if watch {
		if err := s.OneShard("--watch"); err != nil {
			return err
		}
	}
	for {
		var text bytes.Buffer
		if watch && !s.Program.JSON && output.IsTerminal(cmd.OutOrStdout()) {
			text.WriteString(clearScreen)
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), program.ConnectTime)
		err := look(ctx, &text)
		cancel()
		switch {
		case err != nil && watch && cmd.Context().Err() != nil:
			return nil // the look was interrupted
		case err != nil:
			return err
		}
		if _, err := cmd.OutOrStdout().Write(text.Bytes()); err != nil || !watch {
			return err
		}
		select {
		case <-cmd.Context().Done():
			return nil
		case <-time.After(watchEvery):
		}
	}
}

// clearScreen goes to the top left of a terminal, and clears it.
const clearScreen = "\x1b[H\x1b[2J"

var agentColumns = []output.Column{{Title: "agent"}, {Title: "kind"}, {Title: "state"}, {Title: "seen"}, {Title: "host"}, {Title: "pid", Right: true}, {Title: "version"}, {Title: "serves"},
	{Title: "pools"}, {Title: "busy", Right: true}, {Title: "long runs", Right: true}, {Title: "host load", Right: true}, {Title: "memory", Right: true}}

func agentCells(a agent.Known) []string {
	var pools []string
	for _, name := range slices.Sorted(maps.Keys(a.Pools)) {
		pools = append(pools, fmt.Sprintf("%s=%d", name, a.Pools[name]))
	}
	load := ""
	if a.Load != nil {
		load = fmt.Sprintf("%.2f", *a.Load)
	}
	serves := words.Clean(a.Assignment)
	if a.Kind == agent.Sweep {
		serves = "overdue slots"
	}
	state, did := string(a.State), []string{fmt.Sprintf("%.0f%%", 100*a.Busy), fmt.Sprint(a.LongRuns), load, fmt.Sprintf("%.0f MB", float64(a.MemoryBytes)/1e6)}
	if a.Drain && a.State == agent.Live {
		state += ", to drain"
	}
	state += words.Clip(a.Wish(), 200)
	if a.State == agent.Dead {
		if a.DueAt != nil {
			state += ", did not come"
		}
		for i, one := range did {
			if one != "" {
				did[i] = "(" + one + ")"
			}
		}
	}
	return append([]string{words.Clean(a.Name), words.Clean(string(a.Kind)), state, a.Silent.Truncate(time.Second).String() + " ago", words.Clean(a.Host), fmt.Sprint(a.PID),
		words.Clean(a.Version), serves, words.Clean(strings.Join(pools, ","))}, did...)
}

var poolColumns = []output.Column{{Title: "pool"}, {Title: "agents", Right: true}, {Title: "places", Right: true}, {Title: "running", Right: true},
	{Title: "waiting", Right: true}, {Title: "oldest", Right: true}}

func poolCells(p agent.Pool) []string {
	name, agents, places, oldest := words.Clean(p.Name), fmt.Sprint(p.Agents), fmt.Sprint(p.Places), ""
	if p.Name == "" {
		name, agents, places = "(none)", "", ""
	}
	if p.Waiting > 0 {
		oldest = p.Oldest.Truncate(time.Second).String()
	}
	return []string{name, agents, places, fmt.Sprint(p.Running), fmt.Sprint(p.Waiting), oldest}
}
