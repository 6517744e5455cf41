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
		for _, database := range []string{"", "shop", "shop@replica"} {
			if got := serverBy(version, database); got != want {
				t.Errorf("%q of %q is %q; want %q", version, database, got, want)
			}
		}
	}
	for _, target := range []string{"shop:-80", "shop:80-@primary", "shop/-80", "shop[-80]", "shop:-"} {
		if got := serverBy("8.4.6-Vitess", target); got != VitessShard {
			t.Errorf("Vitess at %q is %q", target, got)
		}
		if got := serverBy("9.7.0", target); got != MySQL {
			t.Errorf("MySQL at %q is %q", target, got)
		}
	}
}
