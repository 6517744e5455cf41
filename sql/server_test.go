package sql

import "testing"

func TestAServerIsKnownByItsVersion(t *testing.T) {
	for version, want := range map[string]Server{
		"10.11.14-MariaDB-0+deb12u2": MariaDB,
		"11.8.3-MariaDB-ubu2404-log": MariaDB,
		"9.7.0":                      MySQL,
		"8.0.39-30":                  MySQL,
		"8.0.35-google":              MySQL,
		"8.0.11-TiDB-v8.4.0-alpha-358-ge4e814fdc0": TiDB,
		"8.0.30-Vitess":        Vitess,
		"8.0.21-vitess-19.0.0": Vitess,
		"8.0.23-PlanetScale":   Vitess,
		"":                     MySQL,
	} {
		if got := serverBy(version); got != want {
			t.Errorf("%q is %q; want %q", version, got, want)
		}
	}
}
