package group

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// None is for no bound.
const None = -1

// How often a call's processes are counted: each second, and at once where the machine has this many threads more than when they were
// counted last, which is a cheap look. The group stands still then while it is counted, lest it double faster than anybody counts.
const (
	countEvery = time.Second
	lookEvery  = 50 * time.Millisecond
	sprung     = 32
)

// Watch tells when the processes of a call are too many, or have too much memory together; None for no bound. It ends with the context.
func (p *Processes) Watch(ctx context.Context, most int, memory int64) <-chan error {
	tooMuch := make(chan error, 1)
	watcher := &Processes{leader: p.leader, since: p.since, mark: p.mark} // with a memory of its own
	go func() {
		look := time.NewTicker(lookEvery)
		defer look.Stop()
		counted, threads := time.Now(), ThreadsHere()
		for {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
			}
			now := ThreadsHere()
			jumped := now >= threads+sprung
			if !jumped && time.Since(counted) < countEvery {
				continue
			}
			if jumped {
				p.signal(syscall.SIGSTOP)
			}
			found, _ := watcher.find()
			if err := judge(found, most, memory); err != nil {
				tooMuch <- err
				return
			}
			if jumped {
				p.signal(syscall.SIGCONT)
			}
			counted, threads = time.Now(), now
		}
	}()
	return tooMuch
}

// judge says what processes have too much of, if they do.
func judge(found []process, most int, memory int64) error {
	if most != None && len(found) > most {
		return fmt.Errorf("it had %d processes, where %d are allowed, and was killed", len(found), most)
	}
	if memory == None {
		return nil
	}
	if total := memoryOf(found, memory); total > memory {
		return fmt.Errorf("its %d processes had %d MiB of memory, where %d are allowed, and were killed", len(found), total>>20, memory>>20)
	}
	return nil
}

// ThreadsHere is how many threads the machine has; 0 where it does not tell.
func ThreadsHere() (n int) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	if fields := bytes.Fields(text); len(fields) > 3 {
		_, total, _ := bytes.Cut(fields[3], []byte("/"))
		n, _ = strconv.Atoi(string(total))
	}
	return n
}
