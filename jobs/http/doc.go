// Package http has a job_exec that asks a URL, by one POST of the FutureJob as JSON, with the names of the columns:
//
//	POST /checks/order-unshipped HTTP/1.1
//	Content-Type: application/json
//	Idempotency-Key: 5F0C…E2-1772355600000000-1772370000000000-0
//	X-Prescient-Job-Exec: order-unshipped
//	X-Prescient-Signature: t=1772370001,v1=6ca1…
//	Traceparent: 00-4bf9…-00f0…-01 (in a trace)
//
//	{"entity_name":"order","entity_key":"42","job_exec":"order-unshipped","tag":"","due_at":"2026-03-01T13:00:00Z",
//	 "next_check_at":"2026-03-01T13:00:00Z","check_count":0,"payload":null,"revision":"98123948723",
//	 "called_at":"2026-03-01T13:00:00.71Z", …}
//
// A redirect is an error, and so is an empty body with 200. An error shows scheme and host of the URL; path,
// query, headers and the secret are *** where a receiver echoes 4 bytes or more of one.
//
// Idempotency-Key ([prescient.FutureJob.IdempotencyKey]) stays the same until there is an answer, or the app moves or replaces the check.
//
// # The signature
//
// X-Prescient-Signature is "t=", the time of the call in seconds since 1970, ",v1=", and the HMAC-SHA256 of these digits, a point and the body, in
// lower-case hexadecimal. [Verify] computes it over the bytes that came in, compares in constant time, and refuses a time that is minutes off. Within these
// minutes a call may be replayed, and headers are not signed: inserted_at, due_at and check_count of the body tell calls apart. Skip members
// that you do not know, of signature and body. All times are the database's.
package http
