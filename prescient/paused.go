package prescient

import "time"

// AllExecs stands for every job_exec in Pause and Resume.
const AllExecs = "*"

// Paused is a pause that is in force. Times are UTC.
type Paused struct {
	// JobExec that is paused, or AllExecs.
	JobExec string    `db:"job_exec" json:"job_exec"`
	Since   time.Time `db:"since" json:"since"`
	// By and Reason are free text, by whoever paused it.
	By     string `db:"paused_by" json:"by"`
	Reason string `db:"reason" json:"reason"`
}
