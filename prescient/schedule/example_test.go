package schedule_test

import (
	"context"
	"database/sql"
	"fmt"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/schedule"
)

// A user signs up, and gets a digest on working days, at half past eight by the user's clock.
func ExampleSchedules_Create() {
	signUp := func(ctx context.Context, tx *sql.Tx, schedules *schedule.Schedules, user, zone string) error {
		// … INSERT INTO users …
		_, err := schedules.Create(ctx, tx, schedule.Schedule{
			ID: "digest/" + user, Crontabs: []string{"30 8 * * mon-fri"}, Zone: zone, JobExec: "digest",
			Payload: []byte(`{"to":"` + user + `"}`), Owner: prescient.Entity{Name: "user", Key: user},
		})
		return err
	}
	_ = signUp
}

// A worker fires schedules where its registry has their timers, and what they run.
func ExampleSchedules_Register() {
	register := func(db *sql.DB, checks *client.Client, registry *prescient.Registry) error {
		schedules := schedule.New(checks)
		if err := schedules.Register(registry); err != nil {
			return err
		}
		return registry.Register("digest", schedules.Func(db, func(ctx context.Context, run schedule.Run) error {
			// run.ID is the same for every call of this occurrence: a receiver can drop repeats by it.
			fmt.Println(run.ID, run.At, string(run.Payload))
			return nil
		}), prescient.Guards{})
	}
	_ = register
}

func ExampleParseID() {
	id, tag, err := schedule.ParseID("digest/7-1795170600")
	fmt.Println(id, tag, err)
	// Output: digest/7 1795170600 <nil>
}
