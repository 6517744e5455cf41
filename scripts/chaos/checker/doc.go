// Package checker decides whether a run of prescient kept its promises, from a journal that the run kept outside of the database (what
// apps asked for and got, each call, each fault, the time), and from what package evidence read at the end.
//
// It imports nothing of the code that it checks, but package timeline. A machine that stood still for 0.75 s explains
// as much as a fault that hit all workers. [Finding.Rule] names a rule, and its text says what broke it. What a name does not say:
//
//   - lost, phantom: a row of a committed insert is gone, one of a rolled back insert is there, or ran
//   - late: the first call came later than the scenario allows; waits: a row is pending when all had time to drain
//   - fenced: a row's end is the answer of a worker that had lost the lease; a long run's is not of its last token
//   - effect: what a TxFunc wrote is not there once
//   - plan, timer, unfired, passed-over, unasked, missed: a schedule, its timer, or an occurrence is not as its definition at that time asks
package checker
