package steps

import "time"

// SetNow sets the clock of an agent.
func (j *Jobs) SetNow(now func() time.Time) { j.now = now }
