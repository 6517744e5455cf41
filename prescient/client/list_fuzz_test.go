package client

import (
	"errors"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/connect"
)

// No DSN makes Open panic, or its error tell more than the driver's fixed words.
func FuzzOpen(f *testing.F) {
	for _, text := range []string{"u:p@tcp(h)/d", "/", "u:p@tcp(h:1)/d?strict=true", "u:p@x(h)/d?timeout=1s", "u@/d?charset=gbk&collation=gbk_chinese_ci", "?", "@(/"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, dsn string) {
		db, err := connect.Open(dsn, time.Minute)
		if err != nil {
			if !errors.Is(err, prescient.ErrInvalid) {
				t.Fatalf("%q: %v", dsn, err)
			}
			return
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
