// Package process runs a server program that does not outlive the process that started it, where the operating system can
// do that (Linux), and reads the log that it writes.
package process
