// Package schedules measures crontabs: making schedules, what they take of the disk, slots in which many of them fire, and an
// in-process cron beside that.
package schedules
