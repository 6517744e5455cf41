// Package changes has the view of the audit: who changed what, when and why, and what the difference is.
package changes
