// Package people has the view of who signs in to the page, and the deeds of admins to them.
package people
