package units

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/program"
)

func cronCommand(prog *program.Program) *cobra.Command {
	var f unitFlags
	cmd := &cobra.Command{
		Use:   "cron",
		Short: "Print the lines of a crontab",
		Long: `Prints a line for each shard, for the sweeper, for forward where there are routes for events, for notify where there are receivers, and for prune, for crontab -e, or
with --user for a file in /etc/cron.d.
Cron knows whole minutes; a resolution or a sweep.every that it cannot express is refused. It mails what is printed, so
that the lines print warnings and errors only, unless --log-level is given. It has no environment of its own: the DSN has
to stand in a file.`,
		Example: fmt.Sprintf(`  %[1]s units cron --shards 2 --user prescient > /etc/cron.d/prescient`, prog.Name),
		Args:    arguments.None,
		RunE:    func(cmd *cobra.Command, _ []string) error { return writeUnits(cmd, prog, f, crontab) },
	}
	f.addFlags(cmd, "", "user that the lines run as, for a file in /etc/cron.d")
	return cmd
}

// crontab writes the lines of a crontab.
func crontab(p unitPlan) ([]unitFile, error) {
	if missing := p.environment(); len(missing) > 0 {
		return nil, exit.Usage(fmt.Errorf("cron does not have %s: let a file say it, by dsn, dsn_file or secret_file in the configuration, or --dsn-file",
			strings.Join(missing, ", ")))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: run every slot, and sweep every %s. Times are UTC: a cron that does not know CRON_TZ, such as\n", p.name, p.sweep)
	b.WriteString("# Debian's, takes the machine's own zone, which has to be UTC then.\nCRON_TZ=UTC\n")
	if p.loud {
		b.WriteString("# What is printed is mailed: warnings and errors.\nPRESCIENT_LOG_LEVEL=warn\n")
	}
	for _, s := range p.shardList {
		times, fixed := scheduleOf(s.assignment)
		for _, second := range times {
			if second%60 != 0 {
				return nil, exit.Usage(fmt.Errorf("slots.resolution %s: cron cannot express it, it knows whole minutes only; "+
					"use %s units systemd, or a worker that stays up", s.assignment.Grid(), p.program))
			}
		}
		if len(p.shardList) > 1 {
			fmt.Fprintf(&b, "# shard %d of %d: %s\n", s.number, len(p.shardList), s.assignment)
		}
		if !fixed {
			b.WriteString("# Every slot: those of this shard differ from day to day, and of the others a run ends at once.\n")
		}
		for _, pattern := range times.patterns() {
			p.line(&b, pattern, p.command("run", s.args...), "")
		}
	}
	if p.sweep%time.Minute != 0 || (24*time.Hour)%p.sweep != 0 {
		return nil, exit.Usage(fmt.Errorf("sweep.every %s: cron cannot express it; give whole minutes that divide a day, such as 1m", p.sweep))
	}
	for _, pattern := range every(int(p.sweep / time.Second)).patterns() {
		p.line(&b, pattern, p.command("sweep"), " >/dev/null") // it says how many slots it swept
	}
	if p.forwards {
		b.WriteString("# A pass over the events that wait. Where one cannot be published it says which, and cron mails it.\n")
		args := []string{"--until-empty"}
		if p.logs && p.loud {
			args = append(args, "--log-level", "info")
			b.WriteString("# It mails the events, too, that go to the log.\n")
		}
		p.line(&b, every(60).patterns()[0], p.command("forward", args...), "")
	}
	if p.tells {
		b.WriteString("# Tell receivers of findings. Where one cannot be told it says which, and cron mails it.\n")
		p.line(&b, every(60).patterns()[0], p.command("notify"), "")
	}
	if p.keep != "" {
		b.WriteString(p.aboutPrune())
		p.line(&b, schedule{pruneAt}.patterns()[0], p.prune(), " >/dev/null") // it says what it dropped
	}
	return []unitFile{{Name: p.name, Text: b.String()}}, nil
}

func (p unitPlan) line(b *strings.Builder, at pattern, command []string, rest string) {
	user := ""
	if p.user != "" {
		user = p.user + " "
	}
	fmt.Fprintf(b, "%s %s%s%s\n", at.cron(), user, shellWords(command), rest)
}

// shellWords writes a command line for the shell of a crontab, where % is a newline.
func shellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if word == "" || strings.ContainsFunc(word, notPlainInShell) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		quoted[i] = strings.ReplaceAll(word, "%", `\%`)
	}
	return strings.Join(quoted, " ")
}

func notPlainInShell(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_./:=,@+-%", r):
		return false
	}
	return true
}
