package schedule

import "prescient/prescient/schedule/timeline"

// Bound makes the bounds of a timer's call smaller.
func (s *Schedules) Bound(sent, bytes int) { s.bounds = bounds{sent, bytes} }

// WithZones gives schedules the time zones of another machine.
func WithZones(s *Schedules, zones timeline.Zones) *Schedules {
	s.zones = zones
	return s
}
