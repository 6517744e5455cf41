package command_test

import (
	"context"
	"log"
	"time"

	"prescient/cmd"
	"prescient/jobs/command"
	"prescient/prescient"
)

// A program of one's own with a job_exec that runs a program. The shipped binary has the same by jobs.command in its configuration.
func Example() {
	cmd.Main(cmd.Options{Register: func(_ context.Context, r *prescient.Registry, _ cmd.Deps) error {
		backup, err := command.New(command.Options{
			Run:     []string{"/usr/local/bin/backup", "--customer", "{entity_key}"},
			User:    "backup",
			Timeout: 10 * time.Second,
			Memory:  256 << 20,
		})
		if err != nil {
			return err
		}
		return r.Register("backup", backup.Check, backup.Guards(prescient.Guards{MaxErrors: 3}))
	}})
}

// An export takes an hour: it is a long run, which holds no slot up.
func ExampleCommand_CheckLong() {
	cmd.Main(cmd.Options{Register: func(_ context.Context, r *prescient.Registry, deps cmd.Deps) error {
		export, err := command.New(command.Options{
			Run:   []string{`mysqldump shop "$1" | gzip > "/srv/dumps/$PRESCIENT_CHECK_IDEMPOTENCY_KEY.gz"`, "orders"},
			Shell: true,
			Log:   deps.Log,
		})
		if err != nil {
			log.Fatal(err)
		}
		return deps.Long.Register(r, "export", export.CheckLong, prescient.Guards{})
	}})
}
