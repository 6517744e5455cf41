// Package schedule has the commands for schedules and crontabs.
package schedule
