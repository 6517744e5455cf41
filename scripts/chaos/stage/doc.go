// Package stage plays one scenario on a database of its own: apps ask, processes of the real command run what is due, faults go on for
// a while, then everything is drained, and package checker judges. What happens follows from a seed as far as processes and networks
// let it.
package stage
