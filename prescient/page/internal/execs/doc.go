// Package execs has the views of job_execs, what they did of late and over weeks, and the deeds that pause and resume them.
package execs
