package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// BuildClockWorker builds a worker, in a folder, whose clock is wrong: Go asks no library for the time, so the build puts
// another time.Now in the place of the standard library's. With CHAOS_CLOCK=JUMP,DRIFT in its environment its clock jumps
// by JUMP seconds, forth and back, every 1.5 s, and gains DRIFT milliseconds in each second. Elapsed time, which is
// monotonic, stays as it is.
func BuildClockWorker(ctx context.Context, dir, pkg string) (program string, err error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("looking for Go's source: %w", err)
	}
	original := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	text, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	const asks = "\tsec, nsec, mono := runtimeNow()\n\tif mono == 0 {"
	changed := strings.Replace(string(text), asks, strings.Replace(asks, "\n", "\n\tsec += chaosShift(mono)\n", 1), 1)
	changed = strings.Replace(changed, "\t\"math/bits\"\n", "\t\"math/bits\"\n\t\"syscall\"\n", 1)
	if !strings.Contains(changed, "chaosShift(mono)") || !strings.Contains(changed, "\t\"syscall\"\n") {
		return "", errors.New("this Go's time.Now is not the one that is known here")
	}
	overlaid := filepath.Join(dir, "time.go")
	if err := os.WriteFile(overlaid, []byte(changed+chaosShift), 0o600); err != nil {
		return "", err
	}
	shift := filepath.Join(dir, "overlay.json")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{original: overlaid}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(shift, overlay, 0o600); err != nil {
		return "", err
	}
	program = filepath.Join(dir, "clock-worker")
	build := exec.CommandContext(ctx, "go", "build", "-overlay", shift, "-o", program, pkg)
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building a worker with a clock that can be set: %w: %s", err, output)
	}
	return program, nil
}

// chaosShift is added to package time. It may import nothing that time does not.
const chaosShift = `
var chaosJump, chaosDrift, chaosKnown int64

// chaosShift is by how many seconds the clock is wrong.
func chaosShift(mono int64) int64 {
	if chaosKnown == 0 {
		chaosKnown = 1
		text, _ := syscall.Getenv("CHAOS_CLOCK")
		into := &chaosJump
		for _, c := range text {
			if c == ',' {
				into = &chaosDrift
			} else if c >= '0' && c <= '9' {
				*into = *into*10 + int64(c-'0')
			}
		}
	}
	elapsed := mono - startNano
	jump := chaosJump
	if elapsed/1500000000%2 == 1 {
		jump = -jump
	}
	return jump + elapsed/1000000*chaosDrift/1000000
}
`
