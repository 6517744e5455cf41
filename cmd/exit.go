package cmd

import (
	"prescient/cmd/internal/exit"
)

// The exit codes of every command.
const (
	// ExitOK: done. For run also: the slot that is now is not assigned to this worker.
	ExitOK = exit.CodeOK
	// ExitFailure: it failed for a reason that has no code of its own.
	ExitFailure = exit.CodeFailure
	// ExitUsage: a flag, an argument or the configuration is not allowed; nothing was done.
	ExitUsage = exit.CodeUsage
	// ExitNotFound: no such check is pending, or there is no such schedule.
	ExitNotFound = exit.CodeNotFound
	// ExitTables: the tables are missing, have migrations to come, or were made for another resolution.
	ExitTables = exit.CodeTables
	// ExitDatabase: the database cannot be reached, or refuses the connection.
	ExitDatabase = exit.CodeDatabase
	// ExitPending: the check is pending already, and insert was told --on-pending error; or another schedule has the id.
	ExitPending = exit.CodePending
	// ExitHeld: a table could not be altered since somebody had it open, or rows that it needs were locked all the time, or another
	// migrates or prunes. Of prune all else was done; migrate, its down and --repair,
	// and reslot go on where they stopped when they are run again.
	ExitHeld = exit.CodeHeld
	// ExitPartly: insert --file --keep-going left out bad lines.
	ExitPartly = exit.CodePartly
	// ExitDenied: the account lacks a right; the message names the roles that have it.
	ExitDenied = exit.CodeDenied
	// ExitWarn and ExitBad: what doctor, status or check-endpoint found is a warning at worst, or bad; attest did not prove that no slot was missed, or refuted it. ExitWarn also:
	// blocking found somebody who waits, or a row that is locked.
	ExitWarn = exit.CodeWarn
	ExitBad  = exit.CodeBad
	// ExitInterrupted: a signal ended it before it was done. The commands that stop gracefully exit with 0; a second
	// signal ends these too, with 128 and the number of the signal.
	ExitInterrupted = exit.CodeInterrupted
)

const exitCodes = `Exit codes:
  0    done; for run also: the slot that is now is not assigned to this worker
  1    failed
  2    a flag, an argument or the configuration is not allowed; nothing was done
  3    no such check is pending, or there is no such schedule
  4    the tables are missing or lack migrations, or have another resolution
  5    the database cannot be reached or refuses the connection
  6    the check is pending already (insert --on-pending error), or another schedule has the id
  7    somebody had a table open, or rows locked, all the time, as the message says, or migrates or prunes: run it again later
  8    bad lines were left out (insert --file --keep-going)
  9    the account lacks a right; the message names the roles that have it
  10   doctor, status or check-endpoint found something to be warned about; blocking found that somebody waits or a row is locked; attest proved nothing
  11   doctor, status or check-endpoint found something that is bad; attest found a slot that was missed
  130  interrupted before it was done; run, work, sweep, forward and roll-forward stop gracefully and exit with 0`

// ExitCode returns the exit code of an error that a command returned.
func ExitCode(err error) int { return exit.Code(err) }
