// Package guest measures what an app feels while a slot runs, and how far a replica is behind.
package guest
