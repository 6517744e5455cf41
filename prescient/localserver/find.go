package localserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A Program is a server program that was found and that runs.
type Program struct {
	Path    string
	Flavour Flavour
	Version string // as the program prints it: 10.11.19-MariaDB-0+deb12u1, 9.7.4-2
}

// Find returns the server program that Start would run with these options. The
// error is ErrNotFound when there is none.
func Find(ctx context.Context, options Options) (Program, error) {
	candidates := programsIn(folders(options.Dir), options.Flavour)
	if options.Program != "" {
		path, err := exec.LookPath(options.Program)
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err != nil {
			return Program{}, notFound(options, err)
		}
		candidates = []string{path}
	}
	var unfit error
	for _, path := range candidates {
		program, err := inspect(ctx, path)
		if err != nil {
			unfit = errors.Join(unfit, err)
			continue
		}
		if options.fit(program) {
			return program, nil
		}
		if options.Program != "" {
			unfit = fmt.Errorf("%s is %s %s, not %s", path, program.Flavour, program.Version, options.wanted())
		}
	}
	if err := ctx.Err(); err != nil {
		return Program{}, fmt.Errorf("localserver: looking for a server program: %w", err)
	}
	return Program{}, notFound(options, unfit)
}

// Named returns the options for a server that is called by its flavour, or by
// flavour and version: mariadb, mariadb-11.8.
func Named(name string) (Options, error) {
	flavour, version, versioned := strings.Cut(name, "-")
	options := Options{Flavour: Flavour(flavour), Version: version}
	known := options.Flavour == MariaDB || options.Flavour == MySQL
	if !known || versioned && !versionNumber.MatchString(version) {
		return Options{}, fmt.Errorf("localserver: no server is called %q: want mariadb or mysql, with a version or without, as in mariadb-11.8", name)
	}
	return options, nil
}

var versionNumber = regexp.MustCompile(`^[0-9]+(\.[0-9]+)*$`)

// fit says whether a program is what is wanted.
func (o Options) fit(program Program) bool {
	if o.Flavour != Any && o.Flavour != program.Flavour {
		return false
	}
	rest, begins := strings.CutPrefix(program.Version, o.Version)
	return begins && (o.Version == "" || rest == "" || strings.ContainsAny(rest[:1], ".-"))
}

// wanted says what is wanted: mariadb, mariadb 11.8, or nothing.
func (o Options) wanted() string { return strings.TrimSpace(string(o.Flavour) + " " + o.Version) }

// notFound says in one line what is missing and how to get it.
func notFound(options Options, unfit error) error {
	where := "on PATH or in " + CacheDir()
	switch {
	case options.Program != "":
		where = "at " + options.Program
	case options.Dir != "":
		where = "in " + options.Dir
	}
	get := "run scripts/mariadb, or apt-get install mariadb-server-core"
	switch {
	case options.Flavour == MySQL:
		get = "run scripts/mysql97, or apt-get install mysql-server-core"
	case options.Version == "11.8":
		get = "run scripts/mariadb118"
	}
	kind := ""
	if wanted := options.wanted(); wanted != "" {
		kind = fmt.Sprintf(" (%s wanted)", wanted)
	}
	if unfit != nil {
		get += " (" + strings.ReplaceAll(unfit.Error(), "\n", "; ") + ")"
	}
	return fmt.Errorf("localserver: %w %s%s: %s", ErrNotFound, where, kind, get)
}

// CacheDir is the folder in which scripts/mariadb, scripts/mysql97 and
// scripts/mariadb118 put the servers that they fetch, each in a folder of its
// name: $PRESCIENT_CACHE, or prescient in $XDG_CACHE_HOME or ~/.cache.
func CacheDir() string {
	if dir := os.Getenv("PRESCIENT_CACHE"); dir != "" {
		return dir
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "prescient")
	}
	home := os.Getenv("HOME")
	if home == "" {
		if current, err := user.Current(); err == nil {
			home = current.HomeDir
		}
	}
	return filepath.Join(home, ".cache", "prescient")
}

// folders lists the folders to look in, the first choice first.
func folders(dir string) []string {
	if dir != "" {
		return inside(dir)
	}
	var list []string
	for _, dir := range filepath.SplitList(os.Getenv("PRESCIENT_SERVER_DIR")) {
		list = append(list, inside(dir)...)
	}
	list = append(list, filepath.SplitList(os.Getenv("PATH"))...)
	list = append(list, "/usr/local/sbin", "/usr/sbin", "/usr/libexec") // not on every user's PATH
	for _, name := range []string{"mariadb", "mysql97", "mariadb118"} {
		list = append(list, inside(filepath.Join(CacheDir(), name))...)
	}
	return list
}

// inside lists where in a folder a server program may be.
func inside(dir string) []string {
	var list []string
	for _, sub := range []string{"", "bin", "sbin", "libexec", "usr/bin", "usr/sbin", "usr/libexec"} {
		list = append(list, filepath.Join(dir, sub))
	}
	return list
}

// programsIn lists the executable files in the folders that have a server's
// name. The name does not tell the flavour: MariaDB also comes as mysqld.
func programsIn(folders []string, flavour Flavour) []string {
	names := []string{"mariadbd", "mysqld"}
	if flavour == MySQL {
		names = []string{"mysqld"}
	}
	var list []string
	seen := map[string]bool{}
	for _, folder := range folders {
		for _, name := range names {
			path, err := filepath.Abs(filepath.Join(folder, name))
			if err != nil || folder == "" || seen[path] {
				continue
			}
			seen[path] = true
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				list = append(list, path)
			}
		}
	}
	return list
}

var versionPattern = regexp.MustCompile(`Ver (\S+)`)

// inspect asks a program for its version, which also shows that it has the
// libraries that it needs.
func inspect(ctx context.Context, path string) (Program, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	output, err := exec.CommandContext(ctx, path, "--no-defaults", "--version").CombinedOutput()
	if err != nil {
		return Program{}, fmt.Errorf("%s does not run: %w: %s", path, err, firstLine(output))
	}
	match := versionPattern.FindSubmatch(output)
	if match == nil {
		return Program{}, fmt.Errorf("%s does not tell its version: %s", path, firstLine(output))
	}
	program := Program{Path: path, Flavour: MySQL, Version: string(match[1])}
	if strings.Contains(string(output), "MariaDB") {
		program.Flavour = MariaDB
	}
	return program, nil
}

func firstLine(output []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(output)), "\n")
	return line
}
