// Package output takes what a job_exec has to say: it writes to [Of] its context. The steps of a job keep the end of it in a [Tail]; for all
// others it goes nowhere.
package output
