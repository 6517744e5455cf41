// Package cmd is the command line of prescient, to be had by any program in a few lines. The shipped binary serves
// job_execs that are configured; a program that has its own job_execs in Go registers them and gets every command:
//
//	func main() {
//		cmd.Main(cmd.Options{
//			Register: func(ctx context.Context, registry *prescient.Registry, deps cmd.Deps) error {
//				return registry.Register("invoice-unpaid", checkInvoice(deps.DB), prescient.Guards{})
//			},
//		})
//	}
//
// [New] returns the cobra command instead, for a program that has commands of its own beside it, and [Run] takes
// arguments, streams and environment as values, which is also how the tests of this package run it.
//
// # Output
//
// Data goes to stdout, everything else (the log, notes, errors) to stderr. With --json a command prints one JSON object
// on a line, and one that lists prints one object a line for each row (JSON lines), so that an empty list is no output
// at all; a search that ended early has a last line with "more" and the cursor to go on from. Times are UTC; those in
// JSON are RFC 3339. Without --json, text from the database is shown with its control characters spelled out, so that it
// cannot drive a terminal; in JSON they are escaped as \u….
//
// A flag that does not take a list is refused when it is given twice with different values.
//
// # Times
//
// A time on the command line is "now", RFC 3339, or "2006-01-02 15:04", with seconds or a zone behind it where wanted;
// without a zone it is UTC. It may also be relative: "+3h" or "now-1d12h". What "now" is, the database's clock says.
//
// # Exit codes
//
// They are the constants beginning with Exit, and stand in the help of the root command.
//
// # When it fails
//
// A command says on one line of stderr what failed, and what is to be done where that is known: which key of the
// configuration, which database, that migrations are missing and which command applies them. Nothing is half done: what
// works in batches (sweep, roll-forward, reslot, prune, requeue) can be run again, and goes on. A first SIGTERM or SIGINT
// stops gracefully; a second one ends the process, and what was called and not committed is called again.
package cmd
