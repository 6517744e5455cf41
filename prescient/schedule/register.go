package schedule

import (
	"time"

	"prescient/prescient"
)

// timerTimeout is how long the call for a few hundred timers may take: that after a long outage inserts many runs.
const timerTimeout = time.Minute

// timerCalls is how many calls for timers a worker makes at a time. Each is a transaction for up to 1000. With 16 at a time, the
// default, they had their rows locked for so long, on two cores, that they were given ever fewer of them, and a slot of 10,000 runs took
// 32 s in place of 3 (scripts/bench/run schedules).
const timerCalls = 4

// Register adds the job_exec of timers to a registry, without which schedules do not fire. Every worker that may meet a timer needs
// it; one that has it not puts timers off. The error is that of Registry.Register.
func (s *Schedules) Register(registry *prescient.Registry) error {
	return registry.RegisterTxBatch(TimerExec, s.fireTimers, prescient.Guards{Timeout: timerTimeout, Endless: true, Concurrency: timerCalls})
}
