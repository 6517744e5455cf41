package page

import (
	"os"
	"runtime"
	"strings"
)

// machine is what the results were measured on.
type machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory string `json:"memory"`
	OS     string `json:"os"`
	Go     string `json:"go"`
	Load   string `json:"load"` // at the end of the section
}

func thisMachine() machine {
	m := machine{Cores: runtime.NumCPU(), Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH}
	m.CPU = Field("/proc/cpuinfo", "model name", ":")
	m.Memory = Field("/proc/meminfo", "MemTotal", ":")
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load = strings.TrimSpace(string(text))
	}
	if name := Field("/etc/os-release", "PRETTY_NAME", "="); name != "" {
		m.OS = strings.Trim(name, `"`)
	}
	return m
}

// Field is the first value of a name in a file of names and values.
func Field(file, name, separator string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, found := strings.Cut(line, separator); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
