package input

import (
	"bufio"
	"errors"
	"io"
)

// Lines reads a file line by line, whatever is on a line.
type Lines struct {
	From *bufio.Reader
	// Longest is the longest line that is returned, in bytes.
	Longest int
}

// Next reads a line, with its end; of one that is too long it keeps no more than what shows that. The error is io.EOF behind the
// last line, else that of reading.
func (l *Lines) Next() (line []byte, tooLong bool, err error) {
	for {
		part, err := l.From.ReadSlice('\n')
		if len(line)+len(part) > l.Longest {
			line, tooLong = nil, true
		} else if !tooLong {
			line = append(line, part...)
		}
		switch {
		case err == nil, errors.Is(err, io.EOF) && (len(line) > 0 || tooLong):
			return line, tooLong, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}
