// Package http has a job_exec that asks a URL, so that an app in any language can be checked by the same worker.
//
// Every check is one POST. Its body is the FutureJob as JSON, with the names of the columns:
//
//	POST /checks/order-unshipped HTTP/1.1
//	Content-Type: application/json
//	Idempotency-Key: 5F0C…E2-1772355600000000-1772370000000000-0
//	X-Prescient-Job-Exec: order-unshipped
//	X-Prescient-Signature: t=1772370001,v1=6ca1…
//
//	{"entity_name":"order","entity_key":"42","job_exec":"order-unshipped","tag":"","due_at":"2026-03-01T13:00:00Z",
//	 "next_check_at":"2026-03-01T13:00:00Z","check_count":0,"payload":null,"revision":"98123948723",
//	 "called_at":"2026-03-01T13:00:00.71Z", …}
//
// # The answer
//
// These answers are understood:
//
//	204                                                 the matter is settled
//	200  null                                           the same
//	200  {"next_check_at": "2026-03-01T16:00:00Z"}      look again at that time (RFC 3339, with its zone)
//	200  {"next_in": "2h"}                              look again that long after the answer was read
//
// Everything else is an error, retried like any other error of a job_exec: another status, a redirect (none is
// followed), an empty body with status 200, a key that is not one of the two, both of them, a duration that is not
// positive, a body that is too long or that stops coming. A key that is misspelt is refused rather than skipped:
// skipped, it would settle the matter without a word.
//
// Units of next_in are those of Go's durations: h, m, s, ms, us, ns, also joined, as in "1h30m". There are no days:
// write "48h". It is added to the database's clock as it is when the answer was read: called_at in the body, and what has
// elapsed since. The clocks of the worker's machine and of the receiver's play no part. A receiver that counts from another
// instant answers with next_check_at.
//
// # Called at least once
//
// A check is called again when a worker died before it could commit the answer, and after an error: one that timed out may
// have done what it was to do. Idempotency-Key ([prescient.FutureJob.IdempotencyKey]) is the same for all of these, until
// there is an answer; then, and when the app puts the check to another time, or inserts it anew, there is another. A receiver
// that keeps the answers it gave, errors aside, can find the one to repeat with it. It is made of what is in the body:
// job_key, inserted_at, due_at and check_count.
//
// A connection that was kept open and that the receiver closed meanwhile is replaced without an error, which is one
// more way in which a call may come twice.
//
// # The signature
//
// Where a secret is configured, X-Prescient-Signature is "t=", the time of the call in seconds since 1970, ",v1=", and the
// HMAC-SHA256 of these digits, a point and the body, in lower-case hexadecimal. Compute it over the bytes that came in,
// before they are parsed, compare in constant time, and refuse a time that is more than a few minutes off, so that nobody can
// send an old call again; [Verify] does all that. Leave alone members that you do not know: another version will have
// another name. Within these minutes a call may come twice: the headers are not signed, so a receiver that must not be told
// the same thing twice looks at inserted_at, due_at and check_count in the body. The time is that of the database's clock,
// as all times in the body are, so that a worker whose own clock is wrong is not refused.
//
// # Errors
//
// An error names the scheme and host of the URL and the reason, at most a few hundred characters. It has neither
// path nor query, user info, headers, nor the secret in it; where a receiver echoes one of these, it is replaced
// with ***, if it has 4 bytes or more.
package http
