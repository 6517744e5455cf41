// Package stage plays one scenario on a database of its own: apps ask, processes of the real command run what is due, faults go on for
// a while, then everything is drained, and package checker judges.
package stage
