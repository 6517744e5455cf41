// Package guest measures what an app feels while a slot runs beside it, and how far a replica is behind.
package guest
