// Package output takes what a job_exec has to say: lines for people, kept with the log of what called it.
//
// A job_exec writes to [Of] its context, whoever calls it. What runs it with a writer of its own, as the steps of a job do, keeps the
// end of it in a [Tail]; for all others what is written goes nowhere.
package output
