// Package folder makes the folder of a server, locked as long as its process lives. Whoever makes the next removes what the dead have left (on
// Linux).
package folder
