// Package bound has what all doors let through: of an address, and of a caller.
package bound
