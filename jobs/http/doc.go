// Package http has a job_exec that asks a URL, so that an app in any language can be checked by the same worker.
//
// Every check is one POST. Its body is the FutureJob as JSON, with the names of the columns:
//
//	POST /checks/order-unshipped HTTP/1.1
//	Content-Type: application/json
//	Idempotency-Key: 5F0C…E2-98123948723
//	X-Prescient-Job-Exec: order-unshipped
//	X-Prescient-Signature: sha256=6ca1…
//
//	{"entity_name":"order","entity_key":"42","job_exec":"order-unshipped","tag":"","due_at":"2026-03-01T13:00:00Z",
//	 "next_check_at":"2026-03-01T13:00:00Z","check_count":0,"payload":null,"revision":"98123948723", …}
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
// write "48h". It is added to the worker's clock at the moment the answer was read; a receiver that counts from
// another instant answers with next_check_at.
//
// # Called at least once
//
// A check is called again for the same row when a worker died before it could commit the answer. Idempotency-Key is
// the row's job_key and revision, so the second call has the key of the first, and a check of the same row at another
// slot, or after an error, has another. A receiver that keeps the answers it gave can find the one to repeat with it.
//
// A connection that was kept open and that the receiver closed meanwhile is replaced without an error, which is one
// more way in which a call may come twice.
//
// # The signature
//
// Where a secret is configured, X-Prescient-Signature is "sha256=" and the HMAC-SHA256 of the body in lower-case
// hexadecimal. Compute it over the bytes that came in, before they are parsed, and compare in constant time; [Verify]
// does both. It proves who wrote the body, not when: a receiver that must not be told the same thing twice looks at
// Idempotency-Key or at revision in the body.
//
// # Errors
//
// An error names the scheme and host of the URL and the reason, at most a few hundred characters. It has neither
// path nor query, user info, headers, nor the secret in it; where a receiver echoes one of these, it is replaced
// with ***, if it has 4 bytes or more.
package http
