// Package rulebook makes, changes, switches and deletes rules, each change a version with its entry in the audit, and moves or ends what older versions
// have made pending.
package rulebook
