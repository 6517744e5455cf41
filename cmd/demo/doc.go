// Package demo has the command that shows prescient at work.
package demo
