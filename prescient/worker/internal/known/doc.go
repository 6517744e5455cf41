// Package known tells in exec_known which job_execs a worker has, with their forms and guards.
package known
