// Package account says what the accounts of a server lack for their roles, and what they have beyond them.
package account
