//go:build !linux

package spool

import (
	"errors"
	"fmt"
	"os"
)

var errLinux = fmt.Errorf("%w: a spool needs Linux", errors.ErrUnsupported)

func ready(string) error { return errLinux }

func ownAlone(string, os.FileMode) error { return errLinux }

func lock(string) (unlock func() error, err error) { return nil, errLinux }

func rename(from, to string) error { return os.Rename(from, to) }
