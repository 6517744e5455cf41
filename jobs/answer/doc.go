// Package answer reads what a program outside of this process, or on another machine, answers for a check: whether the matter is
// settled, or when to look again. The ready-made job_execs over HTTP and of commands understand the same:
//
//	null                                           the matter is settled
//	{"next_check_at": "2026-03-01T16:00:00Z"}      look again at that time (RFC 3339, with its zone)
//	{"next_in": "2h"}                              look again that long after the answer was read
//
// Units of next_in are those of Go's durations. Everything else is an error, also a key that is misspelt, or comes twice: skipped,
// it would settle the matter without a word.
package answer
