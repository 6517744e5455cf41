package folder

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// unlockedTime is how long a folder may be there before it is locked.
const unlockedTime = 10 * time.Minute

// lockFolder locks a new folder and returns what unlocks it; errSwept where somebody else was faster.
func lockFolder(dir string) (unlock func(), err error) {
	unlock, err = lock(dir, os.O_CREATE)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errSwept
	}
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(lockFile(dir)); err != nil { // it was removed between being made and being locked
		unlock()
		return nil, errSwept
	}
	return unlock, nil
}

func lockFile(dir string) string { return filepath.Join(dir, "lock") }

func lock(dir string, flags int) (unlock func(), err error) {
	file, err := os.OpenFile(lockFile(dir), os.O_RDWR|syscall.O_NOFOLLOW|flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil, err
	}
	return func() { file.Close() }, nil
}

// Sweep removes the servers' folders of this user that no process has locked.
func Sweep(parent string) {
	folders, _ := filepath.Glob(filepath.Join(parent, prefix+"*"))
	for _, dir := range folders {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			continue
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Geteuid() {
			continue
		}
		unlock, err := lock(dir, 0)
		switch {
		case err == nil:
			os.RemoveAll(dir)
			unlock()
		case os.IsNotExist(err) && time.Since(info.ModTime()) > unlockedTime:
			os.RemoveAll(dir)
		}
	}
}
