// Package ahead moves the checks of long runs that are under way on to later slots, before a slot run meets them, so that the short checks of a slot
// do not come behind a thousand long ones. What somebody else has locked it leaves to the slot run.
package ahead
