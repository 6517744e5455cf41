// Package job has the commands for jobs of steps, and the one that lists and follows their runs (runs.go). create and import take a file
// in one way (take.go). How jobs stand in files is said by package file.
package job
