package checker

import (
	"maps"
	"slices"
	"time"

	"prescient/prescient/schedule/timeline"
	"prescient/scripts/chaos/checker/evidence"
)

// What schedules have in the tables.
const (
	timerExec  = "schedule.fire" // job_exec of their timers
	superseded = "superseded"    // how what an update or a pause ended has ended
)

// plan is all that is known of one schedule.
type plan struct {
	id      string
	changes []Event // by time; once gathered, those that took effect
	row     *evidence.ScheduleRow
	timers  []evidence.ScheduleJob // that wait
	over    []evidence.ScheduleJob // timers that changes ended, by time
	runs    map[string]*runStory
	events  []evidence.OutboxRow
	spans   []*span
}

// runStory is all that is known of the run of one occurrence.
type runStory struct {
	*story // its calls
	jobs   []evidence.ScheduleJob
}

// span is a time in which a schedule was enabled, and had one definition. The timer says of each what it fired: what is due from
// first on, and before next.
type span struct {
	Definition
	line     shifted
	begin    Event
	kept     bool   // its timeline is that of the span before it, and so is the occurrence that it begins with
	caughtUp bool   // it ended with a pause, which fired what was due
	end      *Event // nil where it was in force at the end
	first    time.Time
	next     time.Time
	passed   int // how often the timer passed over occurrences
}

// shifted is a timeline whose occurrences are due later by the jitter of the schedule.
type shifted struct {
	*timeline.Timeline
	by time.Duration
}

func (s shifted) after(t time.Time) time.Time {
	at, ok := s.Next(t.Add(-s.by))
	if !ok {
		return time.Time{}
	}
	return at.Add(s.by)
}

func (j *judgement) plan(id string) *plan {
	p := j.plans[id]
	if p == nil {
		p = &plan{id: id, runs: make(map[string]*runStory)}
		j.plans[id] = p
	}
	return p
}

// run is the story of a run; its id is below 0.
func (j *judgement) run(schedule, exec, tag string) *story {
	p := j.plan(schedule)
	r := p.runs[tag]
	if r == nil {
		r = &runStory{story: j.story(-1 - int64(len(j.stories)))}
		r.insert = Event{Key: schedule, Exec: exec, Tag: tag}
		p.runs[tag] = r
	}
	return r.story
}

// gatherSchedules groups rows by schedule.
func (j *judgement) gatherSchedules() {
	for _, row := range j.tables.Schedules.Rows {
		j.plan(row.ID).row = &row
	}
	for _, job := range j.tables.Schedules.Jobs {
		p := j.plan(job.Schedule)
		switch {
		case job.Exec == timerExec && job.Outcome == "":
			p.timers = append(p.timers, job)
		case job.Exec == timerExec:
			p.over = append(p.over, job)
		default:
			s := j.run(job.Schedule, job.Exec, job.Tag)
			p.runs[job.Tag].jobs = append(p.runs[job.Tag].jobs, job)
			if job.Outcome != "" {
				s.ended = append(s.ended, job.Ended)
			}
		}
	}
	for _, row := range j.tables.Schedules.Outbox {
		p := j.plan(row.Key)
		p.events = append(p.events, row)
	}
	for _, id := range slices.Sorted(maps.Keys(j.plans)) {
		p := j.plans[id]
		slices.SortFunc(p.over, func(a, b evidence.ScheduleJob) int { return a.At.Compare(b.At) })
		timer := j.story(-1 - int64(len(j.stories)))
		timer.timer, timer.insert, timer.cancels = true, Event{Key: id, Exec: timerExec}, p.changes
		for _, r := range p.runs {
			r.cancels = p.changes
		}
	}
}

// isDue says whether a time is an occurrence.
func (s *span) isDue(t time.Time) bool { return s.line.after(t.Add(-1)).Equal(t) }

func stamp(t time.Time) string { return t.UTC().Format("15:04:05.999") }

// Planned is the verdict's part about schedules.
type Planned struct {
	Schedules  int // that were created
	Changes    int // of them that were committed, other than that
	Events     int
	Runs       int // that ended by themselves, or wait
	Missed     int // of those: ended as missed
	Apart      int // of those: ended as overlapped or too_soon
	Quota      int // of those: ended as quota
	Superseded int // runs that a change ended
	PassedOver int // times that timers passed over occurrences
	Latest     time.Duration
}

// when returns bounds of the database's time at which a change took effect.
func (j *judgement) when(e Event) (low, high time.Time) {
	low, _ = j.clock.at(e.At - e.Took)
	_, high = j.clock.at(e.At)
	if e.Result == Unknown { // the server may have done it after the connection broke
		high = high.Add(j.rules.InFlight)
	}
	return low, high
}

// planFinds notes a finding about a schedule.
func (j *judgement) planFinds(rule string, p *plan, format string, args ...any) {
	j.find(rule, 0, format, args...)
	j.report.Findings[len(j.report.Findings)-1].Key = p.id
}
