//go:build !linux

package folder

// lockFolder does nothing: without Sweep there is nobody to lock out.
func lockFolder(string) (unlock func(), err error) { return func() {}, nil }

// Sweep does nothing: a server may outlive its process here.
func Sweep(string) {}
