// Package api is an http.Handler that does the operations of package ops for programs, by JSON. Its description is openapi.json, in OpenAPI 3.1,
// which the handler serves too.
//
// Queries are GET, with what they are asked in the query string. Deeds are POST, with a body; each takes an Idempotency-Key, but those that
// answer a secret. The path is the name of the operation: checks.get is GET /api/v1/checks/get. Times are RFC 3339 in UTC; a number that may pass 2^53 is a string.
//
// Exports are streams. GET /api/v1/metrics is for Prometheus, and GET /api/v1/health for whoever asks.
//
// An error is a problem of RFC 9457: its type ends with the name of the Go error, as in urn:prescient:error:ErrBeyondHorizon.
package api
