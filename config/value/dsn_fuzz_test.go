package value

import (
	"strings"
	"testing"
)

const password = "sw0rdf1sh"

// A DSN with a password in it is taken or refused, and the password is seen in neither.
func FuzzDSN(f *testing.F) {
	for _, text := range [][2]string{{"user:", "@tcp(127.0.0.1:3306)/shop"}, {"user:", "@unix(/s)/shop?tls=true"}, {"", ""}, {"u:a@", "@/d"},
		{"u:", "/@tcp(h)d"}, {"mysql://u:", "@h/d"}, {"u:p@tcp(h)/d?loc=", ""}, {"u:p@tcp(h)/d?tls=", "&a=b"}, {"u@tcp(", ")/d"}, {"u:p@", "(h)/d"}} {
		f.Add(text[0], text[1])
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.Contains(before+after, password) {
			return
		}
		text := before + password + after
		dsn, err := ParseDSN(text)
		if err != nil {
			if strings.Contains(err.Error(), password) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if dsn.Reveal() != text {
			t.Fatalf("%q became %q", text, dsn.Reveal())
		}
		parsed, err := parseWithDriver(text)
		if err != nil {
			t.Fatalf("%q is taken, but not by the driver: %v", text, err)
		}
		// It is shown only where it cannot be the password: as the host or database.
		if shown := strings.Contains(dsn.String(), password); shown && strings.Contains(parsed.Passwd, password) &&
			!strings.Contains(parsed.Addr+parsed.DBName+parsed.User, password) {
			t.Fatalf("%q is shown as %q", text, dsn)
		}
	})
}
