package config

import _ "embed"

// Example is a file with every key and its default, and comments. Loaded as it is, it changes nothing.
//
//go:embed prescient.example.yaml
var Example string
