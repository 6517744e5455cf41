package cmd_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"prescient/cmd"
	"prescient/prescient"
)

// A program with job_execs of its own has every command of the shipped one.
func ExampleMain() {
	cmd.Main(cmd.Options{
		Program: "shopchecks",
		Register: func(_ context.Context, registry *prescient.Registry, deps cmd.Deps) error {
			unpaid := func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
				var paid bool
				err := deps.DB.GetContext(ctx, &paid, "SELECT paid_at IS NOT NULL FROM invoices WHERE id = ?", job.EntityKey)
				if err != nil || paid {
					return nil, err
				}
				return prescient.At(job.DueAt.Add(24 * time.Hour)), nil
			}
			return registry.Register("invoice-unpaid", unpaid, prescient.Guards{Timeout: 5 * time.Second})
		},
	})
}

// Tests of such a program can run its command lines in their own process.
func ExampleRun() {
	code := cmd.Run(context.Background(), cmd.Options{
		Args:   []string{"slots", "ceil", "2026-03-01 13:05"},
		Stdout: os.Stdout,
		Env:    func(string) (string, bool) { return "", false },
	})
	fmt.Println(code)
	// Output:
	// 2026-03-01T13:15:00Z
	// 0
}
