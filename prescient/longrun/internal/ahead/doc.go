// Package ahead moves the checks of long runs that are under way on to later slots, before a slot run meets them. So the short checks
// of a slot do not come behind a thousand long ones.
//
// It does what a slot run does that meets such a check: it has it wait for the first slot after the lease of its run. What somebody
// else has locked it leaves, and where it comes to nothing the slot run does it.
package ahead
