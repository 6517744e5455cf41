package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// distant are the file systems whose locks, or whose owners, are another machine's to say, by their magic numbers: those of statfs(2).
var distant = map[int64]string{0x6969: "NFS", 0x517B: "SMB", 0xFF534D42: "CIFS", 0xFE534D42: "SMB", 0x5346414F: "AFS", 0x01021997: "9P", 0x00C36400: "Ceph",
	0x65735546: "FUSE", 0x0BD00BD0: "Lustre", 0x47504653: "GPFS"}

// ready makes what is not there of a spool, and refuses one that is not its user's alone, or on another machine: whoever writes there runs code.
func ready(dir string) error {
	for _, folder := range []string{dir, filepath.Join(dir, incoming), filepath.Join(dir, running), filepath.Join(dir, done)} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		if err := ownAlone(folder, 0o077); err != nil {
			return err
		}
	}
	var at syscall.Statfs_t
	if err := syscall.Statfs(dir, &at); err != nil {
		return fmt.Errorf("asking for the file system of %s: %w", dir, err)
	}
	return suits(dir, int64(at.Type), int64(at.Flags))
}

// suits refuses a file system, by its type and flags, on which what is put there would be executed twice, or never.
func suits(dir string, kind, flags int64) error {
	if name := distant[kind&0xFFFFFFFF]; name != "" {
		return fmt.Errorf("%w: %s is on %s: only a local file system locks what two processes run", ErrUnsafe, dir, name)
	}
	if flags&unix.MS_NOEXEC != 0 {
		return fmt.Errorf("%w: %s is on a file system that executes nothing (noexec)", ErrUnsafe, dir)
	}
	return nil
}

// ownAlone refuses a folder or file with rights that others are not to have, or that is somebody else's, or a link.
func ownAlone(path string, others os.FileMode) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		return fmt.Errorf("%w: %s is a symbolic link", ErrUnsafe, path)
	case !ok || int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("%w: %s belongs to another user", ErrUnsafe, path)
	case info.Mode().Perm()&others != 0:
		return fmt.Errorf("%w: %s is not its user's alone: its mode is %04o, want 0700", ErrUnsafe, path, info.Mode().Perm())
	}
	return nil
}

// lock has this process alone run what is due. The kernel gives it back however the process ends. It is the folder that is locked: a file of its own could be
// removed.
func lock(dir string) (unlock func() error, err error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrBusy
		}
		return nil, errors.Join(fmt.Errorf("locking %s: %w", dir, err), f.Close())
	}
	return f.Close, nil
}

// rename is os.Rename where nothing has the new name; the error is fs.ErrExist where something has.
func rename(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // a file system that cannot tell: who runs what is due has it for itself
		if exists(to) {
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
		}
		return os.Rename(from, to)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
