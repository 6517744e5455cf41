package apiclient

import "strconv"

// Int64 is a number that is a string in JSON, since it may pass 2^53.
type Int64 int64

// MarshalText writes the number.
func (n Int64) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(n), 10), nil }

// UnmarshalText reads the number.
func (n *Int64) UnmarshalText(text []byte) error {
	v, err := strconv.ParseInt(string(text), 10, 64)
	*n = Int64(v)
	return err
}

// Uint64 is a number that is a string in JSON, since it may pass 2^53.
type Uint64 uint64

// MarshalText writes the number.
func (n Uint64) MarshalText() ([]byte, error) { return strconv.AppendUint(nil, uint64(n), 10), nil }

// UnmarshalText reads the number.
func (n *Uint64) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 10, 64)
	*n = Uint64(v)
	return err
}
