package units

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/program"
)

func systemdCommand(prog *program.Program) *cobra.Command {
	var f unitFlags
	cmd := &cobra.Command{
		Use:   "systemd",
		Short: "Print systemd services and timers",
		Long: `Prints a service and a timer for each shard and for the sweeper, and where there are routes for events a service of forward that
stays up, and where there are receivers of findings notify; or with --work a service for each shard that stays up, sweeps and forwards by itself, and is restarted where it
hangs. Prune has a service and a timer in both cases, and with --serve serve has a service. With --dir they are written as files.

A service that still runs when its timer comes again is not started twice: that slot is left to the sweeper.
The DSN comes from the configuration file, or from the variable PRESCIENT_DSN in /etc/default/<name>, which has to be
there where the DSN was given to this command by its environment. Variables of serve stand in /etc/default/<name>-serve.`,
		Example: fmt.Sprintf(`  %[1]s units systemd --shards 2 --config /etc/prescient/prescient.yaml --dir /etc/systemd/system`, prog.Name),
		Args:    arguments.None,
		RunE:    func(cmd *cobra.Command, _ []string) error { return writeUnits(cmd, prog, f, systemdUnits) },
	}
	f.addFlags(cmd, "prescient", "user that the services run as")
	cmd.Flags().StringVar(&f.dir, "dir", "", "write the files to this folder")
	cmd.Flags().BoolVar(&f.work, "work", false, "services that stay up, in place of timers")
	if prog.Serve != nil {
		cmd.Flags().BoolVar(&f.serve, "serve", false, "also a service of serve, which lets others in over HTTP")
	}
	return cmd
}

// systemdUnits writes a service and a timer for each shard and for the sweeper, or the services that stay up.
func systemdUnits(p unitPlan) (files []unitFile, err error) {
	for _, s := range p.shardList {
		name := p.name
		if len(p.shardList) > 1 {
			name = fmt.Sprintf("%s-%d", p.name, s.number)
		}
		if p.work {
			files = append(files, unitFile{name + ".service", p.workService(s)})
			continue
		}
		files = append(files, unitFile{name + ".service", p.oneshot("run the slot that is now"+ofShard(p, s), p.command("run", s.args...))},
			unitFile{name + ".timer", slotTimer(p, s)})
	}
	if !p.work {
		files = append(files, unitFile{p.name + "-sweep.service", p.oneshot("run what earlier slots left behind", p.command("sweep")) +
			"StandardOutput=null\n"},
			unitFile{p.name + "-sweep.timer", p.timerOf(fmt.Sprintf("sweep every %s", p.sweep), p.sweep)})
		if p.forwards {
			files = append(files, unitFile{p.name + "-forward.service", p.forwardService()})
		}
		if p.tells {
			files = append(files, unitFile{p.name + "-notify.service", p.oneshot("tell receivers of findings", p.command("notify"))},
				unitFile{p.name + "-notify.timer", p.timerOf("tell receivers each minute", time.Minute)})
		}
	}
	if p.serve {
		files = append(files, unitFile{p.name + "-serve.service", p.serveService()})
	}
	if p.keep != "" {
		files = append(files, unitFile{p.name + "-prune.service", p.aboutPrune() + p.oneshot("drop old history", p.prune())},
			unitFile{p.name + "-prune.timer", p.pruneTimer()})
	}
	return files, nil
}

func ofShard(p unitPlan, s shard) string {
	if len(p.shardList) == 1 {
		return ""
	}
	return fmt.Sprintf(" (shard %d of %d)", s.number, len(p.shardList))
}

// head is the part that all services have.
func (p unitPlan) head(about string) string {
	return fmt.Sprintf(`[Unit]
Description=%s: %s
Wants=network-online.target
After=network-online.target
`, p.name, about)
}

// service is the rest of what all services have.
func (p unitPlan) service(command []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ExecStart=%s\n", systemdWords(command))
	optional := "-"
	if needs := p.environment(); len(needs) > 0 {
		fmt.Fprintf(&b, "# It has to say %s=…, and to be readable by root only.\n", strings.Join(needs, "=…, "))
		optional = ""
	}
	fmt.Fprintf(&b, "EnvironmentFile=%s/etc/default/%s\n", optional, cmp.Or(p.variablesOf, p.name))
	if p.user != "" {
		fmt.Fprintf(&b, "User=%s\n", p.user)
	}
	fmt.Fprintf(&b, "TimeoutStopSec=%d\n", seconds(p.stopGrace+30*time.Second))
	b.WriteString("NoNewPrivileges=yes\nProtectSystem=strict\n")
	if !slices.ContainsFunc(command, isTemporary) { // it would see none of these files
		b.WriteString("PrivateTmp=yes\n")
	}
	return b.String()
}

// isTemporary says whether a path lies where PrivateTmp= puts a folder of its own.
func isTemporary(path string) bool {
	return strings.HasPrefix(path, "/tmp/") || strings.HasPrefix(path, "/var/tmp/")
}

func (p unitPlan) oneshot(about string, command []string) string {
	return p.head(about) + "\n[Service]\nType=oneshot\n" + p.service(command)
}

// workService stays up: it says itself when it is ready, and that it is alive.
func (p unitPlan) workService(s shard) string {
	return p.head("stay up and run each slot"+ofShard(p, s)) + "\n[Service]\nType=notify\nWatchdogSec=60\nRestart=on-failure\nRestartSec=5\n" +
		p.service(p.command("work", s.args...)) + "\n[Install]\nWantedBy=multi-user.target\n"
}

// forwardService stays up: a pass each minute would have events wait for it.
func (p unitPlan) forwardService() string {
	return p.head("stay up and publish events") + "\n[Service]\nType=notify\nRestart=on-failure\nRestartSec=5\n" + p.service(p.command("forward")) +
		"\n[Install]\nWantedBy=multi-user.target\n"
}

// serveService stays up.
func (p unitPlan) serveService() string {
	p.variables, p.variablesOf = append(slices.Clone(p.variables), p.ofServe...), p.name+"-serve" // what works sees nothing of its accounts
	return p.head("stay up and let others in over HTTP") + "\n[Service]\nType=notify\nRestart=on-failure\nRestartSec=5\n" + p.service(p.command("serve")) +
		"\n[Install]\nWantedBy=multi-user.target\n"
}

// pruneTimer has a prune that the machine slept through made up for.
func (p unitPlan) pruneTimer() string {
	return fmt.Sprintf("[Unit]\nDescription=%s: prune each day\n\n[Timer]\nOnCalendar=%s\nPersistent=yes\n\n[Install]\nWantedBy=timers.target\n",
		p.name, schedule{pruneAt}.patterns()[0].calendar())
}

func slotTimer(p unitPlan, s shard) string {
	times, fixed := scheduleOf(s.assignment)
	var b strings.Builder
	fmt.Fprintf(&b, "[Unit]\nDescription=%s: the slots%s, %s\n\n[Timer]\n", p.name, ofShard(p, s), s.assignment)
	if !fixed {
		b.WriteString("# Every slot: those of this shard differ from day to day, and of the others a run ends at once.\n")
	}
	for _, pattern := range times.patterns() {
		fmt.Fprintf(&b, "OnCalendar=%s\n", pattern.calendar())
	}
	// A timer is up to a minute late by default. A slot that was missed is the sweeper's.
	b.WriteString("AccuracySec=100ms\nPersistent=no\n\n[Install]\nWantedBy=timers.target\n")
	return b.String()
}

// timerOf is one that comes so long after its service ended.
func (p unitPlan) timerOf(about string, every time.Duration) string {
	return fmt.Sprintf("[Unit]\nDescription=%s: %s\n\n[Timer]\nOnActiveSec=1s\nOnUnitInactiveSec=%d\nAccuracySec=1s\n\n[Install]\nWantedBy=timers.target\n",
		p.name, about, seconds(every))
}

// seconds is a duration in whole seconds, rounded up.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// systemdWords writes a command line for ExecStart=.
func systemdWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		word = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(word)
		if word == "" || strings.ContainsAny(word, " \t'\";") {
			word = `"` + word + `"`
		}
		quoted[i] = word
	}
	return strings.Join(quoted, " ")
}
