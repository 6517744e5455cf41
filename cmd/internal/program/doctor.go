package program

import (
	"slices"

	"prescient/config"
	"prescient/prescient/doctor"
	"prescient/sql"
)

// DoctorOptions are what the configuration tells the doctor.
func DoctorOptions(c config.Config) doctor.Options {
	return doctor.Options{Prefix: c.TablePrefix, Dialect: sql.Dialect(c.Dialect), Resolution: c.Grid.Resolution(),
		Lease: c.Worker.Lease, SweepGrace: c.Sweep.Grace, SweepEvery: c.Sweep.Every, MaxChecks: mostChecks(c), Pools: pools(c),
		OverdueBad: c.Doctor.Overdue, MissedAllowed: c.Doctor.Missed, Failing: c.Doctor.Failing, FailingCalls: c.Doctor.FailingCalls, ClockWarn: c.Doctor.Clock,
		PartitionsAhead: c.Doctor.Partitions, PurgeBehind: c.Doctor.Purge, TransactionOpen: c.Doctor.Transaction}
}

// mostChecks is the highest guard that is configured for any job_exec.
func mostChecks(c config.Config) int {
	most := max(c.Guards.MaxChecks, c.Jobs.Orders.Guards.MaxChecks)
	for _, job := range c.Jobs.HTTP {
		most = max(most, job.Guards.MaxChecks)
	}
	for _, job := range c.Jobs.SQL {
		most = max(most, job.Guards.MaxChecks)
	}
	return most
}

// pools are those of job_execs that are configured.
func pools(c config.Config) (list []string) {
	for _, job := range c.Jobs.HTTP {
		list = append(list, job.Pool)
	}
	for _, job := range c.Jobs.Command {
		list = append(list, job.Pool)
	}
	return slices.DeleteFunc(list, func(name string) bool { return name == "" })
}
