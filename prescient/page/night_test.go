package page_test

import (
	"regexp"
	"strings"
	"testing"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/night"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/ops"
)

// mostClicks is how far from the first page the end of each incident is: links and buttons; a reason is typed.
const mostClicks = 3

// Somebody on call who has never seen the page finds each incident of a bad night, and mends it, or reads what to do and where.
func TestABadNightIsMendedByThreeClicksEach(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ThreadStates)
		night.Stage(&whole.Rig{Rig: r.Rig.Rig})
		r.ManyDue(rig.At("13:30"), "good", 3000, 3004) // of the slot that is too full
		r.serveAt(rig.At("13:20"))                     // which makes the accounts
		for _, right := range []string{"PROCESS ON *.*", "SELECT ON performance_schema.*"} {
			r.Exec("GRANT " + right + " TO '" + r.User("serve-admin") + "'@'%'")
		}
		r.Hold("DELETE FROM p_future_job WHERE next_check_at = '2026-11-20 12:15:00'")
		r.Eventually("it is shown who has the row locked", func() bool { // a server that is slow may tell too late
			r.serveAt(rig.At("13:20"))
			return strings.Contains(r.look(ops.Admin, "/blocking").Body, "KILL ")
		})
		counts := func(t *testing.T, want int, query string) {
			t.Helper()
			if n := r.Count("SELECT COUNT(*) FROM p_" + query); n != want {
				t.Errorf("%d of %s; want %d", n, query, want)
			}
		}
		for _, incident := range []struct {
			name  string
			role  ops.Role
			mends func(v *visitor)
		}{
			{"a job_exec that fails", ops.Operator, func(v *visitor) {
				v.sees("charge: 40 of 40 calls since 2026-11-20T12:20:00Z failed", "no account has order 1020")
				v.follows("Pause charge")
				v.sees("Checks of charge are not called until somebody resumes it", "It was called 40 times in the last hour.")
				v.presses("Pause", "_reason", "no account is there")
				v.sees("charge It is paused.")
				counts(v.T, 1, "job_pause WHERE job_exec = 'charge' AND reason = 'no account is there'")
			}},
			{"a misspelt job_exec", ops.Operator, func(v *visitor) {
				v.sees("7 checks of job_exec chrage are put off", "If the name is misspelt")
				v.follows("Cancel checks of chrage")
				v.presses("Look to what", "_reason", "misspelt")
				v.sees("7 checks match.", "job_exec=chrage")
				v.presses("Do it to all of them")
				v.sees("It has begun. It goes on when this page is closed.")
				r.Must(r.OpsAt(rig.At("13:20")).WorkBulk(v.Context(), "w"))
				counts(v.T, 0, "future_job WHERE job_exec = 'chrage'")
				counts(v.T, 7, "job_history WHERE job_exec = 'chrage' AND outcome = 'cancelled'")
			}},
			{"a worker that was killed", ops.Operator, func(v *visitor) {
				v.sees("w1 dead h1")
				v.follows("w1")
				v.sees("w1 dead: start it on h1 again, unless others serve its slots")
			}},
			{"a timer that died", ops.Operator, func(v *visitor) {
				v.sees("Of the live agents nobody serves :15, :45. Dead agents served these slots: the timer of run on h2 (share 2/2)", "Start `work` for these slots, or a timer that calls `run`.")
				v.follows("The agents")
				v.sees("run dead: start it on h2 again, unless others serve its slots")
			}},
			{"a forgotten pause", ops.Operator, func(v *visitor) {
				v.sees(`The job_exec remind has been paused since 2026-11-20T12:50:00Z by "ada": "deploy". 5 of`)
				v.follows("Resume remind")
				v.sees("Checks of remind are called again from the next slot on")
				v.presses("Resume", "_reason", "the deploy is over")
				v.sees("remind It is not paused any more.")
				counts(v.T, 0, "job_pause WHERE job_exec = 'remind'")
			}},
			{"a backlog", ops.Operator, func(v *visitor) {
				v.sees("601 checks are overdue, the oldest since 2026-11-20 12:15:00 UTC. 2.0 a second are caught up: 5 min to go at that rate.")
				v.follows("What is due, the oldest first")
				v.sees("order/locked good")
			}},
			{"a locked row", ops.Admin, func(v *visitor) {
				v.sees("good of order/locked was not run in its slot 2026-11-20T12:15:00Z: connection")
				v.follows("Who waits for whom")
				kill := regexp.MustCompile(`KILL \d+`).FindString(v.at.Body)
				if kill == "" {
					v.Fatal(v.at.Body)
				}
				r.Exec(kill) // an admin of the server does that: the page has no right to
				r.Eventually("nobody has the row any more", func() bool {
					r.serveAt(rig.At("13:20"))
					return strings.Contains(r.look(ops.Admin, "/blocking").Body, "No overdue check that was looked at is locked.")
				})
				counts(v.T, 1, "future_job WHERE entity_key = 'locked' FOR UPDATE")
			}},
			{"a bad crontab", ops.Operator, func(v *visitor) {
				v.sees(`The timers of schedules fail, and run again in each slot: "digest"`, `its minute is "61"; 0 to 59`)
				v.follows("Edit digest")
				v.presses("Look what changes", "crontabs", "0 13 * * *", "_reason", "61 is no minute")
				v.sees("61 * * * *", "0 13 * * *")
				v.presses("Save the schedule")
				v.sees("1 schedule was changed.")
				counts(v.T, 1, "schedule WHERE id = 'digest' AND crontabs = '0 13 * * *'")
				counts(v.T, 1, "future_job WHERE entity_key = 'digest' AND job_exec = 'schedule.fire' AND next_check_at = '2026-11-21 13:00:00'")
			}},
			{"a slot that is too full", ops.Operator, func(v *visitor) {
				v.sees("2026-11-20T13:30:00Z with 9,000 checks ends 2026-11-20T13:50:00Z, 5m0s after the next begins", "no: it ends after the next begins, by 5 min")
				v.follows("Move checks of 2026-11-20T13:30:00Z")
				v.presses("Look to what", "due_at", "2026-11-20T14:00", "_reason", "there is place at two")
				v.sees("4 checks match.")
				v.presses("Do it to all of them")
				r.Must(r.OpsAt(rig.At("13:20")).WorkBulk(v.Context(), "w"))
				counts(v.T, 0, "future_job WHERE next_check_at = '2026-11-20 13:30:00' AND job_exec = 'good'")
				counts(v.T, 4, "future_job WHERE next_check_at = '2026-11-20 14:00:00' AND job_exec = 'good'")
			}},
			{"a refused event", ops.Operator, func(v *visitor) {
				v.sees(`1 event was set aside, since a broker refused it, such as "e1"`)
				v.follows("Send them again, or drop them")
				v.follows("Send all of these again")
				v.sees("1 event that a broker refused is put into the outbox again", "too large")
				v.presses("Send again", "_reason", "the broker takes larger ones by now")
				counts(v.T, 0, "event_set_aside")
				counts(v.T, 1, "event_outbox WHERE id = 'e1'")
			}},
		} {
			t.Run(incident.name, func(t *testing.T) {
				r.serveAt(rig.At("13:20"))
				v := r.visits(t, incident.role)
				incident.mends(v)
				if v.clicks > mostClicks {
					t.Errorf("it took %d clicks", v.clicks)
				}
			})
		}
	})
}
