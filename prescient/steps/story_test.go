package steps_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/rig"
	"prescient/prescient/longrun"
	"prescient/prescient/longrun/wakeup"
	"prescient/prescient/steps"
)

// by is who changes jobs in a story, and why.
func (r *testRig) by(person, reason string) context.Context {
	return audit.With(r.T.Context(), audit.By{Person: person, Reason: reason, Command: "test"})
}

// told is the audit of jobs and steps in the order of time; what is of one time, in that of the alphabet.
func (r *testRig) told() (lines []string) {
	r.T.Helper()
	log, err := audit.Open(r.T.Context(), r.app(), audit.Options{Prefix: "p_", Dialect: r.Setting})
	r.Must(err)
	found, err := log.List(r.T.Context(), r.operator(), audit.Filter{})
	r.Must(err)
	if !slices.IsSortedFunc(found, func(a, b audit.Stored) int { return b.At.Compare(a.At) }) {
		r.T.Error("the latest entry of the audit does not come first")
	}
	for _, e := range found {
		if e.Kind == audit.Job || e.Kind == audit.Step {
			lines = append(lines, fmt.Sprintf("%s %s %s %s %s v%d: %s", e.At.Format("15:04:05"), e.Person, e.Verb, e.Kind, e.ID, e.Version, e.Reason))
		}
	}
	slices.Sort(lines)
	amiss, _, done, err := log.Versions(r.T.Context(), r.operator(), audit.Place{}, 1000)
	r.Must(err)
	if len(amiss) > 0 || !done {
		r.T.Errorf("amiss in the audit: %v, %v", amiss, done)
	}
	return lines
}

// The story of a job service: jobs of three steps on two crontabs, for the agents of a pool, among whom their runs are dealt out; they
// are edited while they run, paused and resumed, and the audit has who did what.
func TestTheStoryOfAJobService(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.OnePool)
		define := func(name string, crontabs ...string) steps.Job {
			return job(func(j *steps.Job) {
				j.Name, j.Pool, j.Crontabs = name, "heavy", crontabs
				j.Steps[0] = steps.Step{Name: "first", Shared: true}
			})
		}
		_, _, err := r.jobs.PutStep(r.by("ada", "one export for all"), r.app(), steps.Step{Name: "first", JobExec: "one", Arguments: []byte(`"old"`)}, 0)
		r.Must(err)
		for _, name := range []string{"nightly", "hourly"} {
			created, err := r.jobs.Create(r.by("ada", "a new report"), r.app(), define(name, "0 12 * * *", "5 12 * * *"))
			r.Must(err)
			if !created {
				t.Error("it was there")
			}
		}

		// Two agents serve the pool, with a place each; a third serves none, and runs the slots.
		w := new(wakeup.Memory)
		for _, name := range []string{"a", "b"} {
			r.agentWith(name, longrun.Options{Pools: map[string]int{"heavy": 1}, WakeUp: w}).serves()
		}
		timer := r.agentWith("timer", longrun.Options{WakeUp: w})
		timer.slot("12:00:00")
		one, other := r.running("first"), r.running("first")
		if one.agent == other.agent || one.agent == "timer" || other.agent == "timer" || one.job.EntityKey == other.job.EntityKey {
			t.Errorf("%s has %s, %s has %s", one.agent, one.job.EntityKey, other.agent, other.job.EntityKey)
		}
		nightly, hourly := one, other
		if one.job.EntityKey == "hourly" {
			nightly, hourly = other, one
		}
		hourly.answer <- prescient.Answer{}
		r.answers("second", prescient.Answer{})
		r.answers("third", prescient.Answer{})
		nightly.answer <- prescient.Answer{}
		second := r.running("second")
		if second.agent != nightly.agent {
			t.Errorf("%s took its second step from %s", second.agent, nightly.agent)
		}

		// It is edited in the middle of its second step: job and shared step. The run keeps what it began with.
		r.at("12:00:10")
		edited := define("nightly", "0 12 * * *", "2 12 * * *", "5 12 * * *", "7 12 * * *")
		edited.Steps[2].JobExec = "two"
		changed, err := r.jobs.Update(r.by("bob", "two o'clock is too late"), r.app(), edited, 1)
		r.Must(err)
		r.at("12:00:20")
		again, jobs, err := r.jobs.PutStep(r.by("bob", "the new table"), r.app(), steps.Step{Name: "first", JobExec: "one", Arguments: []byte(`"new"`)}, 1)
		r.Must(err)
		if !changed || !again || fmt.Sprint(jobs) != "[hourly nightly]" {
			t.Errorf("%v, %v, %q", changed, again, jobs)
		}
		second.answer <- prescient.Answer{}
		if third := r.running("third"); third.job.JobExec != "three" {
			t.Errorf("a run under way calls %s", third.job.JobExec)
		} else {
			third.answer <- prescient.Answer{}
		}
		steps3 := func(agent string) []string {
			return []string{"  1 first 1 " + agent + " done", "  2 second 1 " + agent + " done", "  3 third 1 " + agent + " done"}
		}
		first := append([]string{"12:00 v1 " + nightly.agent + " done"}, steps3(nightly.agent)...)
		r.wantLogOf("nightly", first...)
		r.wantLogOf("hourly", append([]string{"12:00 v1 " + hourly.agent + " done"}, steps3(hourly.agent)...)...)

		// The next run is that of the new crontab, with the new version.
		play := func(clock, want string) []string {
			timer.slot(clock)
			begun := r.running("first")
			if string(begun.job.Payload) != `"new"` || begun.job.EntityKey != "nightly" {
				t.Errorf("%s: %s of %s", clock, begun.job.Payload, begun.job.EntityKey)
			}
			begun.answer <- prescient.Answer{}
			r.answers("second", prescient.Answer{})
			if third := r.running("third"); third.job.JobExec != "two" {
				t.Errorf("%s: it calls %s", clock, third.job.JobExec)
			} else {
				third.answer <- prescient.Answer{}
			}
			return append([]string{want + " " + begun.agent + " done"}, steps3(begun.agent)...)
		}
		next := append(play("12:02:00", "12:02 v3"), first...)
		r.wantLogOf("nightly", next...)

		// Paused it does not run; resumed it does, and what was due meanwhile is not missed.
		r.at("12:03:00")
		r.Did(r.jobs.Pause(r.by("bob", "the warehouse is down"), r.app(), "nightly"))
		r.at("12:03:30")
		_, err = r.jobs.Delete(r.by("ada", "nobody reads it"), r.app(), "hourly")
		r.Must(err)
		timer.slot("12:05:00")
		r.wantLogOf("nightly", next...)
		r.at("12:06:00")
		r.Did(r.jobs.Resume(r.by("bob", "it is up"), r.app(), "nightly"))
		r.wantLogOf("nightly", append(play("12:07:00", "12:07 v3"), next...)...)

		want := []string{
			"11:59:00 ada create job hourly v1: a new report",
			"11:59:00 ada create job nightly v1: a new report",
			"11:59:00 ada create step first v1: one export for all",
			"12:00:10 bob update job nightly v2: two o'clock is too late",
			"12:00:20 bob update job hourly v2: the new table",
			"12:00:20 bob update job nightly v3: the new table",
			"12:00:20 bob update step first v2: the new table",
			"12:03:00 bob pause job nightly v3: the warehouse is down",
			"12:03:30 ada delete job hourly v3: nobody reads it",
			"12:06:00 bob resume job nightly v3: it is up",
		}
		if got := r.told(); !slices.Equal(got, want) {
			t.Errorf("the audit is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		r.Balanced()
	})
}
