// Package config is what the program is configured with: a file, environment variables and flags, each stronger than
// the one before.
//
//	worker.lease: 30s              in the file, or under worker: as lease: 30s
//	PRESCIENT_WORKER_LEASE=30s     in the environment
//	--worker-lease=30s             as a flag
//
// A key is named the same everywhere: PRESCIENT_ and the key in upper case with _ for the dots in the environment,
// - for dots and underscores in a flag. The list jobs.http can only be given in the file. [Example] is a file with
// every key and its default.
//
// # Values
//
// A value is the text that was written, wherever it stands: true is no number, 007 is seven, and nothing is rounded or
// cast. Durations are those of Go with days before them ([value.ParseDuration]): 90s, 15m, 1d12h, 30d. A key that has no
// value in the file, an empty environment variable, and an empty text for a key whose default is empty, all count as
// not given.
//
// # The file
//
// It is one YAML document of at most 1 MiB without anchors, aliases and tags. Case does not count in its keys, nor in
// the names of headers, which come out in lower case; a key that is given twice is an error, whatever its case. A value
// that begins with * has to be in quotes, such as "*/15".
//
// # Errors
//
// A load reports everything that is wrong at once, one line each: the key, what was given, what is allowed, and where it
// came from. Keys and environment variables that begin with PRESCIENT_ and mean nothing are errors too, since they are
// mostly misspelt.
//
// # Secrets
//
// The DSN, the URLs and headers of jobs.http and their signing keys are of the type [value.Secret], which prints masked.
// None of them stands in an error, in a log or in what [Config] prints, as far as it can be told that a misplaced value
// is a DSN. Paths of files with secrets are relative to the working directory; line breaks at the end of such a file do
// not count.
package config
