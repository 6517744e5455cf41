package cmd

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestASignalThatOneSenderSendsTwiceIsOne(t *testing.T) {
	for _, c := range []struct {
		name  string
		after []time.Duration
		send  []os.Signal
		want  time.Duration // when the process ends at once
	}{
		{"by timeout(1), and then by a person", []time.Duration{time.Millisecond, time.Second}, []os.Signal{syscall.SIGTERM, syscall.SIGTERM}, time.Second + time.Millisecond},
		{"by a person who is quick", []time.Duration{200 * time.Millisecond}, []os.Signal{syscall.SIGTERM}, 200 * time.Millisecond},
		{"another signal", []time.Duration{time.Millisecond}, []os.Signal{os.Interrupt}, time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				signals := make(chan os.Signal, 2)
				go func() {
					for i, after := range c.after {
						time.Sleep(after)
						signals <- c.send[i]
					}
				}()
				began := time.Now()
				if second(syscall.SIGTERM, signals); time.Since(began) != c.want {
					t.Errorf("it ends after %v; want %v", time.Since(began), c.want)
				}
			})
		})
	}
}
