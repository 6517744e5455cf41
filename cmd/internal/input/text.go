package input

import (
	"bufio"
	"bytes"
	"errors"
)

// What is told of a file that is not written as one of lines should be: what it is, and what to do.
var (
	errUTF16      = errors.New("it is UTF-16; want UTF-8: save it as that, or convert it with iconv -f UTF-16 -t UTF-8")
	errUTF32      = errors.New("it is UTF-32; want UTF-8: save it as that, or convert it with iconv -f UTF-32 -t UTF-8")
	errCompressed = errors.New("it is compressed by gzip: give what zcat makes of it, with - for stdin")
	errZip        = errors.New("it is a zip, as spreadsheets are: save it as CSV in UTF-8")
	// ErrCR is told of a line as well.
	ErrCR = errors.New("lines end in a CR alone; want LF or CRLF: convert it with tr '\\r' '\\n'")
)

// Text looks at how a file of lines begins, and says why it cannot be read as one: it is in another encoding, or its lines end in
// a CR alone. It reads nothing.
func Text(from *bufio.Reader) error {
	begins, _ := from.Peek(from.Size()) // what is less than that comes with an error
	has := func(prefixes ...string) bool {
		for _, prefix := range prefixes {
			if bytes.HasPrefix(begins, []byte(prefix)) {
				return true
			}
		}
		return false
	}
	switch {
	case has("\xff\xfe\x00\x00", "\x00\x00\xfe\xff"):
		return errUTF32
	case has("\xff\xfe", "\xfe\xff"), len(begins) > 3 && (begins[0] == 0) != (begins[1] == 0) && (begins[2] == 0) != (begins[3] == 0):
		return errUTF16
	case has("\x1f\x8b"):
		return errCompressed
	case has("PK\x03\x04"):
		return errZip
	case LoneCR(begins[:max(bytes.IndexByte(begins, '\n')+1, 0)]), bytes.IndexByte(begins, '\n') < 0 && LoneCR(begins):
		return ErrCR
	}
	return nil
}

// LoneCR says whether a line has a CR that does not end it.
func LoneCR(line []byte) bool {
	return bytes.IndexByte(bytes.TrimRight(line, "\r\n"), '\r') >= 0
}
