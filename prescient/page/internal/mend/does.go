package mend

import (
	"strings"

	"prescient/prescient/doctor"
	"prescient/prescient/ops"
)

// doing is what is to be done by the page about a finding whose words have something in them, which names a command, for those whose role may.
type doing struct {
	has, text string
	role      ops.Role
}

// does are by the code of a finding.
var does = map[string]doing{
	"paused":             {"Run `", "Resume it once the reason is gone.", ops.Operator},
	"overdue":            {"`resume --all`", "Resume everything once the reason is gone. The sweeper catches up then.", ops.Operator},
	"failing":            {"`pause ", "See its calls, and mend what the error names. While it is paused its checks are kept.", ops.Operator},
	"slower":             {"has its calls", "See what changed then: a deployment, an index, how much there is to do. The job_execs and the runs of jobs have the calls.", ops.Viewer},
	"put_off":            {"`pending ", "Start a worker that has registered it. If the name is misspelt, see its checks, cancel them, and insert them under the right name.", ops.Operator},
	"execs":              {"`agents`", "See that all workers run the same version, with the same configuration: the agents have their versions, and the job_exec has the guards of each.", ops.Viewer},
	"missed":             {"`agents`", "See that workers or timers serve every slot: the agents are those that were heard of. A sweep runs what waited in these slots.", ops.Viewer},
	"schedules":          {"`schedule update ID`", "Edit each, or delete it.", ops.Operator},
	"schedules.crontabs": {"`schedule update ", "Edit each, and give it a crontab that is allowed.", ops.Operator},
	"events.refused":     {"`event ", "The events are listed with the reasons. Send them again once the reason is gone, or drop them: some, or all that match.", ops.Operator},
}

// Do says what to do about a finding: by the page, where it can do that and the role may, and else as the doctor says it.
func Do(f doctor.Finding, role ops.Role) string {
	if one, is := does[f.Code]; is && strings.Contains(f.Do, one.has) && role.May(one.role) {
		return one.text
	}
	return f.Do
}
