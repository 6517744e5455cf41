package taking

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/input"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
)

const (
	// mostNamed is how many bad entries are named.
	mostNamed = 100
	// largestFile is how much is read of a file, all of which is in memory.
	largestFile = 64 << 20
)

// Read reads the entries of some kinds of a file, and counts all. It names what is wrong with the file.
func Read(cmd *cobra.Command, prog *program.Program, name string, none string, kinds ...file.Kind) (entries []file.Entry, counts file.Counts, err error) {
	from, err := input.From(cmd.Context(), name, cmd.InOrStdin())
	if err != nil {
		return nil, nil, exit.NotRead(cmd.Name(), err)
	}
	defer from.Close()
	name, counts = input.Called(name), make(file.Counts)
	limited := &io.LimitedReader{R: from, N: largestFile + 1}
	var bad []*file.Bad
	for entry, wrong := range file.Read(bufio.NewReader(limited), file.YAML, kinds[0]) {
		var one *file.Bad
		switch {
		case errors.As(wrong, &one):
			bad = append(bad, one)
			counts[one.Kind]++
			continue
		case wrong != nil:
			err = wrong
			continue
		}
		if counts[entry.Kind()]++; slices.Contains(kinds, entry.Kind()) {
			entries = append(entries, entry)
		}
	}
	if limited.N == 0 {
		return nil, nil, exit.Usage(fmt.Errorf("%s has more than %d MB", name, largestFile>>20))
	}
	p := output.To(cmd.ErrOrStderr())
	for _, one := range bad[:min(len(bad), mostNamed)] {
		p.Text(words.Complaint(prog.Name, fmt.Errorf("%s, line %d: %w", name, one.Line, one)))
	}
	switch {
	case p.Err() != nil:
		return nil, nil, p.Err()
	case err != nil:
		return nil, nil, exit.Usage(fmt.Errorf("%s: %w", name, err))
	case len(bad) > 0:
		return nil, nil, exit.Usage(fmt.Errorf("%d of the %s of %s are wrong; nothing was done", len(bad), counts.Named(kinds...), name))
	case len(entries) == 0:
		return nil, nil, exit.Usage(fmt.Errorf("there is %s in %s", none, name))
	}
	return entries, counts, nil
}
