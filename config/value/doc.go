// Package value is how each kind of value is written: durations, numbers, names, addresses, DSNs. A [Parser] reads a text into its place; its
// error says what was given and what is allowed, and shows no password.
package value
