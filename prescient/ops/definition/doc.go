// Package definition has schedules and jobs as callers of operations define, search, foresee and switch them, and turns these into those of packages
// schedule and steps, and back.
package definition
