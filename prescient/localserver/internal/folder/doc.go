// Package folder makes the folder of a server, locked as long as its process lives, and says what lies where in it. Whoever makes the next
// removes what the dead have left (on Linux).
package folder
