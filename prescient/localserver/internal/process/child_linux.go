package process

import (
	"os"
	"syscall"
)

// childAttributes make a server that dies with this process and that an
// interrupt from the terminal does not reach.
func childAttributes(c Command) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if c.NotRoot && os.Geteuid() == 0 {
		// In a user namespace of its own it is nobody, whom the system takes for root: folders and programs of root's stay within its reach.
		a.Cloneflags = syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: 0, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getegid(), Size: 1}}
	}
	return a
}

const nobody = 65534
