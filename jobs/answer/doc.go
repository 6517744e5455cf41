// Package answer reads what a program, or another machine, answers for a check:
//
//	null                                           the matter is settled
//	{"next_check_at": "2026-03-01T16:00:00Z"}      look again at that time (RFC 3339, with its zone)
//	{"next_in": "2h"}                              look again that long after the answer was read (h, m, s, ms, us, ns; no days)
//
// Everything else is an error.
package answer
