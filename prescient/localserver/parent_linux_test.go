package localserver

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"prescient/prescient/localserver/internal/folder"

	"go.uber.org/goleak"
)

// TestMain is also the program that TestServerDiesWithItsParent kills.
func TestMain(m *testing.M) {
	if os.Getenv("LOCALSERVER_TEST_PARENT") != "" {
		server, err := Start(context.Background(), Options{})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(server.Pid(), server.Dir())
		select {}
	}
	goleak.VerifyTestMain(m)
}

func TestServerDiesWithItsParent(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "LOCALSERVER_TEST_PARENT=1")
	output, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(output).ReadString('\n')
	parent.Process.Kill()
	parent.Wait()

	var pid int
	var dir string
	if _, err := fmt.Sscan(line, &pid, &dir); err != nil {
		t.Fatalf("the parent said %q: %v", line, err)
	}
	for deadline := time.Now().Add(10 * time.Second); running(pid); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the server, process %d, outlives its parent", pid)
		}
	}

	start(t, Options{})
	if exists(dir) {
		t.Error("the next server did not remove what the dead one left")
	}
}

// running reports whether a process lives; one that nobody has waited for is
// dead all the same.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && !strings.Contains(string(status), "State:\tZ")
}

func TestFolderInUseIsNotSwept(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	server := start(t, Options{})
	folder.Sweep(os.TempDir())
	if open(t, server.DSN("")).Ping() != nil || !exists(server.installation.folder.Data()) {
		t.Error("the folder of a running server was removed")
	}
}
