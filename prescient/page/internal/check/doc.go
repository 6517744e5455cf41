// Package check has the views and deeds of checks: the life of an entity, what is pending, what ended; a cancel and a reschedule.
package check
