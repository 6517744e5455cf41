package checker

import (
	"prescient/scripts/chaos/checker/evidence"
)

// A keyspace of Vitess is judged shard by shard, each as a database of its own: what the journal has of its rows is held against its tables. A row
// that lies on another shard than its own is lost here, and nobody has inserted it there.

// Of are the events that a shard is judged by: those of entities whose keys lie on it, faults that hit it, and what is about all.
func Of(events []Event, shard string, keys evidence.Keys, entity string) (list []Event) {
	for _, e := range events {
		switch e.Kind {
		case Clock, Stall:
		case Fault:
			if e.Shard != "" && e.Shard != shard {
				continue
			}
		default:
			if !keys.Have(evidence.PlaceOf(e.entity(entity))) {
				continue
			}
		}
		list = append(list, e)
	}
	return list
}

// entity is what an event is about, where checks have this entity_name.
func (e Event) entity(checks string) (name, key string) {
	switch {
	case e.Kind == Called, e.Kind == Returned:
		return evidence.ScheduleEntity, evidence.JobPrefix + e.Key
	case e.Kind == Plan, e.Tag != "":
		return evidence.ScheduleEntity, e.Key
	}
	return checks, e.Key
}

// Add adds the verdict on another shard.
func (r *Report) Add(o Report) {
	for into, more := range map[*int]int{&r.Rows: o.Rows, &r.Unknown: o.Unknown, &r.Calls: o.Calls, &r.Pending: o.Pending, &r.Twice: o.Twice, &r.Locked: o.Locked,
		&r.Redone: o.Redone, &r.Lost: o.Lost, &r.Early: o.Early,
		&r.Planned.Schedules: o.Planned.Schedules, &r.Planned.Changes: o.Planned.Changes, &r.Planned.Events: o.Planned.Events, &r.Planned.Runs: o.Planned.Runs,
		&r.Planned.Missed: o.Planned.Missed, &r.Planned.Apart: o.Planned.Apart, &r.Planned.Quota: o.Planned.Quota, &r.Planned.Superseded: o.Planned.Superseded,
		&r.Planned.PassedOver: o.Planned.PassedOver,
		&r.Long.Calls:         o.Long.Calls, &r.Long.Steps: o.Long.Steps, &r.Long.Saved: o.Long.Saved, &r.Long.WentOn: o.Long.WentOn, &r.Long.Takings: o.Long.Takings,
		&r.Long.Stale: o.Long.Stale,
		&r.Jobs.Runs:  o.Jobs.Runs, &r.Jobs.Done: o.Jobs.Done, &r.Jobs.Steps: o.Jobs.Steps, &r.Jobs.Again: o.Jobs.Again, &r.Jobs.Effects: o.Jobs.Effects,
		&r.Changes.Written: o.Changes.Written, &r.Changes.Skipped: o.Changes.Skipped, &r.Changes.Twice: o.Changes.Twice, &r.Changes.Phantom: o.Changes.Phantom,
		&r.Summed.Ends: o.Summed.Ends, &r.Summed.Hours: o.Summed.Hours, &r.Summed.Days: o.Summed.Days} {
		*into += more
	}
	r.Jobs.Versions = max(r.Jobs.Versions, o.Jobs.Versions)
	r.Latest, r.StoodStill = max(r.Latest, o.Latest), max(r.StoodStill, o.StoodStill)
	r.Planned.Latest = max(r.Planned.Latest, o.Planned.Latest)
	if r.Ended == nil {
		r.Ended, r.Faults = make(map[string]int), make(map[string]int)
	}
	for outcome, n := range o.Ended {
		r.Ended[outcome] += n
	}
	for what, n := range o.Faults { // what hit both is one
		r.Faults[what] = max(r.Faults[what], n)
	}
	r.Findings = append(r.Findings, o.Findings...)
}
