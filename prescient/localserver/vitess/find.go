package vitess

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// ErrNotFound is returned when a program of Vitess is not there.
var ErrNotFound = errors.New("no Vitess found in PRESCIENT_SERVER_DIR or on PATH: scripts/vitess builds it, and prints its folder")

// names are the programs that a cluster is made of.
var names = []string{"etcd", "vtctldclient", "vttablet", "vtgate"}

// find returns where the programs are. It does not look into the cache: who has built a Vitess there has not asked each run of the tests to use it.
func find() (map[string]string, error) {
	found := make(map[string]string)
	for _, name := range names {
		path, err := exec.LookPath(name)
		for _, folder := range filepath.SplitList(os.Getenv("PRESCIENT_SERVER_DIR")) {
			for _, sub := range []string{"bin", ""} {
				if there, errThere := exec.LookPath(filepath.Join(folder, sub, name)); errThere == nil {
					path, err = there, nil
				}
			}
		}
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err != nil {
			return nil, fmt.Errorf("vitess: %w (%w)", ErrNotFound, err)
		}
		found[name] = path
	}
	return found, nil
}

// Check is nil where a cluster can be started; the error wraps ErrNotFound where there is no Vitess.
func Check() error {
	_, err := find()
	return err
}
