//go:build !linux

package localserver

// lockFolder does nothing: without sweep there is nobody to lock out.
func lockFolder(string) (unlock func(), err error) { return func() {}, nil }

// sweep does nothing: a server may outlive its process here.
func sweep(string) {}
