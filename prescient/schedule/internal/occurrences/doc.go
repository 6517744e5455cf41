// Package occurrences says when the occurrences of a schedule are due, and goes on from where other rules of its zone have ended. It reads no clock.
package occurrences
