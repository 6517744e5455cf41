package definition

import (
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/times"
	"prescient/prescient/schedule"
)

// Pages calls do for all that page returns behind a name, and behind the last of that, until it returns fewer than full.
func Pages[T any](full int, page func(after string) ([]T, error), name func(T) string, do func(T) error) error {
	after := ""
	for {
		list, err := page(after)
		if err != nil {
			return err
		}
		for _, one := range list {
			if err := do(one); err != nil {
				return err
			}
			after = name(one)
		}
		if len(list) < full {
			return nil
		}
	}
}

// Timers returns what the timers of schedules wait for. An account that may not see it is warned.
func Timers(cmd *cobra.Command, s *program.Session, ids []string) (map[string]time.Time, error) {
	due, err := s.Schedules.Timers(cmd.Context(), s.DB, ids...)
	if exit.IsDenied(err) {
		err = output.Say(cmd.ErrOrStderr(), "%s: warning: when they fire next cannot be seen by this account", s.Program.Name)
	}
	return due, err
}

// Next are the next times of a schedule: from what its timer waits for, where it has one.
func Next(one schedule.Stored, due map[string]time.Time, now time.Time, count int) []time.Time {
	all, _ := one.After(now) // whoever shows one that is no good says why
	if waits, is := due[one.ID]; is {
		all, _ = one.AfterTimer(waits)
	}
	return times.First(all, count)
}

// Time is a time for JSON; nil where it is zero.
func Time(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
