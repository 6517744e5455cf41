package store

import "context"

type vitalKey struct{}

// Vital returns the context for statements of a lease, a heartbeat or a commit: connections are kept for these, so that they do not wait
// behind what there may be much of. Such a statement is short, and the next thing that needs one of its connections comes after it.
func Vital(ctx context.Context) context.Context { return context.WithValue(ctx, vitalKey{}, true) }

// IsVital says whether a context is of Vital.
func IsVital(ctx context.Context) bool { return ctx.Value(vitalKey{}) != nil }
