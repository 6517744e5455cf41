package dev

import (
	"fmt"
	"os"

	"prescient/cmd/internal/exit"
	"prescient/config/value"
)

// file is that of the configuration. It is looked at, rather than watched: that finds also one that is put in its place, comes later, or is on the disk of
// another machine.
type file struct {
	path       string
	read, seen stamp
}

// stamp tells a file from one that was there before; the zero stamp is that of none.
type stamp struct{ os.FileInfo }

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info}
}

// is says whether two are of one file that was not changed. Another one that was put in its place may have its size and time.
func (s stamp) is(other stamp) bool {
	if s.FileInfo == nil || other.FileInfo == nil {
		return s == other
	}
	return os.SameFile(s.FileInfo, other.FileInfo) && s.ModTime().Equal(other.ModTime()) && s.Size() == other.Size()
}

// newFile is a file that is about to be read.
func newFile(path string) file {
	now := stampOf(path)
	return file{path, now, now}
}

// changed says whether the file is another than was read, and is to be read: it has been so for two looks, since who writes it may be half-way.
func (f *file) changed() bool {
	before := f.seen
	f.seen = stampOf(f.path)
	if !f.seen.is(before) || f.seen.is(f.read) {
		return false
	}
	f.read = f.seen
	return true
}

// check refuses a pipe, a terminal and the like, from which nothing can be read again: to try that might take for ever. What is not there, or is a folder, whoever
// reads it complains of.
func (f file) check() error {
	info, err := os.Stat(f.path)
	if err != nil || info.Mode().IsRegular() || info.IsDir() || f.path == os.DevNull {
		return nil
	}
	return exit.Usage(fmt.Errorf("config: %s is no regular file: dev reads it again whenever it changes", value.Quote(f.path)))
}
