// Package front is what all views and deeds of the page have in common: who asks, what a request says, one look at the database for all who look at the
// same, the confirmation of a deed, and what an error is. A [View] is something to look at, a [Deed] something to do; rooms beside this one have them.
package front
