//go:build !linux

package process

import "syscall"

// childAttributes are the plain ones: a server whose parent is killed goes on.
func childAttributes(Command) *syscall.SysProcAttr { return nil }
