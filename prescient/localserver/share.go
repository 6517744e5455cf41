package localserver

import (
	"os"
	"path/filepath"
)

// layout is where a server program finds the files that belong to it. A field
// is empty where the program is left to its own devices.
type layout struct {
	base    string // the folder that the program was installed or unpacked to
	share   string // error messages; for MariaDB the SQL of the system tables too
	plugins string
}

// layoutOf looks around a program for its files: programs know the folder that
// they were built for, not the one that they were unpacked to.
func layoutOf(program Program) layout {
	var bases []string
	for _, path := range []string{program.Path, resolved(program.Path)} {
		bases = append(bases, filepath.Dir(filepath.Dir(path)))
	}
	if program.Flavour == MariaDB {
		bases = append(bases, "/usr", "/usr/local")
	}
	for _, base := range bases {
		for _, sub := range []string{"share/mysql", "share/mariadb", "share"} {
			share := filepath.Join(base, sub)
			if !exists(filepath.Join(share, "english", "errmsg.sys")) {
				continue
			}
			found := layout{base: base, share: share}
			for _, sub := range []string{"lib/mysql/plugin", "lib/plugin"} {
				if plugins := filepath.Join(base, sub); exists(plugins) {
					found.plugins = plugins
					break
				}
			}
			return found
		}
	}
	return layout{}
}

// args are the arguments that tell a server where its files are.
func (l layout) args() []string {
	if l.base == "" {
		return nil
	}
	args := []string{"--basedir=" + l.base, "--lc-messages-dir=" + l.share}
	if charsets := filepath.Join(l.share, "charsets"); exists(charsets) {
		args = append(args, "--character-sets-dir="+charsets)
	}
	if l.plugins != "" {
		args = append(args, "--plugin-dir="+l.plugins)
	}
	return args
}

func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
