package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// longestPassword is as many bytes of one as are read; whoever takes it says how long it may be.
const longestPassword = 4096

// ErrDiffer is returned where a password was typed in two ways.
var ErrDiffer = errors.New("the two passwords differ")

// Password reads a password: from a terminal twice, which does not show it, with what to say told there; else the first line of stdin, and nothing else may
// stand there.
func Password(ctx context.Context, stdin io.Reader, tell io.Writer, what string) (string, error) {
	file, is := stdin.(*os.File)
	if !is || !term.IsTerminal(int(file.Fd())) {
		text, err := ReadAll(ctx, Stdin, stdin, longestPassword)
		if err != nil {
			return "", err
		}
		line := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
		if strings.ContainsAny(line, "\r\n") {
			return "", errors.New("stdin has more than one line: the password alone is wanted")
		}
		return line, nil
	}
	var typed [2]string
	for i, ask := range []string{what, what + ", again"} {
		text, err := hidden(ctx, file, tell, ask)
		if err != nil {
			return "", err
		}
		typed[i] = text
	}
	if typed[0] != typed[1] {
		return "", ErrDiffer
	}
	return typed[0], nil
}

// hidden reads a line of a terminal that does not show it, and leaves the terminal as it was.
func hidden(ctx context.Context, terminal *os.File, tell io.Writer, ask string) (string, error) {
	was, err := term.GetState(int(terminal.Fd()))
	if err != nil {
		return "", err
	}
	if _, err := fmt.Fprintf(tell, "%s: ", ask); err != nil {
		return "", err
	}
	text, err := await(ctx, func() ([]byte, error) { return term.ReadPassword(int(terminal.Fd())) }, func([]byte) {})
	if ctx.Err() != nil {
		err = errors.Join(err, term.Restore(int(terminal.Fd()), was))
	}
	if _, told := fmt.Fprintln(tell); told != nil {
		return "", errors.Join(err, told)
	}
	return string(text), err
}
