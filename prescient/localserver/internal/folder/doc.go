// Package folder makes the folder of a server and says what lies where in it. A folder is locked, by a file in it, for as
// long as its process lives; whoever makes the next one removes what the dead have left, where the operating system has
// such locks (Linux).
package folder
