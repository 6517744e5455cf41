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
	maria, oracle := filepath.Join(dir, "maria"), filepath.Join(dir, "oracle")
	fakeProgram(t, maria+"/usr/sbin/mysqld", "10.11.19-MariaDB-0+deb12u1")
	fakeProgram(t, maria+"/usr/sbin/mariadbd", "10.11.19-MariaDB-0+deb12u1")
	fakeProgram(t, oracle+"/bin/mysqld", "9.7.4-2")
	t.Setenv("PRESCIENT_SERVER_DIR", oracle+string(filepath.ListSeparator)+maria)

	for _, tt := range []struct {
		name    string
		options Options
		want    Program
	}{
		{"the first of PRESCIENT_SERVER_DIR", Options{}, Program{oracle + "/bin/mysqld", MySQL, "9.7.4-2"}},
		{"the first of a flavour", Options{Flavour: MariaDB}, Program{maria + "/usr/sbin/mariadbd", MariaDB, "10.11.19-MariaDB-0+deb12u1"}},
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
	t.Run("a mysqld that is MariaDB's is not MySQL's", func(t *testing.T) {
		if got, err := Find(t.Context(), Options{Dir: maria, Flavour: MySQL}); !errors.Is(err, ErrNotFound) {
			t.Errorf("%+v, %v; want ErrNotFound", got, err)
		}
	})
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
