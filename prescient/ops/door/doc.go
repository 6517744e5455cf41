// Package door knows who asks for operations over HTTP: by a token of package ops, which each request brings in its Authorization header. It works on an
// account of its own (grants serve-door).
//
// A token is looked up for each request, and nothing of that is kept: one that expired or was revoked is refused from the next request on.
package door
