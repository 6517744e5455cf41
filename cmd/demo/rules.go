package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/config"
	"prescient/config/value"
	"prescient/prescient/service"
	"prescient/sql/migrate"
)

// rulesTime bounds the demonstration of conditions.
const rulesTime = time.Minute

// rules is all that is configured: two alerts about an order that does not ship, without a line of Go.
const rules = `jobs:
  sql:
    - exec: order-unshipped
      table: %sshop_orders
      column: id
      key: int
      while: shipped_at IS NULL
      topics: [orders.late, orders.very-late]   # the first time, and the second time
      again: [3s]                               # after the first
      set: alerts = alerts + 1
`

// playRules shows checks that are a condition in the configuration.
func playRules(cmd *cobra.Command, prog *program.Program, c config.Config, keep bool) (err error) {
	ctx, cancel := context.WithTimeout(cmd.Context(), rulesTime)
	defer cancel()
	p := &rulesPlay{stage: newStage(), out: output.To(cmd.OutOrStdout()), json: prog.JSON}
	defer func() { err = errors.Join(err, p.tearDown(keep)) }()
	if err := p.openDatabase(ctx, c.DSN, newTeller(prog, cmd.OutOrStdout(), demoFlags{lastsFor: rulesTime})); err != nil {
		return p.explain(err)
	}
	if _, err := migrate.Up(ctx, p.db.DB, migrate.Schema{Prefix: p.prefix, Resolution: demoResolution}); err != nil {
		return p.explain(err)
	}
	if _, err := p.app.ExecContext(ctx, "CREATE TABLE "+p.prefix+"shop_orders (id BIGINT PRIMARY KEY, shipped_at DATETIME(6), alerts INT NOT NULL DEFAULT 0)"); err != nil {
		return p.explain(err)
	}
	return p.explain(p.serve(ctx, cmd, prog))
}

// rulesPlay is a demonstration of conditions under way.
type rulesPlay struct {
	*stage
	out  *output.Printer
	json bool
	told []string // of events
}

func (p *rulesPlay) tell(format string, args ...any) {
	if !p.json {
		p.out.Say("%s  "+format, append([]any{time.Now().UTC().Format("15:04:05")}, args...)...)
	}
}

// serve plays while a service works by the file, as work does.
func (p *rulesPlay) serve(ctx context.Context, cmd *cobra.Command, prog *program.Program) error {
	folder, err := os.MkdirTemp("", "prescient-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	text := fmt.Sprintf(rules, p.prefix)
	file := filepath.Join(folder, "prescient.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, "table_prefix: %s\nslots: {resolution: %s}\nlog: {level: %s}\n%s", p.prefix, demoResolution, demoLogLevel, text), 0o600); err != nil {
		return err
	}
	own := *prog
	own.ConfigFile, own.NoDatabase, own.Env, own.Environ, own.Register = file, true, noEnvironment, nil, nil
	session, give, err := own.Begin(cmd, func(c *config.Config) { c.DSN = value.NewSecret(p.dsn) }, 0)
	if err != nil {
		return err
	}
	defer give()
	if err := session.NewService(ctx, func(context.Context, *service.Options) error { return nil }); err != nil {
		return err
	}
	if !p.json {
		p.out.Say("All of the configuration that is its own, and no Go:\n")
		for line := range strings.Lines(text) {
			p.out.Say("  %s", strings.TrimSuffix(line, "\n"))
		}
		p.out.Say("")
	}
	working, stop := context.WithCancel(ctx)
	worked := make(chan error, 1)
	go func() { worked <- session.Service.Run(working) }()
	err = p.play(ctx)
	stop()
	return errors.Join(err, <-worked)
}

// play places three orders: one ships before its first alert, one before its second, and one does not.
func (p *rulesPlay) play(ctx context.Context) error {
	for order, what := range []string{"ships in 1 s", "ships in 4 s", "does not ship"} {
		if err := p.place(ctx, order+1); err != nil {
			return err
		}
		p.tell("order/%d is placed, which %s; its check comes in 2 s", order+1, what)
	}
	for order, wait := range []time.Duration{time.Second, 3 * time.Second} {
		if err := p.watch(ctx, wait); err != nil {
			return err
		}
		if _, err := p.app.ExecContext(ctx, "UPDATE "+p.prefix+"shop_orders SET shipped_at = UTC_TIMESTAMP(6) WHERE id = ?", order+1); err != nil {
			return err
		}
		p.tell("order/%d is shipped", order+1)
	}
	for ended := 0; ended < 3; {
		if err := p.db.GetContext(ctx, &ended, "SELECT COUNT(*) FROM "+p.prefix+"job_history"); err != nil {
			return err
		}
		if err := p.watch(ctx, 200*time.Millisecond); err != nil { // also where all have ended: the last of them has its event
			return err
		}
	}
	return p.books(ctx)
}

// place does what an app does: the order and its check are one transaction.
func (p *rulesPlay) place(ctx context.Context, order int) error {
	tx, err := p.app.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, "INSERT INTO "+p.prefix+"shop_orders (id) VALUES (?)", order); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO "+p.prefix+"future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', ?, 'order-unshipped', UTC_TIMESTAMP(6) + INTERVAL 2 SECOND)",
		fmt.Sprint(order)); err != nil {
		return err
	}
	return tx.Commit()
}

// watch tells of events for a while.
func (p *rulesPlay) watch(ctx context.Context, wait time.Duration) error {
	for end := time.Now().Add(wait); ; {
		var events []struct {
			Topic string
			Key   string `db:"event_key"`
		}
		if err := p.db.SelectContext(ctx, &events, "SELECT topic, event_key FROM "+p.prefix+"event_outbox ORDER BY generated_at, event_key"); err != nil {
			return err
		}
		for _, e := range events { // one that was written earlier may commit later
			if line := fmt.Sprintf("event %-17s %s", e.Topic, e.Key); !slices.Contains(p.told, line) {
				p.told = append(p.told, line)
				p.tell("%s", line)
			}
		}
		if time.Now().After(end) {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// books compares what was told with what happened.
func (p *rulesPlay) books(ctx context.Context) error {
	var b struct {
		Done     int    `db:"done" json:"done"`
		Late     int    `db:"late" json:"late"`
		VeryLate int    `db:"very_late" json:"very_late"`
		Alerts   string `db:"alerts" json:"alerts"`
	}
	err := p.db.GetContext(ctx, &b, "SELECT (SELECT COUNT(*) FROM "+p.prefix+"job_history WHERE outcome = 'done') AS done, SUM(topic = 'orders.late') AS late, SUM(topic = 'orders.very-late') AS very_late, "+
		"(SELECT GROUP_CONCAT(alerts ORDER BY id) FROM "+p.prefix+"shop_orders) AS alerts FROM "+p.prefix+"event_outbox")
	if err != nil {
		return err
	}
	if p.json {
		p.out.JSON(b)
	} else {
		p.out.Say("\nThe books: %d checks are done, %d orders were late, %d very late; alerts that their rows count: %s", b.Done, b.Late, b.VeryLate, b.Alerts)
	}
	if b.Done != 3 || b.Late != 2 || b.VeryLate != 1 || b.Alerts != "0,1,2" {
		return errors.Join(p.out.Err(), errors.New("the books do not balance; want 3 checks done, 2 orders late, 1 very late, and alerts 0,1,2"))
	}
	return p.out.Err()
}
