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

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient/agent"
	"prescient/sql"
)

// watchEvery is how often agents --watch looks.
const watchEvery = 2 * time.Second

// Agents returns the command agents.
func Agents(prog *program.Program) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List the processes that work, what they serve and how much they do",
		Long: fmt.Sprintf(`Lists the agents: processes of work, which are heard of every %[1]s. One that was not for %[2]s is dead: it crashed, is
frozen, or is cut off from the database. It is listed for %[3]s more. One that ended is not listed, and neither are run and sweep.

busy is the share of worker.concurrency that was in use between the last two heartbeats of the agent, load that of its host in the
last minute.`, agent.Every, agent.DeadAfter, agent.ForgottenAfter),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return agents(cmd, prog, watch) },
	}
	cmd.Flags().BoolVar(&watch, "watch", false, fmt.Sprintf("look again every %s, until interrupted", watchEvery))
	return cmd
}

func agents(cmd *cobra.Command, prog *program.Program, watch bool) error {
	s, err := prog.Connect(cmd)
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		list, err := listAgents(cmd.Context(), s)
		if err != nil {
			return s.Explain(err)
		}
		if err := showAgents(cmd.OutOrStdout(), prog.JSON, watch, list); err != nil || !watch {
			return err
		}
		select {
		case <-cmd.Context().Done():
			return nil
		case <-time.After(watchEvery):
		}
	}
}

func listAgents(ctx context.Context, s *program.Session) ([]agent.Known, error) {
	ctx, cancel := context.WithTimeout(ctx, program.ConnectTime)
	defer cancel()
	return agent.List(ctx, s.DB, s.Config.TablePrefix, sql.Dialect(s.Config.Dialect))
}

// clearScreen goes to the top left of a terminal, and clears it.
const clearScreen = "\x1b[H\x1b[2J"

// showAgents prints agents in one piece, so that a terminal does not flicker: over what was there, where they are watched.
func showAgents(w io.Writer, asJSON, watched bool, list []agent.Known) error {
	if asJSON {
		return output.Lines(w, list)
	}
	var text bytes.Buffer
	if watched && output.IsTerminal(w) {
		text.WriteString(clearScreen)
	}
	var err error
	if len(list) == 0 {
		err = output.Say(&text, "no agent is there: no process of work was heard of lately")
	} else {
		err = output.Table(&text, agentColumns(), agentCells(list))
	}
	if err != nil {
		return err
	}
	_, err = w.Write(text.Bytes())
	return err
}

func agentColumns() []output.Column {
	return []output.Column{{Title: "agent"}, {Title: "state"}, {Title: "seen"}, {Title: "host"}, {Title: "pid", Right: true}, {Title: "version"}, {Title: "serves"},
		{Title: "pools"}, {Title: "busy", Right: true}, {Title: "long runs", Right: true}, {Title: "load", Right: true}, {Title: "memory", Right: true}}
}

func agentCells(list []agent.Known) (cells [][]string) {
	for _, a := range list {
		var pools []string
		for _, name := range slices.Sorted(maps.Keys(a.Pools)) {
			pools = append(pools, fmt.Sprintf("%s=%d", name, a.Pools[name]))
		}
		load := ""
		if a.Load != nil {
			load = fmt.Sprintf("%.2f", *a.Load)
		}
		cells = append(cells, []string{words.Clean(a.Name), string(a.State), a.Silent.Truncate(time.Second).String() + " ago", words.Clean(a.Host), fmt.Sprint(a.PID),
			words.Clean(a.Version), words.Clean(a.Assignment), words.Clean(strings.Join(pools, ",")), fmt.Sprintf("%.0f%%", 100*a.Busy), fmt.Sprint(a.LongRuns), load,
			fmt.Sprintf("%.0f MB", float64(a.MemoryBytes)/1e6)})
	}
	return cells
}
