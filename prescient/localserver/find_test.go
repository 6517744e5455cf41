package localserver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMissingServerSaysHowToGetOne(t *testing.T) {
	empty := t.TempDir()
	for _, tt := range []struct {
		name    string
		options Options
		want    []string
	}{
		{"any flavour", Options{Dir: empty}, []string{empty, "scripts/mariadb", "apt-get install mariadb-server-core"}},
		{"MariaDB", Options{Dir: empty, Flavour: MariaDB}, []string{"mariadb wanted", "scripts/mariadb"}},
		{"MariaDB 11.8", Options{Dir: empty, Flavour: MariaDB, Version: "11.8"}, []string{"mariadb 11.8 wanted", "scripts/mariadb118"}},
		{"MySQL", Options{Dir: empty, Flavour: MySQL}, []string{"mysql wanted", "scripts/mysql97"}},
		{"a program that is not there", Options{Program: empty + "/mysqld"}, []string{empty + "/mysqld", "no such file"}},
		{"a program that is none", Options{Program: "/bin/false"}, []string{"/bin/false does not run"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Start(t.Context(), tt.options)
			if !errors.Is(err, ErrNotFound) {
				t.Fatalf("%v, want ErrNotFound", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is more than a line", err)
			}
		})
	}
}

// fakeProgram writes a program that answers --version and nothing else.
func fakeProgram(t *testing.T, path, version string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho '" + path + "  Ver " + version + " for Linux on x86_64'\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	maria, oracle, newer := filepath.Join(dir, "maria"), filepath.Join(dir, "oracle"), filepath.Join(dir, "newer")
	fakeProgram(t, maria+"/usr/sbin/mysqld", "10.11.19-MariaDB-0+deb12u1")
	fakeProgram(t, maria+"/usr/sbin/mariadbd", "10.11.19-MariaDB-0+deb12u1")
	fakeProgram(t, oracle+"/bin/mysqld", "9.7.4-2")
	fakeProgram(t, newer+"/bin/mariadbd", "11.8.6-MariaDB-0+deb13u1")
	t.Setenv("PRESCIENT_SERVER_DIR", strings.Join([]string{oracle, maria, newer}, string(filepath.ListSeparator)))

	for _, tt := range []struct {
		name    string
		options Options
		want    Program
	}{
		{"the first of PRESCIENT_SERVER_DIR", Options{}, Program{oracle + "/bin/mysqld", MySQL, "9.7.4-2"}},
		{"the first of a flavour", Options{Flavour: MariaDB}, Program{maria + "/usr/sbin/mariadbd", MariaDB, "10.11.19-MariaDB-0+deb12u1"}},
		{"the first of a version", Options{Flavour: MariaDB, Version: "11.8"}, Program{newer + "/bin/mariadbd", MariaDB, "11.8.6-MariaDB-0+deb13u1"}},
		{"a version of any flavour", Options{Version: "9"}, Program{oracle + "/bin/mysqld", MySQL, "9.7.4-2"}},
		{"a whole version", Options{Version: "10.11.19"}, Program{maria + "/usr/sbin/mariadbd", MariaDB, "10.11.19-MariaDB-0+deb12u1"}},
		{"a folder", Options{Dir: maria}, Program{maria + "/usr/sbin/mariadbd", MariaDB, "10.11.19-MariaDB-0+deb12u1"}},
		{"a program", Options{Program: maria + "/usr/sbin/mysqld"}, Program{maria + "/usr/sbin/mysqld", MariaDB, "10.11.19-MariaDB-0+deb12u1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Find(t.Context(), tt.options)
			if err != nil || got != tt.want {
				t.Errorf("%+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
	for name, options := range map[string]Options{
		"a mysqld that is MariaDB's is not MySQL's": {Dir: maria, Flavour: MySQL},
		"10.1 is not 10.11":                         {Dir: maria, Version: "10.1"},
		"a program of another version":              {Program: newer + "/bin/mariadbd", Version: "10.11"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Find(t.Context(), options); !errors.Is(err, ErrNotFound) {
				t.Errorf("%+v, %v; want ErrNotFound", got, err)
			}
		})
	}
}

func TestNamed(t *testing.T) {
	for name, want := range map[string]Options{
		"mariadb":      {Flavour: MariaDB},
		"mysql":        {Flavour: MySQL},
		"mariadb-11.8": {Flavour: MariaDB, Version: "11.8"},
	} {
		if got, err := Named(name); err != nil || got.Flavour != want.Flavour || got.Version != want.Version {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
	}
	for _, name := range []string{"", "postgres", "-11.8", "mariadb-", "mariadb118", "mariadb-11.x"} {
		if got, err := Named(name); err == nil {
			t.Errorf("%q: %+v; want an error", name, got)
		}
	}
}

func TestCacheDir(t *testing.T) {
	t.Setenv("HOME", "/home/a")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("PRESCIENT_CACHE", "")
	for _, tt := range []struct{ variable, value, want string }{
		{"HOME", "/home/b", "/home/b/.cache/prescient"},
		{"XDG_CACHE_HOME", "/var/cache/b", "/var/cache/b/prescient"},
		{"PRESCIENT_CACHE", "/srv/b", "/srv/b"},
	} {
		t.Setenv(tt.variable, tt.value)
		if got := CacheDir(); got != tt.want {
			t.Errorf("with %s=%s: %s, want %s", tt.variable, tt.value, got, tt.want)
		}
	}
}
