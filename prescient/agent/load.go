package agent

import (
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

// share is how much of a concurrency is in use.
type share struct {
	of     int
	at     time.Time
	called time.Duration // until then, all calls together
	last   float64
}

// since returns the share that was in use since it was asked last, from how long all calls took until now.
func (s *share) since(now time.Time, called time.Duration) float64 {
	if took := now.Sub(s.at); took > 0 && s.of > 0 {
		s.last = min(max((called-s.called).Seconds()/(took.Seconds()*float64(s.of)), 0), 1)
	}
	s.at, s.called = now, called
	return s.last
}

// hostName is the name of the host, "unknown" where it cannot be told.
func hostName() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		return "unknown"
	}
	return strings.ToValidUTF8(host[:min(len(host), 255)], "")
}

// hostLoad is the load of the host in the last minute; nil where it cannot be told.
func hostLoad() *float64 {
	said, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return nil
	}
	return firstNumber(string(said))
}

func firstNumber(text string) *float64 {
	first, _, _ := strings.Cut(text, " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil || !(load >= 0 && load < 1e6) {
		return nil
	}
	return &load
}

// memory is how many bytes the process has of the system.
func memory() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64() - sample[1].Value.Uint64()
}
