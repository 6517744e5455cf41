// Package demo has the command that shows prescient at work: a stage, a play, a teller, and at the end the books, which have to balance.
package demo
