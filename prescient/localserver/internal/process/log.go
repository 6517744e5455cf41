package process

import (
	"io"
	"os"
	"slices"
	"strings"
)

// tailLines is how much of the log an error carries.
const tailLines = 12

// LogTail returns the end of the log, ready to be appended to an error. What earlier runs have written counts too.
func (p *Process) LogTail() string {
	text := strings.TrimSpace(readFrom(p.log, max(0, size(p.log)-16<<10)))
	if p.hidden != "" {
		text = strings.ReplaceAll(text, p.hidden, "[password]")
	}
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	return "; the end of its log:\n\t" + strings.Join(lines, "\n\t")
}

// Logged reports whether the program has written any of the texts since it was started.
func (p *Process) Logged(texts ...string) bool {
	log := readFrom(p.log, p.logFrom)
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(log, text) })
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func readFrom(path string, offset int64) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	text, _ := io.ReadAll(io.NewSectionReader(file, offset, 1<<20))
	return string(text)
}
