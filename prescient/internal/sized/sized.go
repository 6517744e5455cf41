// Package sized reads rows that may be long, few at a time: a row may have a payload of megabytes.
package sized

const (
	// First is how many rows are read at first, most how many are at a time.
	First = 10
	most  = 200
	// Bytes is about how long rows may be together.
	Bytes = 4 << 20
)

// Next is how many rows are read next, where so many came to a size and there is place for another.
func Next(rows, size, place int) int {
	return min(max(1, place*rows/max(size, 1)), 2*rows, most)
}

// Rows lists up to limit rows behind a cursor: few at a time, or all at once where they are short. It is full where they come to Bytes before.
func Rows[Row interface{ Cursor() string }](after string, limit int, short bool, bytes func(Row) int, list func(after string, limit int) ([]Row, error)) (rows []Row, full bool, err error) {
	n, size := First, 0
	if short {
		n = limit
	}
	for {
		n = min(n, limit-len(rows))
		some, err := list(after, n)
		rows = append(rows, some...)
		if err != nil || len(some) < n || len(rows) == limit {
			return rows, false, err
		}
		read := 0
		for _, row := range some {
			read += bytes(row)
		}
		if size += read; size >= Bytes {
			return rows, true, nil
		}
		after, n = rows[len(rows)-1].Cursor(), Next(len(some), read, Bytes-size)
	}
}
