// Command licences says under which licences the modules are that the packages
// of this module are built from, tests included, and fails where one is under
// another than those of allowed, or has no text that is known. It asks no
// network: the texts lie in the module cache.
//
//	go run ./scripts/licences
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// allowed are the licences under which a dependency may be: none asks more than
// that its text goes along.
var allowed = []string{"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "MPL-2.0", "ISC"}

// known are the licences that a text can be told to be, and what it then has in
// it, with single blanks and in lower case. A BSD-3-Clause text also has what
// makes one of two clauses; and MPL-2.0 names the GNU licences as others.
var known = []struct {
	name  string
	words []string
}{
	{"Apache-2.0", []string{"apache license version 2.0, january 2004", "grant of patent license"}},
	{"Apache-2.0", []string{`licensed under the apache license, version 2.0 (the "license")`}},
	{"MPL-2.0", []string{"mozilla public license", "version 2.0", "larger work"}},
	{"MIT", []string{"permission is hereby granted, free of charge, to any person obtaining a copy", "the above copyright notice and this permission notice"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "neither the name", "endorse or promote products"}},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}},
	{"ISC", []string{"permission to use, copy, modify, and", "distribute this software for any purpose with or without fee is hereby granted"}},
	{"GPL", []string{"gnu general public license version"}},
	{"LGPL", []string{"gnu lesser general public license version"}},
	{"AGPL", []string{"gnu affero general public license version"}},
	{"BUSL", []string{"business source license"}},
	{"SSPL", []string{"server side public license"}},
	{"Commons-Clause", []string{"commons clause"}},
}

// identify returns the names of the licences whose words a text has.
func identify(text string) (names []string) {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, k := range known {
		missing := slices.ContainsFunc(k.words, func(words string) bool { return !strings.Contains(text, words) })
		shorter := k.name == "BSD-2-Clause" && slices.Contains(names, "BSD-3-Clause")
		if !missing && !shorter && !slices.Contains(names, k.name) {
			names = append(names, k.name)
		}
	}
	return names
}

type module struct {
	Path, Version, Dir string
	Main               bool
}

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
	modules, err := dependencies()
	if err != nil {
		return err
	}
	var wrong []error
	for _, m := range modules {
		found, err := licencesOf(m.Dir)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s %s: %w", m.Path, m.Version, err))
			continue
		}
		if _, err := fmt.Fprintf(out, "%-14s %s %s\n", strings.Join(found, ", "), m.Path, m.Version); err != nil {
			return err
		}
		for _, name := range found {
			if !slices.Contains(allowed, name) {
				wrong = append(wrong, fmt.Errorf("%s %s is under %s; allowed are %s", m.Path, m.Version, name, strings.Join(allowed, ", ")))
			}
		}
	}
	if len(modules) == 0 {
		return errors.New("there are no modules to look at")
	}
	return errors.Join(wrong...)
}

// dependencies lists the modules that packages and tests are built from.
func dependencies() ([]module, error) {
	list := exec.Command("go", "list", "-deps", "-test", "-json=Module", "./...")
	list.Stderr = os.Stderr
	text, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var modules []module
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	for decoder.More() {
		var of struct{ Module *module }
		if err := decoder.Decode(&of); err != nil {
			return nil, err
		}
		if m := of.Module; m != nil && !m.Main && !slices.Contains(modules, *m) {
			modules = append(modules, *m)
		}
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return modules, nil
}

// licencesOf reads the texts at the top of a module.
func licencesOf(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name := strings.ToUpper(entry.Name())
		if entry.IsDir() || !strings.HasPrefix(name, "LICENSE") && !strings.HasPrefix(name, "LICENCE") && !strings.HasPrefix(name, "COPYING") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		found := identify(string(text))
		if len(found) == 0 {
			return nil, fmt.Errorf("%s is no text of a known licence", entry.Name())
		}
		for _, name := range found {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return nil, errors.New("it has no licence")
	}
	return names, nil
}
