// Package checker decides whether a run of prescient kept its promises, from two things: a journal that the run kept
// outside of the database (what the app asked for and what came back, every call of a job_exec before and after it did
// its work, every fault, the database's clock by a clock of its own), and what the tables hold at the end.
//
// It imports nothing of the code that it checks: slots, keys and buckets are computed here again, and all that it takes
// on trust are the names of tables and columns. [Judge] is pure, so that a test can hand it any history.
//
// The rules, each a name in [Finding.Rule]:
//
//   - lost: a committed insert is neither pending nor ended, although nobody replaced it
//   - ended-twice: a row has more than one end, or is pending and has ended
//   - phantom: a row is there, ended or ran whose insert was rolled back
//   - early: a call came before its slot, or before the time that was asked for, by the database's clock
//   - late: the first call came later than the scenario allows
//   - waits: a row whose slot is over is still pending when everything had time to be drained
//   - twice: a call was repeated, and neither a fault nor a lock of somebody else's explains it
//   - in-flight: a fault made more calls be repeated than a bucket has in flight
//   - fenced: a row's end is the answer of a worker that had lost the lease
//   - effect: what a TxFunc wrote is not there exactly once for each outcome that was committed
//   - cancelled: a row ran after a cancel that had succeeded in time, or came back
//   - checks: check_count is not the number of returned times that were committed
//   - guard: a guard was exceeded
//   - outcome: a row ended in another way than its job_exec answers
//   - books: the ledger of the slots does not agree with history
//   - lease: a bucket is still held when all workers have stopped, and nothing was broken
package checker
