package program

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// Commands of another worker of the same user may be running when this one begins.
func TestAProgramWithCommandsIsShieldedOnceItHasReadThem(t *testing.T) {
	load := func(text string) (dumpable int) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "prescient.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		none := func(string) (string, bool) { return "", false }
		prog := &Program{ConfigFile: file, Env: none, Environ: func() []string { return nil }}
		if _, err := prog.Load(new(cobra.Command)); err != nil {
			t.Fatal(err)
		}
		dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return dumpable
	}
	if load("{}") != 1 {
		t.Error("without commands it is shielded, too")
	}
	if load("jobs: {command: [{exec: a, run: [/bin/true]}]}") != 0 {
		t.Error("with commands it can be looked into")
	}
}
