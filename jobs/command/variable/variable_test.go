package variable

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// unusual are names that shells know, or may not know as names.
const unusual = `IFS PWD PPID OLDPWD OPTIND OPTARG OPTERR _ PS1 PS2 PS3 PS4 LINENO SHLVL SHELLOPTS BASHOPTS BASH BASH_VERSION BASHPID UID EUID
	GROUPS RANDOM SECONDS DIRSTACK HOSTNAME HOSTTYPE MACHTYPE OSTYPE POSIXLY_CORRECT ENV BASH_ENV CDPATH MAIL MAILPATH MAILCHECK TERM HISTSIZE
	FUNCNAME HISTCMD PIPESTATUS BASH_ARGV BASH_ARGC BASH_COMMAND BASH_LINENO BASH_SOURCE BASH_VERSINFO BASH_SUBSHELL BASH_ALIASES BASH_CMDS
	EPOCHREALTIME EPOCHSECONDS SRANDOM COMP_WORDBREAKS BASH_XTRACEFD HISTFILE TMOUT FIGNORE GLOBIGNORE EXECIGNORE INPUTRC COLUMNS LINES REPLY
	path status argv KSH_VERSION ERRNO PGRP histchars auto_resume IGNOREEOF MAPFILE COPROC TIMEFORMAT PROMPT_COMMAND LANG LC_ALL TZ
	BASH_EXECUTION_STRING BASH_ARGV0 BASH_REMATCH COMP_LINE BASH_MONOSECONDS BASH_TRAPSIG GLOBSORT CHILD_MAX BASH_LOADABLES_PATH
	spring.profiles.active A-B 1A BASH_FUNC_x%% A+B ä lower Mixed_1 __ _a`

// What is allowed reaches the program as it was given, whichever shell /bin/sh is.
func TestWhatIsAllowedPassesEachShell(t *testing.T) {
	env, err := exec.LookPath("env")
	if err != nil {
		t.Fatal(err)
	}
	var given []string
	for name := range strings.FieldsSeq(unusual) {
		if Check(name) == nil {
			given = append(given, name+"=0 x")
		}
	}
	tried := 0
	for _, shell := range []string{"sh", "dash", "bash", "ksh", "mksh", "yash", "busybox"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		tried++
		var said strings.Builder
		cmd := exec.Cmd{Path: path, Args: []string{"sh", "-c", `exec "$@"`, "sh", env}, Env: given, Stderr: &said}
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v, %s", shell, err, said.String())
		}
		got := strings.Split(string(out), "\n")
		for _, one := range given {
			if !slices.Contains(got, one) {
				t.Errorf("%s does not pass %s on", shell, one)
			}
		}
	}
	if tried == 0 || len(given) < 20 {
		t.Errorf("%d variables in %d shells", len(given), tried)
	}
}

func TestNamesThatAreRefused(t *testing.T) {
	for _, name := range strings.Fields("spring.profiles.active A-B 1A IFS PWD PPID OLDPWD OPTIND _ SHELLOPTS PRESCIENT_CHECK_TAG PRESCIENT_CHECK_CALL A=B") {
		if Check(name) == nil {
			t.Errorf("%s is allowed", name)
		}
	}
	for _, name := range []string{"", "A B", "A\x00", "A\n"} {
		if Check(name) == nil {
			t.Errorf("%q is allowed", name)
		}
	}
	for _, name := range []string{"A", "_a", "http_proxy", "HOSTNAME", "TERM", "PATH", "TZ", "PRESCIENT_DSN"} {
		if err := Check(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
