// Package process runs a server program, which on Linux does not outlive the process that started it, and reads its log.
package process
