package longrun

import "time"

// SetAfter has a test say when the time of a call is over, in the place of time.AfterFunc.
func (r *Runner) SetAfter(after func(d time.Duration, do func()) (stop func() bool)) { r.after = after }
