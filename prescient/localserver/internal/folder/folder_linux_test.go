package folder

import (
	"os"
	"sync"
	"testing"
)

// What a dead process left is looked for whenever a server starts; a folder that is just being made is not that.
func TestServersThatStartAtTheSameTimeKeepTheirFolders(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var starting sync.WaitGroup
	for range 8 {
		starting.Go(func() {
			for range 300 {
				folder, err := Make("")
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := os.Stat(folder.Files()); err != nil {
					t.Error(err)
				}
				if err := folder.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	starting.Wait()
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}
