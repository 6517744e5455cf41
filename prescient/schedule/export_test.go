package schedule

// Bound makes the bounds of a timer's call smaller.
func (s *Schedules) Bound(sent, bytes int) { s.bounds = bounds{sent, bytes} }
