// Package value is how each kind of value is written in a configuration: durations, numbers, names, addresses, DSNs. A
// [Parser] reads the text of one into its place; its error says what was given and what is allowed, and shows no
// password.
package value
