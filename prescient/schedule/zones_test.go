package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
	text "prescient/sql"
)

// machine is a worker whose time zones are its own.
type machine struct {
	schedules *schedule.Schedules
	registry  *prescient.Registry
}

// machine makes one for which each name stands for the zone of another.
func (r *testRig) machine(zone string) machine {
	r.T.Helper()
	m := machine{schedule.WithZones(schedule.New(r.Client), func(string) (*time.Location, error) { return time.LoadLocation(zone) }), prescient.NewRegistry()}
	r.Must(m.schedules.Register(m.registry))
	r.Must(m.registry.Register("digest", r.schedules.Func(r.Pool(time.Time{}), r.called), prescient.Guards{}))
	return m
}

// Two workers, of which one takes a zone to be that of Lagos, an hour ahead all year, and the other that of Berlin, take turns at each slot.
// Runs and events are one each local day, with plain SQL, too, and in a mix with what is hourly.
func TestADailyScheduleFiresOnceADayByTwoTimeZoneDatabases(t *testing.T) {
	const resolution = time.Hour
	eachServerOn(t, resolution, func(t *testing.T, r *testRig) {
		machines := []machine{r.machine("Africa/Lagos"), r.machine("Europe/Berlin")}
		began := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC) // the day before Berlin goes ahead
		_, err := machines[0].schedules.CreateMany(t.Context(), r.AppAt(began), []schedule.Schedule{
			{ID: "run", Crontabs: []string{"0 8 * * *"}, Zone: "Europe/Berlin", JobExec: "digest"},
			{ID: "event", Crontabs: []string{"0 8 * * *"}, Zone: "Europe/Berlin", Topic: "t"},
			{ID: "jitter", Crontabs: []string{"0 8 * * *"}, Zone: "Europe/Berlin", Topic: "t", Jitter: 20 * time.Minute},
			{ID: "mixed", Crontabs: []string{"0 * * * *", "30 8 * * *"}, Zone: "Europe/Berlin", Topic: "t", MayCoalesce: true},
		})
		r.Must(err)
		daily := []string{"run", "event", "jitter"}
		if r.Dialect != text.Plain { // where a timer by plain SQL gives more columns
			daily = append(daily, "plain")
			r.Exec("INSERT INTO p_schedule (id, crontabs, zone, topic, created_at) VALUES ('plain', '0 8 * * *', 'Europe/Berlin', 't', ?)", began)
			r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('schedule', 'plain', 'schedule.fire', ?)", began.Add(resolution/2))
		}
		fired := make(map[string]map[string]int) // how often, by schedule and day
		days := 4
		for slot := range days * 24 {
			at := began.Add(time.Duration(slot+1) * resolution)
			r.RunAt(at.Add(time.Second), machines[slot/5%2].registry, worker.Options{})
			for _, id := range append(r.ids(), r.sent()...) {
				name, tag, err := schedule.ParseID(id)
				r.Must(err)
				var second int64
				fmt.Sscan(tag, &second)
				if fired[name] == nil {
					fired[name] = make(map[string]int)
				}
				fired[name][time.Unix(second, 0).UTC().Format("01-02")]++
			}
		}
		for _, id := range daily {
			if len(fired[id]) != days {
				t.Errorf("%s fired on %d days: %v", id, len(fired[id]), fired[id])
			}
			for day, n := range fired[id] {
				if n != 1 {
					t.Errorf("%s fired %d times on %s", id, n, day)
				}
			}
		}
		total := 0
		for _, n := range fired["mixed"] {
			total += n
		}
		if total < days*24 || total > days*24+1 { // half past is of the slot of the hour after it
			t.Errorf("hourly and daily fired %d times in %d days: %v", total, days, fired["mixed"])
		}
		r.Balanced()
	})
}

// The offset is written when it changes, and by all that computes a time.
func TestTheOffsetOfATimerIsKept(t *testing.T) {
	eachServerOn(t, time.Hour, func(t *testing.T, r *testRig) {
		lagos, berlin := r.machine("Africa/Lagos"), r.machine("Europe/Berlin")
		at := func(text string) time.Time {
			clock, err := time.Parse("01-02 15:04", text)
			r.Must(err)
			return clock.AddDate(2026, 0, 0)
		}
		daily := schedule.Schedule{ID: "daily", Crontabs: []string{"0 8 * * *"}, Zone: "Europe/Berlin", Topic: "t"}
		hourly := schedule.Schedule{ID: "hourly", Crontabs: []string{"0 * * * *", "@every 7h"}, Zone: "Europe/Berlin", Topic: "t"}
		is := func(step, offset, due string) {
			t.Helper()
			var got string
			r.Must(r.Root.QueryRow("SELECT CONCAT((SELECT COALESCE(utc_offset, 'none') FROM p_schedule WHERE id = 'daily'), ' ', (SELECT COALESCE(utc_offset, 'none') FROM p_schedule WHERE id = 'hourly'))").Scan(&got))
			if got != offset+" none" {
				t.Errorf("%s: kept %s; want %s none", step, got, offset)
			}
			if timer := r.timer("daily"); timer == nil && due != "" || timer != nil && timer.DueAt.Format("01-02 15:04") != due {
				t.Errorf("%s: the timer is %+v; want it at %s", step, timer, due)
			}
		}
		ctx := t.Context()
		_, err := lagos.schedules.CreateMany(ctx, r.AppAt(at("06-01 12:00")), []schedule.Schedule{daily, hourly})
		r.Must(err)
		is("created", "3600", "06-02 07:00")

		// Where one has other zones, a time that is to come is planned anew: once.
		was, now, err := berlin.schedules.PlanAnew(ctx, r.AppAt(at("06-01 12:10")), "daily")
		r.Must(err)
		if !was.Equal(at("06-02 07:00")) || !now.Equal(at("06-02 06:00")) {
			t.Errorf("planned anew from %s to %s", was, now)
		}
		is("planned anew", "7200", "06-02 06:00")
		for _, id := range []string{"daily", "hourly"} {
			if was, now, err = berlin.schedules.PlanAnew(ctx, r.AppAt(at("06-01 12:20")), id); err != nil || !was.Equal(now) || was.IsZero() {
				t.Errorf("planned anew twice: %s, %s, %v", was, now, err)
			}
		}
		// What would have been due by now is due at once, and not a day later; then nothing more comes that day.
		_, _, err = lagos.schedules.PlanAnew(ctx, r.AppAt(at("06-01 12:30")), "daily")
		r.Must(err)
		is("planned anew again", "3600", "06-02 07:00")
		_, _, err = berlin.schedules.PlanAnew(ctx, r.AppAt(at("06-02 06:30")), "daily")
		r.Must(err)
		is("planned anew too late", "7200", "06-02 06:30")
		r.RunAt(at("06-02 07:00").Add(time.Second), lagos.registry, worker.Options{})
		is("fired by the other", "3600", "06-03 07:00")
		if sent := r.sent(); len(slices.DeleteFunc(sent, func(id string) bool { return !strings.HasPrefix(id, "daily-") })) != 1 {
			t.Errorf("%q were sent", sent)
		}

		// What is paused and resumed, and given another zone.
		r.Did(lagos.schedules.Pause(ctx, r.AppAt(at("06-02 08:00")), "daily"))
		r.Did(berlin.schedules.Resume(ctx, r.AppAt(at("06-02 08:10")), "daily"))
		is("resumed", "7200", "06-03 06:00")
		other := daily
		other.Zone = "Asia/Tokyo"
		for step, text := range []string{"06-02 08:20", "06-02 08:30"} {
			s := schedule.New(r.Client)
			_, err = s.Update(ctx, r.AppAt(at(text)), other)
			r.Must(err)
			is(fmt.Sprint("in Tokyo ", step), "32400", "06-02 23:00")
		}
		// The zone of another crontab, from a machine that takes the clock for earlier: nothing is left out.
		_, err = schedule.New(r.Client).Update(ctx, r.AppAt(at("06-02 08:40")), daily)
		r.Must(err)
		is("in Berlin", "7200", "06-03 06:00")
		other.Zone, other.Crontabs = "Europe/Berlin", []string{"0 8 * * *", "0 15 * * *"}
		_, err = lagos.schedules.Update(ctx, r.AppAt(at("06-02 13:30")), other)
		r.Must(err)
		is("at another time", "3600", "06-02 14:00")
		other.Payload = []byte("1")
		_, err = berlin.schedules.Update(ctx, r.AppAt(at("06-02 13:40")), other)
		r.Must(err)
		is("with a payload", "3600", "06-02 14:00")
		r.Did(lagos.schedules.Pause(ctx, r.AppAt(at("06-02 13:50")), "daily"))
		is("paused", "3600", "")
	})
}
