// Package config is what the program is configured with. [Example] has every key and its default.
//
// Durations are those of Go, and days: 90s, 1d12h ([value.ParseDuration]). A key without a value, an empty variable, and an empty text for a key whose
// default is empty, count as not given.
//
// The file is one YAML document of 1 MiB at most, without anchors, aliases and tags. Case does not count in keys.
//
// A load reports all that is wrong, a line each. Unknown keys and PRESCIENT_ variables, and keys that stand twice, are errors.
//
// Secrets print masked ([value.Secret]), also in errors. Their files are relative to the working directory; line breaks at their end do not count.
package config
