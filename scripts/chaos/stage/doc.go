// Package stage plays one scenario on a database of its own: apps ask, processes of the real command run what is due, faults go on for
// a while, then all is drained and judged.
package stage
