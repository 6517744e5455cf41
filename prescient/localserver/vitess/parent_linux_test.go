package vitess

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

	"go.uber.org/goleak"

	"prescient/prescient/localserver/internal/folder"
)

// TestMain is also the program that TestAClusterDiesWithItsParent kills.
func TestMain(m *testing.M) {
	if os.Getenv("VITESS_TEST_PARENT") != "" {
		cluster, err := Start(context.Background(), Options{Shards: 1})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		for _, run := range cluster.running {
			if !run.Gone() {
				fmt.Print(run.Pid, " ")
			}
		}
		fmt.Println(cluster.Shards[0].Server.Pid())
		select {}
	}
	goleak.VerifyTestMain(m)
}

func TestAClusterDiesWithItsParent(t *testing.T) {
	if _, err := find(); err != nil {
		t.Skip(err)
	}
	t.Setenv("TMPDIR", folderOf(t))
	parent := exec.CommandContext(t.Context(), os.Args[0])
	parent.Env = append(os.Environ(), "VITESS_TEST_PARENT=1")
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

	pids := strings.Fields(line)
	if len(pids) != 4 { // etcd, vttablet, vtgate, mysqld
		t.Fatalf("the parent said %q", line)
	}
	for _, text := range pids {
		var pid int
		if _, err := fmt.Sscan(text, &pid); err != nil {
			t.Fatalf("the parent said %q: %v", line, err)
		}
		for deadline := time.Now().Add(10 * time.Second); running(pid); time.Sleep(pause) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d outlives its parent", pid)
			}
		}
	}
	folder.Sweep(os.TempDir()) // as the next server does that is started
	wantEmpty(t, os.TempDir())
}

// running reports whether a process lives; one that nobody has waited for is dead all the same.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && !strings.Contains(string(status), "State:\tZ")
}
