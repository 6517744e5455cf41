// Package sql holds the text of the project's SQL: the migrations that make the tables, and every statement that the
// library sends, one a file, each under a header that says what it is for, which index serves it and what it locks.
//
// All of it runs as it stands on MariaDB 10.6 and later and on MySQL 8.0.16 and later. In the files {prefix} stands for
// the configured table prefix; other words in braces are lists or conditions that the library fills in.
package sql
