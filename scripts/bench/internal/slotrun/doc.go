// Package slotrun is prescient's own turns: slot runs through the public API, in this process or in several.
package slotrun
