package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestALicenceIsToldByItsWords(t *testing.T) {
	for text, want := range map[string][]string{
		"Permission is hereby granted, free of charge, to any person\n obtaining a copy of … The above copyright notice\nand this permission notice shall": {"MIT"},
		"Redistribution and use in source and binary forms, with or":                                                                                       {"BSD-2-Clause"},
		"Redistribution and use in source and binary forms … Neither the name of Google … to endorse or promote products":                                  {"BSD-3-Clause"},
		"GNU GENERAL PUBLIC LICENSE\n   Version 3, 29 June 2007":                                                                                           {"GPL"},
		"GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3":                                                                                                     {"AGPL"},
		"All rights reserved.": nil,
	} {
		if got := identify(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q; want %q", text, got, want)
		}
	}
}

func TestAModuleWithoutAKnownLicenceIsRefused(t *testing.T) {
	dir := t.TempDir()
	if _, err := licencesOf(dir); err == nil {
		t.Error("nothing was taken for a licence")
	}
	if err := os.WriteFile(filepath.Join(dir, "LICENSE.md"), []byte("Ask me first."), 0o600); err != nil {
		t.Fatal(err)
	}
	if names, err := licencesOf(dir); err == nil {
		t.Errorf("%q", names)
	}
}
