package group

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// withoutFirst is set where this program goes on without its first thread.
const withoutFirst = "GROUP_TEST_WITHOUT_FIRST_THREAD"

// wrongThread is how it exits where it is not on its first thread.
const wrongThread = 3

func TestMain(m *testing.M) {
	if os.Getenv(withoutFirst) == "" {
		os.Exit(m.Run())
	}
	runtime.LockOSThread()
	if syscall.Gettid() == os.Getpid() {
		time.AfterFunc(20*time.Second, func() { os.Exit(0) })
		syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0) // of this thread alone
	}
	os.Exit(wrongThread)
}

// The kernel calls a process a zombie whose first thread has ended while others go on.
func TestAProcessWithoutItsFirstThreadIsThere(t *testing.T) {
	for range 3 {
		if isThereWithoutFirst(t) {
			return
		}
	}
	t.Skip("its first thread goes on")
}

// isThereWithoutFirst is false where the process did not come about: its main goroutine was on another thread.
func isThereWithoutFirst(t *testing.T) bool {
	t.Helper()
	mark := NewMark("GROUP_TEST_MARK")
	cmd := exec.Command("sh", "-c", "ulimit -S -m "+strconv.FormatUint(mark.Limit, 10)+`; exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), withoutFirst+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); !isZombie(t, cmd.Process.Pid); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			_, _ = cmd.Process.Kill(), cmd.Wait()
			return false
		}
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait()
	}()
	// By its mark alone: its group is another's here.
	p := &Processes{leader: os.Getpid(), mark: mark}
	found, _ := p.find()
	left := Of(cmd.Process.Pid, mark).KillAll(exited)
	<-exited
	if cmd.ProcessState.ExitCode() == wrongThread {
		return false
	}
	if len(found) != 1 || found[0].pid != cmd.Process.Pid {
		t.Errorf("found %+v", found)
	}
	if len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	return true
}

func isZombie(t *testing.T, pid int) bool {
	t.Helper()
	text, err := os.ReadFile(proc(pid, "status"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(text, []byte("\nState:\tZ"))
}

// One that ended while the list was read may have started another that the list does not have.
func TestAPassIsNotSureOfWhatEndedMeanwhile(t *testing.T) {
	p := Of(os.Getpid(), NewMark("TEST_MARK"))
	p.leader = 0 // nobody's group
	cmd := exec.Command("true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	for !isZombie(t, cmd.Process.Pid) {
		time.Sleep(time.Millisecond)
	}
	if _, sure := p.find(); sure {
		t.Error("one had ended, unseen until then")
	}
	for end := time.Now().Add(20 * time.Second); ; { // others of this machine may end meanwhile, too
		if _, sure := p.find(); sure {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it is not sure of one that had ended before it began")
		}
	}
}

func TestALookSaysWhatBecomesOfTheCall(t *testing.T) {
	for _, c := range []struct {
		look look
		want int
	}{
		{look{}, again},
		{look{exited: true}, again},
		{look{exited: true, sure: true}, gone},
		{look{exited: true, late: true}, gone}, // where many end, no look is sure
		{look{sure: true}, again},
		{look{sure: true, late: true}, hidden},
		{look{late: true}, hidden},
		{look{left: 1, exited: true, sure: true}, again},
		{look{left: 1, exited: true, sure: true, late: true}, survives},
		{look{left: 1, late: true}, survives},
	} {
		if got := c.look.says(); got != c.want {
			t.Errorf("%+v: %d, want %d", c.look, got, c.want)
		}
	}
}
