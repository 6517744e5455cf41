package operate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/blocking"
)

func TestBlocking(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		// Without the rights it says what it cannot see, and what helps.
		got := r.Execute("blocking")
		if got.Code != cmd.ExitOK || !strings.Contains(got.Out, "Whether sessions wait for others does not show.\nNot shown is who waits for whose rows.\n") || !strings.Contains(got.Out, "      → GRANT PROCESS ON *.* TO '") {
			r.Error(got)
		}
		if got = r.Execute("blocking", "--json"); got.Code != cmd.ExitOK || !strings.Contains(got.Out, `{"unseen":"who waits for whose rows","do":"GRANT PROCESS ON *.* TO '`) {
			r.Error(got)
		}
		r.Execute("blocking", "--watch", "1ms").Wants(r.T, cmd.ExitUsage, "--watch", "--watch 1ms: 500ms to 1h are allowed")
		r.Execute("blocking", "--watch", "often").Wants(r.T, cmd.ExitUsage, "--watch", "often")

		// The owner of the tests' database sees all.
		r.Account("operator")
		for _, right := range []string{"PROCESS ON *.*", "SELECT ON performance_schema.*"} {
			r.Exec("GRANT " + right + " TO '" + r.User("operator") + "'@'%'")
		}
		if got = r.Execute("blocking"); got.Code != cmd.ExitOK || got.Out != "No session is seen to wait for another.\n" {
			r.Error(got)
		}
		root, err := r.DB.Conn(r.Context())
		r.Must(err)
		defer root.Close()
		var id uint64
		r.Must(root.QueryRowContext(r.Context(), "SELECT CONNECTION_ID()").Scan(&id))
		const change = "UPDATE slot_config SET changed_at = changed_at + INTERVAL 1 SECOND"
		for _, statement := range []string{"BEGIN", change} {
			_, err = root.ExecContext(r.Context(), statement)
			r.Must(err)
		}
		waited := make(chan error, 1)
		go func() {
			_, err := r.DB.ExecContext(context.WithoutCancel(r.Context()), change)
			waited <- err
		}()
		// What is watched is shown until it is interrupted.
		r.Watch(fmt.Sprintf("connection %d, root@", id), 2, "blocking", "--watch", "500ms").Wants(r.T, cmd.ExitOK)
		got = r.Execute("blocking")
		for _, want := range []string{fmt.Sprintf("connection %d, root@", id), fmt.Sprintf("\n  → KILL %d ends this session and rolls its transaction back. Sessions that wait for it: 1.\n  connection ", id),
			" for a row of slot_config, in PRIMARY", "\n    does: " + change} {
			if got.Code != cmd.ExitWarn || !strings.Contains(got.Out, want) {
				r.Errorf("%v; want %q", got, want)
			}
		}
		got = r.Execute("blocking", "--json")
		chains := rig.Lines[blocking.Node](r.T, got.Out)
		if got.Code != cmd.ExitWarn || len(chains) != 1 || chains[0].ID != id || len(chains[0].Behind) != 1 || chains[0].Behind[0].Statement != change ||
			chains[0].End != fmt.Sprintf("KILL %d", id) || chains[0].Behind[0].Waits.Table != "slot_config" {
			r.Errorf("%v: %+v", got, chains)
		}
		r.Exec(chains[0].End)
		r.Must(<-waited)
	})
}
