// Package schedules measures schedules: made, on disk, and firing; and an in-process cron.
package schedules
