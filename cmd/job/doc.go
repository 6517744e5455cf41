// Package job has the commands for jobs of steps, and the one that lists and follows their runs. How jobs stand in files is said by
// package file.
package job
