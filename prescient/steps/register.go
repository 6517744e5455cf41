package steps

import (
	"prescient/prescient"
	"prescient/prescient/longrun"
)

// mostErrors is how often a run is tried again that could not go on, or lapsed; so many returned times are no bound: that of the step counts.
const mostErrors, mostChecks = 5, 1 << 30

// Register adds the job_exec of jobs to a registry: an agent whose worker has it runs jobs, whose steps are called with the other
// job_execs of the registry, by when they are called. The runner has the schedules for its Rules; a nil one registers the name, for a
// program that runs nothing. The error is that of Registry.Register.
func (j *Jobs) Register(registry *prescient.Registry, runner *longrun.Runner) error {
	j.registry, j.runner = registry, runner
	return runner.RegisterWithEnds(registry, Exec, j.call, prescient.Guards{MaxErrors: mostErrors, MaxChecks: mostChecks, Horizon: prescient.MaxHorizon}, j.noteEnds)
}
