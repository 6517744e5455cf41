package cmd_test

import (
	"bufio"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"prescient/cmd/internal/rig"
)

// The quick start of the README works as it stands there, for somebody who has a clone and nothing else.
func TestTheQuickStart(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Quick start\n")
	section, _, _ = strings.Cut(section, "\n## ")
	shells, program := blocks(section, "sh"), blocks(section, "go")
	if len(shells) != 3 || len(program) == 0 {
		t.Fatalf("the quick start has %d blocks for a shell and %d of Go; want three, and main.go", len(shells), len(program))
	}
	var compiles sync.Mutex // one after the other: the second finds what the first has compiled
	rig.EachFlavour(t, func(r *rig.Rig) {
		compiles.Lock()
		defer compiles.Unlock()
		clone := filepath.Join(r.TempDir(), "anywhere")
		r.Must(cloned(clone))
		first, work, _ := strings.Cut(shells[0], "\ngo run ./cmd/prescient work")
		_, first, _ = strings.Cut(first, "\n") // which says the DSN
		if work == "" || strings.Contains(first, "PRESCIENT_DSN") {
			r.Fatalf("the first block begins with a DSN and ends with work:\n%s", shells[0])
		}
		quickStart(r, clone, first)
		quickStartWork(r, clone, "go run ./cmd/prescient work")
		quickStart(r, clone, shells[1])
		shop := filepath.Join(filepath.Dir(clone), "shop")
		r.Must(os.WriteFile(filepath.Join(shop, "main.go"), []byte(program[0]), 0o600))
		quickStartWork(r, shop, shells[2])
	})
}

// blocks are the blocks of a page in a language.
func blocks(page, language string) (list []string) {
	for _, block := range strings.Split(page, "\n```"+language+"\n")[1:] {
		text, _, _ := strings.Cut(block, "\n```\n")
		list = append(list, text+"\n")
	}
	return list
}

// cloned copies what git has of this tree.
func cloned(to string) error {
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path) // both are absolute
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != root:
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !entry.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), text, 0o600)
	})
}

// inShell is a script as somebody types it, with the DSN that they have. What is compiled does not depend on the folder that it stands in, and so is
// compiled once.
func inShell(r *rig.Rig, folder, script string) *exec.Cmd {
	c := exec.CommandContext(r.Context(), "sh", "-ec", script)
	c.Dir = folder
	c.Env = append(os.Environ(), "PWD="+folder, "PRESCIENT_DSN="+r.DSN, "PRESCIENT_CONFIG=", "USER=ada", "GOFLAGS="+os.Getenv("GOFLAGS")+" -trimpath")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return c
}

func quickStart(r *rig.Rig, folder, script string) {
	r.Helper()
	if out, err := inShell(r, folder, script).CombinedOutput(); err != nil {
		r.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// quickStartWork runs what works until it is stopped.
func quickStartWork(r *rig.Rig, folder, script string) {
	r.Helper()
	c := inShell(r, folder, script)
	log, err := c.StderrPipe()
	r.Must(err)
	r.Must(c.Start())
	said, working := "", false
	for lines := bufio.NewScanner(log); lines.Scan(); {
		said += lines.Text() + "\n"
		if !working && strings.Contains(lines.Text(), `"message":"working"`) {
			working = true
			r.Must(syscall.Kill(-c.Process.Pid, syscall.SIGINT))
		}
	}
	_ = c.Wait() // go run answers with 1 for a signal
	if !working {
		r.Fatalf("%s: it never worked:\n%s", script, said)
	}
}
