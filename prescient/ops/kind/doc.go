// Package kind says what an error of an operation is to its caller, for all doors.
package kind
