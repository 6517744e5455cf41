package output_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"prescient/cmd/internal/output"
)

// Whoever has a file open when it is written anew reads to its old end. Its mode stays, a link to it stays, and nothing else is left in the folder.
func TestAFileIsWrittenWhole(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "prescient.service"), filepath.Join(dir, "link")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(output.File(path, "the old one"))
	must(os.Chmod(path, 0o622)) // more than the umask would leave
	must(os.Symlink(path, link))
	old, err := os.Open(path)
	must(err)
	defer old.Close()
	must(output.File(link, "new"))

	was, err := io.ReadAll(old)
	must(err)
	is, err := os.ReadFile(path)
	must(err)
	info, err := os.Stat(path)
	must(err)
	if string(was) != "the old one" || string(is) != "new" || info.Mode().Perm() != 0o622 {
		t.Errorf("it was %q, is %q, with the mode %o; want the old one, new, and 622", was, is, info.Mode().Perm())
	}
	must(os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	if err := output.File(filepath.Join(dir, "folder"), "new"); err == nil {
		t.Error("a folder was written")
	}
	must(output.File(os.DevNull, "nothing"))
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("the folder has %v, %v; want the file, the link and the folder", entries, err)
	}
}
