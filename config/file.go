package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"prescient/config/value"
)

const (
	maxFile   = 1 << 20
	maxSecret = 64 << 10
)

// readFile reads the file that was named, or the first that exists.
func readFile(options Options, p *problems) document {
	if path := options.File; path != "" {
		text, err := readLimited(path, maxFile)
		return parseFile(path, "named explicitly", text, err, p)
	}
	if path, _ := options.Env(envConfig); path != "" {
		text, err := readLimited(path, maxFile)
		return parseFile(path, "environment variable "+envConfig, text, err, p)
	}
	for _, path := range options.SearchPaths {
		text, err := readLimited(path, maxFile)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		return parseFile(path, "found in a usual place", text, err, p)
	}
	return document{}
}

func parseFile(path, source string, text []byte, err error, p *problems) document {
	if err != nil {
		p.add(keyConfig, source, err)
		return document{}
	}
	return parseDocument(path, text, p)
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
		return nil, fmt.Errorf("file %s has more than %d bytes, which is the most that is allowed", value.Plain(path), limit)
	}
	return text, nil
}

func fileError(path string, err error) error {
	var wrapped *fs.PathError
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return fmt.Errorf("file %s cannot be read: %w", value.Plain(path), err)
}

// ReadSecret reads a file that holds one text, and drops the line breaks at its end.
func ReadSecret(path string) (string, error) {
	content, err := readLimited(path, maxSecret)
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(string(content), "\r\n")
	if text == "" {
		return "", fmt.Errorf("file %s is empty", value.Plain(path))
	}
	return text, nil
}
