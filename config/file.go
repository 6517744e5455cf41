package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	maxFile   = 1 << 20
	maxSecret = 64 << 10
)

// usualPaths are where a file is looked for.
func (o Options) usualPaths() []string {
	paths := []string{"prescient.yaml"}
	base, _ := o.Env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		home, _ := o.Env("HOME")
		base = filepath.Join(home, ".config")
	}
	if filepath.IsAbs(base) {
		paths = append(paths, filepath.Join(base, "prescient", "prescient.yaml"))
	}
	return append(paths, "/etc/prescient/prescient.yaml")
}

// readFile reads the file that was named, or the first that exists.
func (l *loader) readFile() {
	if path := l.options.File; path != "" {
		l.readNamed(path, "named explicitly")
		return
	}
	if path, _ := l.options.Env(envConfig); path != "" {
		l.readNamed(path, "environment variable "+envConfig)
		return
	}
	for _, path := range l.options.SearchPaths {
		text, err := readLimited(path, maxFile)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		l.parseFile(path, "found in a usual place", text, err)
		return
	}
}

func (l *loader) readNamed(path, source string) {
	text, err := readLimited(path, maxFile)
	l.parseFile(path, source, text, err)
}

func (l *loader) parseFile(path, source string, text []byte, err error) {
	if err != nil {
		l.add(keyConfig, source, err)
		return
	}
	l.document = parseDocument(path, text, &l.problems)
}

// readLimited reads a whole file. The error names the path, unless that looks like a DSN.
func readLimited(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, fileError(path, err)
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("file %s has more than %d bytes, which is the most that is allowed", plain(path), limit)
	}
	return text, nil
}

func fileError(path string, err error) error {
	var wrapped *fs.PathError
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return fmt.Errorf("file %s cannot be read: %w", plain(path), err)
}

// readSecret reads a file that holds one text, and drops the line breaks at its end.
func readSecret(path string) (string, error) {
	content, err := readLimited(path, maxSecret)
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(string(content), "\r\n")
	if text == "" {
		return "", fmt.Errorf("file %s is empty", plain(path))
	}
	return text, nil
}
