package acceptance

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker"
)

// The nights on which Central Europe sets its clocks: an hour that there is twice, and one that there is not.
var (
	autumn = time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC) // 03:00 becomes 02:00
	spring = time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)  // 02:00 becomes 03:00
)

// daylightZone makes a zone on the server that is an hour further east between the two nights.
func (r *testRig) daylightZone() (name string) {
	const id = 60606
	name = "Prescient_Night"
	for _, statement := range []string{
		"REPLACE INTO mysql.time_zone (Time_zone_id, Use_leap_seconds) VALUES (%d, 'N')",
		"REPLACE INTO mysql.time_zone_name (Name, Time_zone_id) VALUES ('" + name + "', %d)",
		"REPLACE INTO mysql.time_zone_transition_type (Time_zone_id, Transition_type_id, `Offset`, Is_DST, Abbreviation) VALUES (%d, 0, 3600, 0, 'CET')",
		"REPLACE INTO mysql.time_zone_transition_type (Time_zone_id, Transition_type_id, `Offset`, Is_DST, Abbreviation) VALUES (%d, 1, 7200, 1, 'CEST')",
		fmt.Sprintf("REPLACE INTO mysql.time_zone_transition (Time_zone_id, Transition_time, Transition_type_id) VALUES (%%d, %d, 1)", spring.Unix()),
		fmt.Sprintf("REPLACE INTO mysql.time_zone_transition (Time_zone_id, Transition_time, Transition_type_id) VALUES (%%d, %d, 0)", autumn.Unix()),
	} {
		r.Exec(fmt.Sprintf(statement, id))
	}
	return name
}

// On a night on which the clocks are set, each check runs in its own slot and once, whatever zone the app's connection
// and the server have: also in the hour that there is twice, and around the one that there is not.
func TestANightOnWhichTheClocksAreSet(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ZoneTables)
		zone := "time_zone=%27" + r.daylightZone() + "%27"
		for name, turn := range map[string]time.Time{"autumn": autumn, "spring": spring} {
			t.Run(name, func(t *testing.T) {
				began := turn.Add(-2 * time.Hour)
				app := servertest.Open(t, servertest.WithParams(r.Account("app-reschedule"), rig.FixedClock(began)), zone+"&parseTime=true&loc=Local")
				var local string
				r.Must(app.QueryRow("SELECT CAST(NOW() AS CHAR)").Scan(&local))
				if want := map[string]string{"autumn": "2026-10-25 01:00:00", "spring": "2026-03-29 00:00:00"}[name]; local != want {
					t.Fatalf("it is %s there; want %s", local, want)
				}
				// A check each quarter of an hour, half of them by plain SQL, half by the client.
				var slots []string
				for i := range 16 {
					due := began.Add(time.Duration(i+1) * 15 * time.Minute)
					key := due.Format("15:04")
					slots = append(slots, key)
					if i%2 == 0 {
						_, err := app.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', ?, 'check', UTC_TIMESTAMP(6) + INTERVAL ? MINUTE)",
							key, 15*(i+1))
						r.Must(err)
						continue
					}
					_, err := r.Client.Insert(t.Context(), app, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: key}, JobExec: "check", DueAt: due})
					r.Must(err)
				}
				var h rig.Hooks
				var c rig.Calls
				execs := rig.Registry("check", c.Count, prescient.Guards{})
				var ran []string
				for now := began; !now.After(began.Add(4*time.Hour + 15*time.Minute)); now = now.Add(15 * time.Minute) {
					w, err := worker.New(t.Context(), r.HookedPool(now, &h, zone), worker.Options{Prefix: "p_", Registry: execs})
					r.Must(err)
					f, err := w.Run(t.Context())
					r.Must(err)
					if f.Done > 0 {
						ran = append(ran, f.Slot.Format("15:04"))
					}
					if f.Done > 1 || !f.Slot.Equal(now) {
						t.Errorf("at %s: %+v", now, f)
					}
				}
				if !slices.Equal(ran, slots) {
					t.Errorf("ran at %v; want %v", ran, slots)
				}
				c.EachOnce(t, len(slots))
				for _, end := range r.History() {
					if got := end.Slot.Format("15:04"); end.EntityKey != got || end.StartedAt.Before(end.Slot) {
						t.Errorf("%s ran in slot %s at %s", end.EntityKey, got, end.StartedAt)
					}
				}
				r.Exec("TRUNCATE TABLE p_job_history")
			})
		}
	})
}
