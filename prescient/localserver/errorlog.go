package localserver

import (
	"io"
	"os"
	"strings"
)

// tailLines is how much of the error log an error carries.
const tailLines = 12

// logTail returns the end of the server's error log, ready to be appended to
// an error.
func (s *Server) logTail() string {
	text := strings.TrimSpace(s.logSince(max(0, s.logSize()-16<<10)))
	text = strings.ReplaceAll(text, s.password, "[password]")
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	return "; the end of its log:\n\t" + strings.Join(lines, "\n\t")
}

// portTakenSince reports whether the server complained of its port.
func (s *Server) portTakenSince(offset int64) bool {
	text := s.logSince(offset)
	return strings.Contains(text, "Address already in use") || strings.Contains(text, "Do you already have another")
}

func (s *Server) logSize() int64 {
	info, err := os.Stat(s.logFile())
	if err != nil {
		return 0
	}
	return info.Size()
}

func (s *Server) logSince(offset int64) string {
	file, err := os.Open(s.logFile())
	if err != nil {
		return ""
	}
	defer file.Close()
	text, _ := io.ReadAll(io.NewSectionReader(file, offset, 1<<20))
	return string(text)
}
