// Package rule has the commands for rules: which check comes after which occasion.
package rule
