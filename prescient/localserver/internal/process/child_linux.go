package process

import "syscall"

// childAttributes make a server that dies with this process and that an
// interrupt from the terminal does not reach.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
