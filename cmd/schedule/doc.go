// Package schedule has the commands for schedules, and the one that says when crontabs fire, for which there need be no schedule and no
// database. How schedules stand in files is said by package file.
package schedule
