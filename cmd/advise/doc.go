// Package advise has the command that advises when to check.
package advise
