// Package checks has the commands for checks: to make them pending, to cancel and to move them, and to look at what is
// pending, what ended, and how much is due at which slot.
//
// A command is a file, named for it; its function returns the cobra command, and takes the program that it belongs to.
// What several of them share is how a check is named (target.go), how a time is written (times.go), and how a listing is
// narrowed and paged (listing.go). The command insert reads files too: insert_read.go has their formats.
package checks
