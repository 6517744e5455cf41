package mend

import (
	"slices"
	"strings"

	"prescient/prescient/doctor"
	"prescient/prescient/ops"
)

// doing is what is to be done about a finding whose words have something in them, which names a command, for those whose role may.
type doing struct {
	has, text string
	role      ops.Role
	place     place
}

// place is where the text stands.
type place int

const (
	instead place = iota // of the doctor's words
	before               // them: the page cannot do this, and says who can, and where
	within               // them, in place of what they have
)

// Who does what the page cannot do: both by a command, on a machine that has the program.
const (
	byOwner    = "This changes the tables, which the page does not do. Whoever owns the database does it in a terminal of a machine that has the program, by its command line."
	byOperator = "The page does not do this. Whoever runs the workers does it in a terminal of a machine that has the program, by its command line."
)

func owners(has string) doing    { return doing{has, byOwner, ops.Viewer, before} }
func operators(has string) doing { return doing{has, byOperator, ops.Viewer, before} }

// does are by the code of a finding, or the kind that stands before it; of several the first counts whose words are there.
var does = map[string][]doing{
	"paused": {{"Run `", "Resume it once the reason is gone.", ops.Operator, instead}},
	"overdue": {{"`resume --all`", "Resume everything once the reason is gone. The sweeper catches up then.", ops.Operator, instead},
		{"`roll-forward`", "See whether a worker or a sweep lives, as the agents are listed. If none does, start one, which catches up. Else who waits for whom and the worker's log say what keeps these checks. " +
			"When nobody can catch up, whoever runs the workers can move all overdue checks to the next slot without running them: by the command roll-forward, in a terminal of a machine that has the program.", ops.Viewer, instead}},
	"failing":             {{"`pause ", "See its calls, and mend what the error names. While it is paused its checks are kept.", ops.Operator, instead}},
	"slower":              {{"has its calls", "See what changed then: a deployment, an index, how much there is to do. The job_execs and the runs of jobs have the calls.", ops.Viewer, instead}},
	"put_off":             {{"`pending ", "Start a worker that has registered it. If the name is misspelt, see its checks, cancel them, and insert them under the right name.", ops.Operator, instead}},
	"execs":               {{"`agents`", "See that all workers run the same version, with the same configuration: the agents have their versions, and the job_exec has the guards of each.", ops.Viewer, instead}},
	"missed":              {{"`agents`", "See that workers or timers serve every slot: the agents are those that were heard of. A sweep runs what waited in these slots.", ops.Viewer, instead}},
	"schedules":           {{"`schedule update ID`", "Edit each, or delete it.", ops.Operator, instead}},
	"schedules.crontabs":  {{"`schedule update ", "Edit each, and give it a crontab that is allowed.", ops.Operator, instead}},
	"schedules.timerless": {{"`schedule update ID`", "Plan each anew: then it has a timer again. Where an error is named here, edit it instead: give it another crontab, or another time zone.", ops.Operator, instead}},
	"schedules.zones":     {{"`schedule update ID`", "Give all machines the same tzdata and restart the programs on them. Then plan each anew.", ops.Operator, instead}},
	"events.refused":      {{"`event ", "The events are listed with the reasons. Send them again once the reason is gone, or drop them: some, or all that match.", ops.Operator, instead}},
	"audit.versions":      {{"`audit ", "A program from before the audit or plain SQL changed them, or somebody deleted or forged an entry. The audit has the entries of each.", ops.Viewer, instead}},
	"blocking":            {{"`blocking` shows", "The page of blocking, who waits for whom, shows admins", ops.Viewer, within}},
	"grants":              {owners("`grants ")},
	"schema":              {owners("`migrate --repair`"), owners("`reslot ")},
	"tables":              {owners("migrate")},
	"resolution":          {owners("`reslot ")},
	"reslot":              {owners("`reslot ")},
	"rows":                {owners("`reslot ")},
	"partitions":          {owners("`prune`")},
	"long_runs":           {{"`roll-forward`", "Do nothing if overdue checks were just moved to the next slot (roll-forward). Else start more workers, give them more places, or see why the other runs take so long.", ops.Viewer, instead}, operators("`agents --pools`")},
}

// Do says what to do about a finding: by the page, where it can do that and the role may, and else as the doctor says it.
func Do(f doctor.Finding, role ops.Role) string {
	kind, _, _ := strings.Cut(f.Code, ".")
	for _, one := range append(slices.Clone(does[f.Code]), does[kind]...) {
		switch {
		case !strings.Contains(f.Do, one.has) || !role.May(one.role):
		case one.place == before:
			return one.text + " " + f.Do
		case one.place == within:
			return strings.ReplaceAll(f.Do, one.has, one.text)
		default:
			return one.text
		}
	}
	return f.Do
}
