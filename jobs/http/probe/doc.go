// Package probe calls an HTTP check as a worker does, and as nobody should, and says what it does wrong.
package probe
